// Access of the copying nodes to the hypervisors of the other panel: by the root password once, or by one command.
import { getImport } from '../../../src/imports/imports/imports.ts'
import { checkAccess, listAccess } from '../../../src/imports/source-access/access.ts'
import { addKeys } from '../../../src/imports/source-access/add-keys.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Command, Empty, Facts, Note, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Pager, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { count } from '../../components/words.ts'
import { RunDryRun } from '../imports/actions.tsx'
import { ImportFrame } from '../imports/frame.tsx'
import { type Import, importFiles, titleOf } from '../imports/words.tsx'
import { listed } from '../mapping/frame.tsx'
import { DryRunTabs } from './tabs.tsx'

const reads = {
  import: reading(getImport, ({ params }) => ({ params })),
  access: reading(listAccess, ({ params, query }) => ({ params, query: listed(query, []) })),
}
type Data = Answers<typeof reads>
type Access = Data['access']['data'][number]
type Node = Access['nodes'][number]

export const importAccessPage = page({
  path: '/admin/imports/{id}/access',
  reads,
  title: ({ import: of }) => `Node access of ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: ({ import: of, access }) => (
    <ImportFrame of={of} step="dry-run" actions={<RunDryRun of={of} />}>
      <DryRunTabs of={of} />
      <Live id="access" every={access.data.some(isAtWork) ? 2 : 10} class="">
        {access.data.length ? (
          access.data.map((one) => <Hypervisor of={of} access={one} />)
        ) : (
          <Empty>No hypervisor is copied or adopted yet. Decide under Locations first.</Empty>
        )}
        <Pager of={access} />
      </Live>
    </ImportFrame>
  ),
})
const isAtWork = ({ nodes }: Access) => nodes.some(({ isAsked }) => isAsked)

const Hypervisor = ({ of, access }: { of: Import; access: Access }) => (
  <Section
    id={`h-${access.hypervisorId.replace(/[^A-Za-z0-9]+/g, '-')}`}
    title={access.name}
    count={countOf(access)}
    actions={access.way === 'copy' && <Actions of={of} access={access} />}
  >
    {access.way === 'adopt' ? (
      <p class="muted">
        {access.node
          ? `It is your node ${access.node.name}: its servers stay there, and no other node needs access.`
          : 'It is adopted, and no node is recognised by its address any more.'}
      </p>
    ) : (
      <div class="stack">
        {access.nodes.some(({ login }) => login === 'host_key_changed') && <OtherHostKey of={of} access={access} />}
        {access.nodes.length ? (
          <div class="frame">
            <Table
              label={`Nodes that copy from ${access.name}`}
              rows={access.nodes}
              columns={nodeColumns}
              idOf={({ id }) => `${access.hypervisorId}-${id}`}
            />
          </div>
        ) : (
          <Note level="warn">The location to which it is copied has no node.</Note>
        )}
        {access.command && access.working < access.nodes.length && (
          <>
            <p class="muted">
              Or run this once on {access.name} as root, such as where root may not sign in with a password. It adds the
              keys of these nodes, and is safe to run twice:
            </p>
            <Command text={access.command} what={`the command for ${access.name}`} />
          </>
        )}
        <Facts
          of={[
            ['SSH key of the hypervisor', access.hostKey && <span class="mono">{access.hostKey}</span>],
            ['System', access.system],
            ['Speed to a node', access.linkMbps && `${access.linkMbps.toLocaleString('en')} Mbit/s`],
          ]}
        />
      </div>
    )}
  </Section>
)

const countOf = ({ way, working, nodes, address }: Access) =>
  way === 'adopt'
    ? 'adopted'
    : `${address ?? 'its name leads nowhere'} · ${working} of ${count(nodes.length, 'node')} let in`

function Actions({ of, access }: { of: Import; access: Access }) {
  const { hypervisorId, name, nodes, working } = access
  const params = { id: of.id }
  if (!of.actions.includes('access') || !nodes.length) return null
  return (
    <>
      <Action
        op={addKeys}
        params={params}
        body={{ hypervisorId }}
        label="Add keys with root password"
        of={`on ${name}`}
        icon="key"
        small
        tone={working < nodes.length ? 'pri' : undefined}
        title={`Add the keys of ${count(nodes.length, 'node')} on ${name}?`}
        submit="Add keys"
        done="One node signs in and adds the keys"
        confirm={{
          keep: 'Not now',
          consequences: [
            `One of the nodes signs in on ${name} once, on port 22, and adds the keys to those of root.`,
            'Keys that are there already stay as they are.',
            'The password is used for this sign-in and stored nowhere: not in the database, a log or the audit log.',
          ],
        }}
        fields={
          <Field
            scope={`root-${hypervisorId}`}
            name="password"
            label={`Password of root on ${name}`}
            type="password"
            required
          />
        }
      />
      <Action
        op={checkAccess}
        params={params}
        body={{ hypervisorId }}
        label="Try to log in"
        of={`to ${name}`}
        icon="refresh"
        small
        done="The nodes try to log in"
      />
    </>
  )
}

/** Its SSH server shows another key: somebody else may answer in its place. */
const OtherHostKey = ({ of, access: { hypervisorId, name } }: { of: Import; access: Access }) => (
  <Note
    level="bad"
    action={
      <Action
        op={checkAccess}
        params={{ id: of.id }}
        body={{ hypervisorId, acceptHostKey: true }}
        label="Accept the new key"
        of={`of ${name}`}
        small
        tone="bad"
        title={`Accept another SSH key of ${name}?`}
        done="The nodes try to log in"
        confirm={{
          keep: 'Not yet',
          consequences: [
            'You know why the key has changed, such as by a new installation of that hypervisor.',
            'From now on nodes accept the key that it has now, and no other.',
          ],
        }}
      />
    }
  >
    <strong>The SSH server of {name} shows another key than before.</strong> Find out why before you go on: somebody
    else may answer in its place.
  </Note>
)

const nodeColumns: readonly Column<Node>[] = [
  {
    title: 'Node',
    kind: 'name',
    width: 26,
    cell: ({ id, name }) => (
      <Link to="/admin/nodes/{id}" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    title: 'Log-in',
    kind: 'state',
    width: 22,
    cell: ({ login, isAsked, isConnected, hasKey }) =>
      isAsked ? (
        <State tone="work" shape="work">
          Trying
        </State>
      ) : login === 'works' ? (
        <State tone="ok" shape="tick">
          Works
        </State>
      ) : login !== null ? (
        <State tone="bad" shape="fail">
          Fails
        </State>
      ) : (
        <State tone="idle" shape="wait">
          {isConnected ? (hasKey ? 'Not tried' : 'No key yet') : 'Not connected'}
        </State>
      ),
  },
  {
    title: 'What it says',
    kind: 'wide',
    width: 36,
    cell: ({ words }) => <span class="why">{words && words.slice(0, 1).toUpperCase() + words.slice(1)}</span>,
  },
  { title: 'When', kind: 'mid', width: 16, cell: ({ at }) => at && <Time iso={at} /> },
]
