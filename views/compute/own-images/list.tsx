// The images that an account brings along.

import { hardware } from '../../../src/catalog/images/hardware.ts'
import {
  addOwnImage,
  listOwnImages,
  removeOwnImage,
  renameOwnImage,
} from '../../../src/compute/own-images/own-images.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { Action, Menu, RemoveEntry, RenameEntry } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { ListedFields } from '../../components/forms/listed-fields.tsx'
import { ListPage } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Count } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { bytes, exactGb } from '../../components/words.ts'

type Image = Answers<{ images: typeof listOwnImages }>['images']['data'][number]

export const ownImagesPage = page({
  path: '/images',
  reads: { images: reading(listOwnImages, ({ actor }) => ({ params: { id: actor.accountId } })) },
  title: 'Own images',
  nav: 'own-images',
  view: ({ images, at }) => (
    <ListPage
      title="Own images"
      words="Add a disk image by its web address, then choose it when you set up or reinstall a server."
      actions={<AddImage ownerId={at.actor.accountId} />}
      of={images}
      columns={columns}
      empty={
        <Empty title="No own images yet">
          An image needs cloud-init: it gives a new server its name, addresses and access.
        </Empty>
      }
    />
  ),
})

const columns: Column<Image>[] = [
  { title: 'Name', kind: 'name', width: 26, cell: (i) => <b title={i.name}>{i.name}</b> },
  {
    title: 'Address',
    kind: 'addr',
    cell: (i) => (
      <span class="mono" title={i.url}>
        {new URL(i.url).host}
      </span>
    ),
  },
  { title: 'Size', kind: 'a', width: 12, cell: (i) => bytes(i.sizeBytes) },
  { title: 'Smallest disk', kind: 'mid', width: 14, cell: (i) => exactGb(i.minDiskGb) },
  { title: 'Servers', kind: 'b', num: true, width: 10, cell: (i) => <Count n={i.servers} of="server" /> },
  { title: 'Added', kind: 'lo', width: 12, cell: (i) => <Time iso={i.createdAt} /> },
  { title: 'Actions', kind: 'more', cell: (i) => <ImageMenu of={i} /> },
]

const AddImage = ({ ownerId }: { ownerId: string }) => (
  <Action
    op={addOwnImage}
    params={{ id: ownerId }}
    label="Add image"
    icon="plus"
    tone="pri"
    title="Add own image"
    submit="Add image"
    done="{name} is added"
    wide
    fields={
      <>
        <Field scope="image" name="name" label="Name" required />
        <Field
          scope="image"
          name="url"
          label="Address"
          required
          mono
          placeholder="https://"
          hint="The https:// address of a public qcow2 file. It is fetched when a server is installed with it."
        />
        <Field
          scope="image"
          name="checksum"
          label="Checksum"
          required
          mono
          placeholder="sha256:"
          hint="sha256: or sha512: followed by the digest that the publisher gives."
        />
        <ListedFields list={{ os: hardware.os, networkConfig: hardware.networkConfig }} scope="image" />
      </>
    }
  />
)

const ImageMenu = ({ of: i }: { of: Image }) => (
  <Menu label={`Actions for ${i.name}`} small>
    <RenameEntry op={renameOwnImage} of={i} />
    <RemoveEntry
      op={removeOwnImage}
      of={i}
      keep="Keep image"
      consequences={['New installations can no longer use it.', 'Servers installed with it keep running.']}
    />
  </Menu>
)
