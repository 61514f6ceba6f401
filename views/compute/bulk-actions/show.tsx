// An action for many: how far it is, and what became of each.
import {
  cancelBulkAction,
  getBulkAction,
  listBulkActions,
  listBulkWorkloads,
} from '../../../src/compute/bulk-actions/control.ts'
import { type Answers, type At, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import { Figure, Meter, Stats } from '../../components/figures.tsx'
import { Head } from '../../components/head.tsx'
import type { IconName } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { type Column, Pager, PagerButtons, rangeOf, Table, Tabs } from '../../components/table.tsx'
import { Exact, Time } from '../../components/time.tsx'
import { count } from '../../components/words.ts'
import { Reasons } from './reasons.tsx'
import { manyInstances, manyServers } from './ways.ts'

const reads = { action: reading(getBulkAction, ({ params }: At) => ({ params })), servers: listBulkWorkloads }
type Data = Answers<typeof reads>
type BulkAction = Data['action']
type Row = Data['servers']['data'][number]

const states: Record<BulkAction['state'], { words: string; tone: Tone; shape: IconName }> = {
  planned: { words: 'Planned', tone: 'idle', shape: 'wait' },
  running: { words: 'Running', tone: 'work', shape: 'work' },
  cancelling: { words: 'Being cancelled', tone: 'work', shape: 'work' },
  cancelled: { words: 'Cancelled', tone: 'idle', shape: 'stop' },
  done: { words: 'Done', tone: 'ok', shape: 'tick' },
}
const rowStates: Record<Row['state'], { words: string; tone: Tone; shape: IconName }> = {
  waiting: { words: 'Waiting', tone: 'idle', shape: 'wait' },
  running: { words: 'At work', tone: 'work', shape: 'work' },
  done: { words: 'Done', tone: 'ok', shape: 'tick' },
  failed: { words: 'Failed', tone: 'bad', shape: 'fail' },
  refused: { words: 'Refused', tone: 'warn', shape: 'stop' },
  cancelled: { words: 'Not begun', tone: 'idle', shape: 'stop' },
}
const StateTag = ({ of }: { of: BulkAction }) => {
  const { words, tone, shape } = states[of.state]
  return (
    <State tone={tone} shape={shape} tag>
      {words}
    </State>
  )
}
const manyOf = ({ kind }: BulkAction) => (kind === 'server' ? manyServers : manyInstances)

export const bulkActionPage = page({
  path: '/admin/bulk-actions/{id}',
  reads,
  title: ({ action }) => action.title,
  nav: 'servers',
  view: (data) => <BulkActionPage {...data} />,
})

function BulkActionPage({ action, servers }: Data) {
  const isOver = action.finishedAt !== null
  const { all, done, failed, refused, cancelled, waiting, running } = action.counts
  const over = all - waiting - running
  return (
    <Live id="bulk-action" every={isOver ? undefined : 2}>
      <Head
        title={action.title}
        trail={[['Actions for many', '/admin/bulk-actions']]}
        state={<StateTag of={action} />}
        sub={
          <>
            <span>
              started <Exact iso={action.createdAt!} /> by {action.startedBy!.name}
            </span>
            <Link href={`/admin/jobs/${action.jobId}`}>job</Link>
          </>
        }
        actions={
          action.state === 'running' && (
            <Action
              op={cancelBulkAction}
              params={{ id: action.id! }}
              label="Cancel"
              title="Cancel the action?"
              done="Nothing more begins"
              confirm={{
                keep: 'Go on',
                consequences: ['What has begun comes to its end.', `${count(waiting, 'other')} stay as they are.`],
              }}
            />
          )
        }
      />
      {!isOver && (
        <Section id="progress" title="Progress" quiet first>
          <Meter label="Progress" value={over} total={all} words={`${over} of ${all}`} mayBeFull />
        </Section>
      )}
      <Stats>
        <Figure title="Done" n={done} of={`of ${all}`} />
        <Figure title="Waiting or at work" n={waiting + running} />
        <Figure title="Refused" n={refused} />
        <Figure title="Failed" n={failed} bad={failed > 0} />
        {cancelled > 0 && <Figure title="Not begun" n={cancelled} />}
      </Stats>
      <Reasons of={action} title="Not done" words="The reasons, with the first names of each." />
      <Section
        id="servers"
        title={manyOf(action).title}
        flush
        actions={
          <PagerButtons of={servers}>
            <b>{rangeOf(servers) ?? count(servers.total, manyOf(action).one)}</b>
          </PagerButtons>
        }
      >
        <Tabs
          label="State"
          name="state"
          options={[['', 'All'], ...Object.entries(rowStates).map(([state, { words }]) => [state, words] as const)]}
        />
        {servers.data.length ? (
          <Table label="Results" rows={servers.data} columns={columns(action)} idOf={({ id }) => id} />
        ) : (
          <Empty>None is in this state.</Empty>
        )}
        <Pager of={servers} />
      </Section>
    </Live>
  )
}

const columns = (action: BulkAction): Column<Row>[] => [
  {
    title: 'Name',
    kind: 'name',
    width: 30,
    cell: ({ id, name }) => <Link href={`${manyOf(action).list}/${id}`}>{name}</Link>,
  },
  {
    title: 'State',
    kind: 'state',
    width: 18,
    cell: ({ state }) => (
      <State tone={rowStates[state].tone} shape={rowStates[state].shape}>
        {rowStates[state].words}
      </State>
    ),
  },
  { title: 'Reason', kind: 'addr', width: 36, cell: ({ reason }) => reason && <span title={reason}>{reason}</span> },
  {
    title: 'Job',
    kind: 'a',
    width: 16,
    cell: ({ jobId, endedAt }) => (
      <>
        {jobId && <Link href={`/admin/jobs/${jobId}`}>Job</Link>}
        {endedAt && (
          <small>
            <Time iso={endedAt} />
          </small>
        )}
      </>
    ),
  },
]

export const bulkActionsPage = page({
  path: '/admin/bulk-actions',
  reads: { actions: listBulkActions },
  title: 'Actions for many',
  nav: 'servers',
  view: ({ actions }) => <BulkActionList of={actions} />,
})

type Actions = Answers<{ a: typeof listBulkActions }>['a']
function BulkActionList({ of }: { of: Actions }) {
  useAt()
  return (
    <>
      <Head title="Actions for many" trail={[['Servers', '/admin/servers']]} />
      {of.data.length ? (
        <>
          <Table
            label="Actions for many"
            rows={of.data}
            idOf={({ id }) => id!}
            columns={[
              {
                title: 'Action',
                kind: 'name',
                width: 36,
                cell: ({ id, title }) => <Link href={`/admin/bulk-actions/${id}`}>{title}</Link>,
              },
              { title: 'State', kind: 'state', width: 20, cell: (one) => <StateTag of={one} /> },
              {
                title: 'Result',
                kind: 'addr',
                width: 24,
                cell: ({ counts }) => `${counts.done} of ${counts.all} done`,
              },
              {
                title: 'Started',
                kind: 'a',
                width: 20,
                cell: ({ createdAt, startedBy }) => (
                  <>
                    <Time iso={createdAt!} />
                    <small>{startedBy!.name}</small>
                  </>
                ),
              },
            ]}
          />
          <Pager of={of} />
        </>
      ) : (
        <Empty title="No actions for many yet">Choose servers in their list, then an action for all of them.</Empty>
      )}
    </>
  )
}
