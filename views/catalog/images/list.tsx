import { firmwareWords, hardware } from '../../../src/catalog/images/hardware.ts'
import {
  addCatalogueImage,
  changeImage,
  importImage,
  listImages,
  removeImage,
} from '../../../src/catalog/images/images.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, EditEntry, Menu, RemoveEntry } from '../../components/action.tsx'
import { Radios } from '../../components/choices.tsx'
import { Check, Field } from '../../components/field.tsx'
import { ListedFields } from '../../components/forms/listed-fields.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { bytes, count, gb, units } from '../../components/words.ts'
import { LookForBuild } from './show.tsx'

const reads = { images: listImages }
type Images = Answers<typeof reads>['images']
type Image = Images['data'][number]

export const imagesPage = page({
  path: '/admin/images',
  reads,
  title: 'Images',
  nav: 'images',
  view: ({ images, at }) => (
    <>
      <Head
        title="Images"
        actions={<Import />}
        sub={
          <span>
            Operating systems that servers are installed from. Each node downloads an image once and verifies it before
            use.
          </span>
        }
      />
      <List
        of={images}
        noun="image"
        empty={<Empty title="No images yet">Add one from the catalogue below, or import a file.</Empty>}
      >
        <Table label="Images" rows={images.data} columns={columns} idOf={(i) => i.id} />
      </List>
      {at.may(addCatalogueImage) && <Catalogue of={images.catalogue} />}
    </>
  ),
})

const columns: readonly Column<Image>[] = [
  {
    title: 'Image',
    kind: 'name',
    width: 24,
    cell: (i) => (
      <>
        <Link href={`/admin/images/${i.id}`}>
          <b title={i.name}>{i.name}</b>
        </Link>
        <small>
          {i.origin === 'catalogue' ? 'From the catalogue' : 'Imported'} · {i.format}
          {machineWords(i)}
        </small>
      </>
    ),
  },
  {
    title: 'State',
    kind: 'state',
    width: 16,
    cell: (i) =>
      i.published ? (
        <>
          <State tone="ok" shape="dot">
            Published
          </State>
          {i.isDefault && <small class="keep">Default of orders</small>}
          {i.isRescue && <small class="keep">Rescue image</small>}
        </>
      ) : (
        <>
          <State tone="idle" shape="hold">
            Unpublished
          </State>
          {i.isRescue && <small class="keep">Rescue image</small>}
        </>
      ),
  },
  { title: 'Minimum disk', num: true, width: 12, cell: (i) => gb(i.minDiskGb) },
  { title: 'Size', num: true, width: 12, cell: (i) => (i.sizeBytes ? bytes(i.sizeBytes) : '–') },
  {
    title: 'Checksum',
    kind: 'mid',
    width: 20,
    cell: (i) => (
      <>
        <code title={i.checksum}>{`${i.checksum.slice(0, 19)}…`}</code>
        {i.checkFailure ? (
          <small title={i.checkFailure}>New builds are not found</small>
        ) : (
          i.checkedAt && (
            <small>
              Newest build, <Time iso={i.checkedAt} />
            </small>
          )
        )}
      </>
    ),
  },
  { title: 'Servers', kind: 'mid', num: true, width: 8, cell: (i) => i.servers },
  { title: 'Actions', kind: 'more', cell: (i) => <ImageMenu of={i} /> },
]

const Import = () => (
  <Action
    op={importImage}
    label="Import from file"
    title="Import an image from a file"
    wide
    done="{name} is imported"
    fields={
      <>
        <p class="muted">
          Copy the file to <code>incoming</code> in the controller’s data directory first, usually{' '}
          <code>/var/lib/berth/incoming</code>. Berth moves it from there and computes its checksum, which takes a while
          for a large file.
        </p>
        <Field
          scope="import"
          name="file"
          label="File name"
          required
          mono
          placeholder="debian-13.qcow2"
          hint="The name only: no other directory is read."
        />
        <Field scope="import" name="name" label="Name" required hint="What customers see, for example Debian 13." />
        <Radios
          scope="import"
          name="format"
          label="Format"
          value="qcow2"
          options={['qcow2', 'raw'].map((value) => ({ value, label: value }))}
        />
        <MinimumDisk scope="import" value={10} hint="Packages with a smaller disk cannot use it." />
        <ListedFields list={hardware} scope="import" />
        <Check scope="import" name="published" label="Publish it" checked hint="It can be ordered immediately." />
      </>
    }
  />
)

