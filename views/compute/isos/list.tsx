import { addIso, listIsos } from '../../../src/compute/isos/library.ts'
import { removeIso } from '../../../src/compute/isos/remove.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, Menu, RemoveEntry } from '../../components/action.tsx'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Field } from '../../components/field.tsx'
import { ListPage } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import type { Column } from '../../components/table.tsx'
import { bytes } from '../../components/words.ts'

const reads = { isos: listIsos }
type Iso = Answers<typeof reads>['isos']['data'][number]

export const isosPages = inEveryArea({
  path: '/isos',
  reads,
  title: 'ISOs',
  nav: 'isos',
  view: ({ isos }, area) => (
    <ListPage
      title="ISOs"
      words={
        "CD images of installers and tools. Insert one into a server's CD drive in its settings. It is downloaded " +
        'and checked the first time it is used.'
      }
      actions={<AddIso area={area} />}
      of={isos}
      columns={columnsFor(area)}
      empty={<Empty title="No ISOs yet">Add one by its web address and checksum.</Empty>}
    />
  ),
})

const columnsFor = (area: Area): Column<Iso>[] => [
  {
    title: 'ISO',
    kind: 'name',
    width: 36,
    cell: (i) => (
      <>
        <b title={i.name}>{i.name}</b>
        {i.url && <small title={i.url}>{URL.parse(i.url)?.host ?? ''}</small>}
      </>
    ),
  },
  {
    title: 'Owner',
    kind: 'a',
    width: 20,
    cell: (i) => i.owner?.name ?? (area === '/admin' ? 'Everybody' : 'Your provider'),
  },
  { title: 'Size', kind: 'b', num: true, width: 12, cell: (i) => bytes(i.sizeBytes) },
  {
    title: 'Checksum',
    kind: 'mid',
    width: 20,
    cell: (i) => <code title={i.checksum}>{`${i.checksum.slice(0, 19)}…`}</code>,
  },
  { title: 'Actions', kind: 'more', cell: (i) => <IsoMenu of={i} /> },
]

const AddIso = ({ area }: { area: Area }) => (
  <Action
    op={addIso}
    label="Add ISO"
    icon="plus"
    tone="pri"
    title="Add an ISO"
    submit="Add"
    done="{name} is added"
    fields={
      <>
        <p class="muted">
          {area === '/admin' ? 'Every customer can use it.' : 'Only you can use it, in the servers that you manage.'}
        </p>
        <Field scope="iso" name="name" label="Name" required hint="For example Debian 13 netinst." />
        <Field
          scope="iso"
          name="url"
          label="Address"
          required
          mono
          placeholder="https://"
          hint="The https:// address of the file, which anybody can download."
        />
        <Field
          scope="iso"
          name="checksum"
          label="Checksum"
          required
          mono
          placeholder="sha256:…"
          hint="sha256: or sha512: followed by the digest that the publisher gives."
        />
      </>
    }
  />
)

/** Nothing for an ISO that is not the reader's to remove. */
function IsoMenu({ of: i }: { of: Iso }) {
  const { actor } = useAt()
  if (actor.kind !== 'staff' && i.owner?.id !== actor.accountId) return null
  return (
    <Menu label={`Actions for ${i.name}`} small>
      <RemoveEntry
        op={removeIso}
        of={i}
        keep="Keep ISO"
        consequences={['It can no longer be inserted into a server.']}
        disabledReason={
          i.servers ? `It is in the CD drive of ${i.servers === 1 ? 'a server' : `${i.servers} servers`}.` : undefined
        }
      />
    </Menu>
  )
}
