import {
  addCatalogueImage,
  changeImage,
  importImage,
  listImages,
  removeImage,
} from '../../../src/catalog/images/images.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page } from '../../../src/kernel/web/page.ts'
import { bytes, count, gb } from '../../components/words.ts'
import { act } from '../../html/act.ts'
import { card, empty } from '../../html/card.ts'
import { check, field, radios } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { pill } from '../../html/state.ts'
import { pager, table } from '../../html/table.ts'

const reads = { images: listImages }
type Images = Answers<typeof reads>['images']
type Image = Images['data'][number]

const fromFile = (at: At) =>
  act(at, importImage, {}, 'Import from file', {
    title: 'Import an image from a file',
    wide: true,
    done: '{name} is imported',
    fields: html`<p class="muted">Copy the file to <code>incoming</code> in the controller’s data directory first, usually <code>/var/lib/berth/incoming</code>. It is moved from there, and its checksum is worked out: a large file takes a while.</p>
      ${field('import', 'file', { label: 'File name', required: true, mono: true, placeholder: 'debian-13.qcow2', hint: 'Only the name: no other directory is read.' })}
      ${field('import', 'name', { label: 'Name', required: true, hint: 'What customers see, for example Debian 13.' })}
      ${radios('import', 'format', {
        label: 'Format',
        value: 'qcow2',
        options: [
          { value: 'qcow2', label: 'qcow2' },
          { value: 'raw', label: 'raw' },
        ],
      })}
      ${field('import', 'minDiskGb', { label: 'Minimum disk', as: 'number', unit: 'GB', value: 10, hint: 'Packages with a smaller disk cannot choose it.' })}
      ${check('import', 'published', { label: 'Publish it', checked: true, hint: 'Orders can choose it at once.' })}`,
  })

export const imagesPage = page({
  path: '/admin/images',
  reads,
  title: 'Images',
  nav: 'images',
  view: ({ images, at }) => html`
    ${head({ title: 'Images', actions: fromFile(at), sub: 'Operating systems that servers are installed from. Each node fetches an image once and checks it before use.' })}
    <section class="sec" aria-label="Images">
      ${images.data.length ? list(images, at) : empty('There is no image yet: add one from the catalogue below, or import a file.')}
      ${pager(at, images)}
    </section>
    ${at.may(addCatalogueImage) && catalogue(images, at)}`,
})

const list = (images: Images, at: At): Html =>
  table<Image>(
    'Images',
    images.data,
    [
      {
        title: 'Image',
        main: true,
        cell: (i) =>
          html`<strong>${i.name}</strong><small>${i.origin === 'catalogue' ? 'From the catalogue' : 'Imported'} · ${i.format}</small>`,
      },
      {
        title: 'State',
        cell: (i) => (i.published ? pill('ok', 'dot', 'Published') : pill('idle', 'hold', 'Not published')),
      },
      { title: 'Minimum disk', num: true, cell: (i) => gb(i.minDiskGb) },
      { title: 'Size', num: true, cell: (i) => (i.sizeBytes ? bytes(i.sizeBytes) : '–') },
      { title: 'Checksum', cell: (i) => html`<code title="${i.checksum}">${i.checksum.slice(0, 19)}…</code>` },
      { title: 'Servers', num: true, cell: (i) => i.servers },
      {
        title: 'Actions',
        actions: true,
        cell: (i) => html`<div class="bar">
        ${act(at, changeImage, { id: i.id }, i.published ? 'Unpublish' : 'Publish', { of: i.name, body: { published: !i.published }, done: i.published ? `${i.name} cannot be chosen any more` : `${i.name} can be chosen` })}
        ${act(at, changeImage, { id: i.id }, 'Edit', { of: i.name, title: `Edit ${i.name}`, submit: 'Save', done: 'Saved', fields: html`${field(`edit-${i.id}`, 'name', { label: 'Name', required: true, value: i.name })}${field(`edit-${i.id}`, 'minDiskGb', { label: 'Minimum disk', as: 'number', unit: 'GB', required: true, value: i.minDiskGb })}` })}
        ${act(at, removeImage, { id: i.id }, 'Remove', { of: i.name, tone: 'bad', title: `Remove ${i.name}?`, done: `${i.name} is removed`, confirm: { keep: 'Keep image', consequences: ['Orders and reinstallations can no longer choose it.', i.servers > 0 && `${count(i.servers, 'server')} made from it ${i.servers === 1 ? 'goes' : 'go'} on.`] } })}</div>`,
      },
    ],
    (i) => i.id,
  )

const catalogue = (images: Images, at: At): Html =>
  card(
    {
      id: 'catalogue',
      title: 'Catalogue',
      words: 'Official cloud images. The checksum is read from the distribution’s own list when one is added.',
    },
    html`<div class="does-list">${images.catalogue.map(
      (c) =>
        html`<div><p><strong>${c.name}</strong></p>${c.added ? pill('ok', 'tick', 'Added') : act(at, addCatalogueImage, {}, 'Add', { of: c.name, body: { catalogueId: c.id }, icon: 'plus', done: '{name} is added and published' })}</div>`,
    )}</div>`,
  )
