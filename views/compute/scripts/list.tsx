// The startup scripts that an account keeps.
import { addScript, listScripts, removeScript } from '../../../src/compute/scripts/scripts.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { Action, Menu, RemoveEntry } from '../../components/action.tsx'
import { Field, TextArea } from '../../components/field.tsx'
import { Link } from '../../components/link.tsx'
import { ListPage } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { bytes } from '../../components/words.ts'

type Script = Answers<{ scripts: typeof listScripts }>['scripts']['data'][number]

export const scriptsPage = page({
  path: '/scripts',
  reads: { scripts: reading(listScripts, ({ actor }) => ({ params: { id: actor.accountId } })) },
  title: 'Startup scripts',
  nav: 'scripts',
  view: ({ scripts, at }) => (
    <ListPage
      title="Startup scripts"
      words={
        'Choose a script when you set up or reinstall a server: it runs once, as root, at the first boot. Its output ' +
        "appears on the server's page."
      }
      actions={<AddScript ownerId={at.actor.accountId} />}
      of={scripts}
      columns={columns}
      empty={<Empty title="No startup scripts yet">Add one to prepare every new server in the same way.</Empty>}
    />
  ),
})

const columns: Column<Script>[] = [
  {
    title: 'Name',
    kind: 'name',
    width: 56,
    cell: (s) => (
      <Link to="/scripts/{id}" params={{ id: s.id }}>
        <b title={s.name}>{s.name}</b>
      </Link>
    ),
  },
  { title: 'Size', kind: 'a', width: 20, cell: (s) => bytes(s.sizeBytes) },
  { title: 'Changed', kind: 'b', width: 24, cell: (s) => <Time iso={s.changedAt} /> },
  { title: 'Actions', kind: 'more', cell: (s) => <ScriptMenu of={s} /> },
]

export const ScriptFields = ({ scope, name, content }: { scope: string; name?: string; content?: string }) => (
  <>
    <Field scope={scope} name="name" label="Name" required value={name} />
    <TextArea
      scope={scope}
      name="content"
      label="Script"
      required
      mono
      rows={16}
      value={content ?? '#!/bin/sh\n'}
      hint={
        'The first line names the interpreter, for example #!/bin/bash. Everybody who may set up your servers can ' +
        'read it, so do not put passwords in it.'
      }
    />
  </>
)

const AddScript = ({ ownerId }: { ownerId: string }) => (
  <Action
    op={addScript}
    params={{ id: ownerId }}
    label="Add script"
    icon="plus"
    tone="pri"
    title="Add startup script"
    submit="Add script"
    done="{name} is added"
    wide
    fields={<ScriptFields scope="script" />}
  />
)

const ScriptMenu = ({ of: s }: { of: Script }) => (
  <Menu label={`Actions for ${s.name}`} small>
    <RemoveScript of={s} inMenu />
  </Menu>
)

type RemoveProps = { of: Pick<Script, 'id' | 'name'>; inMenu?: boolean }
export const RemoveScript = ({ of: s, inMenu = false }: RemoveProps) => (
  <RemoveEntry
    op={removeScript}
    of={s}
    inMenu={inMenu}
    {...(!inMenu && { leadsTo: '/scripts' })}
    keep="Keep script"
    consequences={['New installations can no longer use it.', 'Servers that ran it stay as they are.']}
  />
)