/** The unusual parts of the machine that it needs. */
const machineWords = ({ machine, firmware, tpm, os }: Pick<Image, keyof typeof hardware>) =>
  [
    os === 'windows' && 'Windows',
    firmware !== 'bios' && firmwareWords[firmware],
    tpm && 'TPM',
    machine === 'pc' && machine,
  ]
    .filter(Boolean)
    .map((word) => ` · ${word}`)
    .join('')

type MinimumDiskProps = { scope: string; value: number; required?: boolean; hint?: string }
const MinimumDisk = (props: MinimumDiskProps) => (
  <Field name="minDiskGb" label="Minimum disk" as="number" unit={units.diskGb} {...props} />
)

/** Nothing for readers who may only look. */
const ImageMenu = ({ of: i }: { of: Image }) =>
  useAt().may(changeImage) ? (
    <Menu label={`Actions for ${i.name}`} small>
      <Action
        op={changeImage}
        params={{ id: i.id }}
        label={i.published ? 'Unpublish' : 'Publish'}
        of={i.name}
        inMenu
        body={{ published: !i.published }}
        done={i.published ? `${i.name} can no longer be ordered` : `${i.name} can be ordered`}
      />
      <LookForBuild of={i} inMenu />
      <EditEntry
        op={changeImage}
        of={i}
        label="Edit"
        fields={
          <>
            <Field scope={`edit-${i.id}`} name="name" label="Name" required value={i.name} />
            <MinimumDisk scope={`edit-${i.id}`} required value={i.minDiskGb} />
            <ListedFields list={hardware} scope={`edit-${i.id}`} of={i} />
          </>
        }
      />
      {i.published && !i.isDefault && (
        <Action
          op={changeImage}
          params={{ id: i.id }}
          label="Make default"
          of={i.name}
          inMenu
          body={{ isDefault: true }}
          done={`Orders choose ${i.name} first`}
        />
      )}
      <Action
        op={changeImage}
        params={{ id: i.id }}
        label={i.isRescue ? 'No longer the rescue image' : 'Use for rescue'}
        of={i.name}
        inMenu
        body={{ isRescue: !i.isRescue }}
        done={i.isRescue ? 'There is no rescue image now' : `Rescue systems start from ${i.name}`}
      />
      <RemoveImage of={i} />
    </Menu>
  ) : null

const RemoveImage = ({ of: i }: { of: Image }) => (
  <RemoveEntry
    op={removeImage}
    of={i}
    keep="Keep image"
    consequences={[
      'It can no longer be chosen for orders and reinstallations.',
      i.servers > 0 && `${count(i.servers, 'existing server')} made from it keep${i.servers === 1 ? 's' : ''} running.`,
    ]}
  />
)

const Catalogue = ({ of }: { of: Images['catalogue'] }) => (
  <Section
    id="catalogue"
    title="Catalogue"
    words="Official cloud images. Berth reads their checksums from the distributions’ own lists and takes new builds."
  >
    <ul class="rows">
      {of.map((c) => (
        <li>
          <b class="grow">{c.name}</b>
          {c.added ? (
            <State tone="ok" shape="tick">
              Added
            </State>
          ) : (
            <Action
              op={addCatalogueImage}
              label="Add"
              of={c.name}
              small
              body={{ catalogueId: c.id }}
              icon="plus"
              done="{name} is added and published"
            />
          )}
        </li>
      ))}
    </ul>
  </Section>
)
