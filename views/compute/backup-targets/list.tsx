import type { BackupTargetKind } from '../../../agent/protocol/backup.ts'
import {
  addLocalTarget,
  addRestTarget,
  addS3Target,
  addSftpTarget,
  changeBackupTarget,
  listBackupTargets,
  makeDefaultTarget,
  removeBackupTarget,
} from '../../../src/compute/backup-targets/targets.ts'
import { testBackupTarget } from '../../../src/compute/backup-targets/testing.ts'
import { getDrills } from '../../../src/compute/backups/drills/night.ts'
import { listRepositories } from '../../../src/compute/backups/maintenance/list.ts'
import { listNodes } from '../../../src/fleet/nodes/nodes.ts'
import { type Answers, ifAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import { Action, EditEntry, Menu, RemoveEntry } from '../../components/action.tsx'
import { Check, Field, Select } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Live } from '../../components/live.tsx'
import { Empty } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { DrillsOf } from './drills.tsx'
import { Reach } from './fields.tsx'
import { GiveLogin, RemoveLogin, separationOf } from './node-logins.tsx'
import { RepositoriesOf } from './repositories.tsx'

const reads = {
  targets: listBackupTargets,
  nodes: ifAllowed(listNodes, () => ({ query: { limit: '200' } })),
  drills: getDrills,
  repositories: reading(listRepositories, () => ({ query: { limit: '50' } })),
}
type Data = Answers<typeof reads>
type Target = Data['targets']['data'][number]
type Nodes = NonNullable<Data['nodes']>['data']

export const backupTargetsPage = page({
  path: '/admin/backup-targets',
  reads,
  title: 'Backup targets',
  nav: 'backup-targets',
  view: ({ targets, nodes, repositories, drills }) => (
    <>
      <Head
        title="Backup targets"
        actions={kinds.map((kind) => <Add kind={kind} />)}
        sub={
          <span>
            Places for backups of servers. Backups that no plan makes go to the default one. A good one is append-only
            and at another site: then neither a stolen node nor a stolen panel can erase a backup. At a REST server,
            SFTP and S3 each node can have a login of its own; a folder lies on each node’s own disk and has none.
          </span>
        }
      />
      <Live id="list" every={targets.data.some(({ test }) => test?.endedAt === null) ? 2 : 30}>
        <List
          of={targets}
          noun="backup target"
          empty={
            <Empty title="No backup targets yet">
              Add one, then test it from a node. On a machine of your own, “berth backup-server” makes an append-only
              one.
            </Empty>
          }
        >
          <Table
            label="Backup targets"
            rows={targets.data}
            columns={columnsFor(nodes?.data ?? [])}
            idOf={(b) => b.id}
            flow
          />
        </List>
        <RepositoriesOf of={repositories} />
        {targets.data.length > 0 && <DrillsOf of={drills} />}
      </Live>
    </>
  ),
})

const kinds = ['rest', 'sftp', 's3', 'local'] as const
const kindWords: Readonly<Record<BackupTargetKind, string>> = {
  rest: 'REST server',
  sftp: 'SFTP',
  s3: 'S3',
  local: 'Folder on nodes',
}

const columnsFor = (nodes: Nodes): Column<Target>[] => [
  {
    title: 'Target',
    kind: 'name',
    width: 28,
    cell: (b) => (
      <>
        <b title={b.name}>{b.name}</b>
        <small title={b.address}>{b.address}</small>
        {b.isDefault && <small>Default</small>}
      </>
    ),
  },
  {
    title: 'Kind',
    kind: 'mid',
    width: 18,
    cell: (b) => (
      <>
        {kindWords[b.kind]}
        <small title={b.sharingNodes.map(({ name }) => name).join(', ')}>{separationOf(b)}</small>
      </>
    ),
  },
  { title: 'State', kind: 'state', width: 14, cell: (b) => <TestState of={b} /> },
  { title: 'Last test', kind: 'wide', width: 46, cell: (b) => <Result of={b} nodes={nodes} /> },
  {
    title: 'Actions',
    kind: 'more',
    cell: (b) => (
      <Menu label={`Actions for ${b.name}`} small>
        {!b.isDefault && <MakeDefault of={b} />}
        <Change of={b} />
        {b.separation === 'logins' && <GiveLogin of={b} nodes={nodes} />}
        {b.nodeLogins.length > 0 && <RemoveLogin of={b} />}
        <Remove of={b} />
      </Menu>
    ),
  },
]

