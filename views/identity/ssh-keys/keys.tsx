// The SSH keys of one account, for its holder and for those who look after it.
import { addSshKey, type listSshKeys, removeSshKey, renameSshKey } from '../../../src/identity/ssh-keys/ssh-keys.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, Menu, RemoveEntry, RenameEntry } from '../../components/action.tsx'
import { Field, TextArea } from '../../components/field.tsx'
import { ListOf } from '../../components/list.tsx'
import { Copyable, Empty, Section } from '../../components/section.tsx'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'

type Keys = Answers<{ keys: typeof listSshKeys }>['keys']
type Key = Keys['data'][number]

type SectionProps = { ownerId: string; keys: Keys; mayChange: boolean }
/** The keys as a part of the page of a customer. */
export const KeySection = ({ ownerId, keys, mayChange }: SectionProps) => (
  <Section
    id="keys"
    title="SSH keys"
    count={keys.total || undefined}
    actions={mayChange && <AddKey ownerId={ownerId} />}
    flush
  >
    <KeyList keys={keys} mayChange={mayChange} />
  </Section>
)

export const AddKey = ({ ownerId, primary }: { ownerId: string; primary?: boolean }) => (
  <Action
    op={addSshKey}
    params={{ id: ownerId }}
    label="Add SSH key"
    icon="plus"
    tone={primary ? 'pri' : undefined}
    done="{name} is added"
    wide
    fields={
      <>
        <TextArea
          scope="key"
          name="publicKey"
          label="Public key"
          required
          mono
          fingerprint
          hint="One line, as in a .pub file: ssh-ed25519 AAAA… name"
        />
        <Field scope="key" name="name" label="Name" hint="Leave empty to use the comment at the end of the key." />
      </>
    }
  />
)

export function KeyList({ keys, mayChange }: { keys: Keys; mayChange: boolean }) {
  const { may } = useAt()
  const columns: (Column<Key> | false)[] = [
    { title: 'Name', kind: 'name', width: 24, cell: (k) => <b title={k.name}>{k.name}</b> },
    {
      title: 'Fingerprint',
      kind: 'addr',
      cell: (k) => <Copyable text={k.fingerprint} what={`fingerprint of ${k.name}`} />,
    },
    { title: 'Type', kind: 'a', width: 14, cell: (k) => <span class="mono">{k.publicKey.split(' ')[0]}</span> },
    { title: 'Added', kind: 'b', width: 12, cell: (k) => <Time iso={k.createdAt} /> },
    mayChange &&
      (may(renameSshKey) || may(removeSshKey)) && { title: 'Actions', kind: 'more', cell: (k) => <KeyMenu of={k} /> },
  ]
  return (
    <ListOf
      title="SSH keys"
      of={keys}
      columns={columns.filter((c): c is Column<Key> => c !== false)}
      empty={<Empty title="No SSH keys yet">An SSH key lets you sign in to servers that are installed with it.</Empty>}
    />
  )
}

const KeyMenu = ({ of: k }: { of: Key }) => (
  <Menu label={`Actions for ${k.name}`} small>
    <RenameEntry op={renameSshKey} of={k} />
    <RemoveEntry
      op={removeSshKey}
      of={k}
      keep="Keep key"
      consequences={[
        'New installations can no longer use it.',
        'Servers that have it keep it. If the key was lost, remove it there too.',
      ]}
    />
  </Menu>
)