function TestState({ of: { test } }: { of: Target }) {
  if (!test) return <State {...{ tone: 'idle', shape: 'wait' }}>Not tested</State>
  if (!test.endedAt) return <State {...{ tone: 'work', shape: 'work' }}>Being tested</State>
  if (test.finding === 'works') return <State {...{ tone: 'ok', shape: 'tick' }}>Works</State>
  return <State {...{ tone: 'bad', shape: 'fail' }}>Does not work</State>
}

const erasing = {
  yes: 'Append-only: a stolen node can erase nothing.',
  no: 'A stolen node can erase backups here.',
  unknown: 'Whether a stolen node can erase backups here is not known.',
} as const

const Result = ({ of: b, nodes }: { of: Target; nodes: Nodes }) => (
  <>
    {b.test?.endedAt && <Finding of={b.test} />}
    <span class="bar">
      <Test of={b} nodes={nodes} />
      {b.test ? (
        <small>
          <Time iso={b.test.endedAt ?? b.test.startedAt} /> from {b.test.node.name || 'a node that was removed'},{' '}
          <Link to="/admin/jobs/{jobId}" params={{ jobId: b.test.jobId }}>
            log
          </Link>
        </small>
      ) : (
        <span class="muted">None yet</span>
      )}
    </span>
  </>
)

const Finding = ({ of: test }: { of: NonNullable<Target['test']> }) => (
  <>
    <span>{test.message}</span>
    {test.finding === 'works' && test.appendOnly && <span> {erasing[test.appendOnly]}</span>}
    {test.detail && <small>{test.detail}</small>}
  </>
)

const adding = { rest: addRestTarget, sftp: addSftpTarget, s3: addS3Target, local: addLocalTarget } as const

const Add = ({ kind }: { kind: BackupTargetKind }) => (
  <Action
    op={adding[kind]}
    label={kindWords[kind]}
    icon="plus"
    tone={kind === 'rest' ? 'pri' : undefined}
    title={`Add a backup target: ${kindWords[kind]}`}
    submit="Add"
    done="{name} is added. Test it from a node."
    fields={
      <>
        <Field scope={`add-${kind}`} name="name" label="Name" required hint="For example Backups in Oslo." />
        <Reach scope={`add-${kind}`} kind={kind} />
      </>
    }
  />
)

function Test({ of: b, nodes }: { of: Target; nodes: Nodes }) {
  const running = b.test !== null && b.test.endedAt === null
  return (
    <Action
      op={testBackupTarget}
      params={{ id: b.id }}
      label="Test…"
      of={b.name}
      small
      title={`Test ${b.name}`}
      submit="Test"
      done="The test has started"
      disabledReason={running ? 'A test is running.' : !nodes.length && 'There is no node to test it from.'}
      fields={
        <>
          <p class="muted">
            The node stores a few bytes there, reads them back, and finds whether it could erase them.
          </p>
          <Select
            scope={`test-${b.id}`}
            name="nodeId"
            label="From the node"
            options={nodes.map(({ id, name, connected }) => ({
              value: id,
              label: name,
              why: connected ? undefined : 'away',
            }))}
          />
        </>
      }
    />
  )
}

const Change = ({ of: b }: { of: Target }) => (
  <EditEntry
    op={changeBackupTarget}
    of={b}
    label="Edit"
    done="Saved. Test it again."
    fields={
      <>
        <Field scope={`change-${b.id}`} name="name" label="Name" required value={b.name} />
        <Reach scope={`change-${b.id}`} kind={b.kind} of={b} />
        {b.separation === 'logins' && (
          <Check
            scope={`change-${b.id}`}
            name="ownLoginsOnly"
            label="Only nodes with a login of their own"
            checked={b.ownLoginsOnly}
            hint="A node without one is refused: the shared login goes to no node, also to none that enrolls later."
          />
        )}
        <Check
          scope={`change-${b.id}`}
          name="moved"
          label="Its backups lie at the new address already"
          hint="Needed for another address while backups lie in it. Copy them there first; the test looks for them."
        />
      </>
    }
  />
)

const MakeDefault = ({ of: b }: { of: Target }) => (
  <Action
    op={makeDefaultTarget}
    params={{ id: b.id }}
    label="Use as default"
    of={b.name}
    inMenu
    done={`Backups go to ${b.name} from now on`}
  />
)

const Remove = ({ of: b }: { of: Target }) => (
  <RemoveEntry
    op={removeBackupTarget}
    of={b}
    keep="Keep target"
    consequences={[
      'Nodes no longer reach it.',
      'While backups of servers lie there, it is refused: delete them first.',
      'Anything else stored there stays until you delete it.',
    ]}
  />
)
