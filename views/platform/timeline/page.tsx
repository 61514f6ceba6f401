// The timeline of a server or a GPU instance, newest first: changes, jobs, alerts and unexpected ends in one order.
import { instantOf, localMinute } from '../../../public/panel/page/zone.js'
import { timelineKinds } from '../../../src/fleet/workloads/timeline.ts'
import { type Answers, type At, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { getInstanceTimeline, getTimeline } from '../../../src/platform/timeline/timeline.ts'
import { areaOf, inEveryArea } from '../../components/area.ts'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { type Filter, List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { addressWith, type Column, Table } from '../../components/table.tsx'
import { instantsIn, MomentCell, weekdayOf } from '../../components/time.tsx'
import { instancePage } from '../../compute/gpu-instances/area.ts'
import { InstanceFrame, instanceReads } from '../../compute/gpu-instances/frame.tsx'
import { ServerFrame, serverReads } from '../../compute/servers/frame.tsx'
import { DeedIcon, Visit } from '../audit/table.tsx'
import { wordsOf } from '../audit/words.ts'

const timelineOf = <O extends typeof getTimeline | typeof getInstanceTimeline>(op: O) =>
  reading(op, (at) => ({ params: at.params, query: instantsIn(at, ['since', 'until']) }))

const timelineReads = {
  ...serverReads,
  timeline: timelineOf(getTimeline),
}
type Timeline = Answers<typeof timelineReads>['timeline']
type Entry = Timeline['data'][number]

export const timelinePages = [
  ...inEveryArea({
    path: '/servers/{id}/activity',
    reads: timelineReads,
    title: ({ server }) => `Activity of ${server.name}`,
    nav: 'servers',
    view: ({ timeline, ...data }, area) => (
      <ServerFrame {...data} area={area}>
        <Entries of={timeline} what="server" kinds={Object.entries(timelineKinds)} />
      </ServerFrame>
    ),
  }),
  ...instancePage({
    path: '/{id}/activity',
    reads: { ...instanceReads, timeline: timelineOf(getInstanceTimeline) },
    title: ({ instance }) => `Activity of ${instance.name}`,
    view: ({ timeline, ...data }, area) => (
      <InstanceFrame {...data} area={area}>
        <Entries
          of={timeline}
          what="GPU instance"
          kinds={Object.entries(timelineKinds).filter(([kind]) => kind !== 'alert')}
        />
      </InstanceFrame>
    ),
  }),
]

type EntriesProps = { of: Timeline; what: string; kinds: [kind: string, words: string][] }
const Entries = ({ of: timeline, what, kinds }: EntriesProps) => (
  <>
    <h2 class="sr">Activity</h2>
    <Days />
    <List
      of={timeline}
      noun="entry"
      plural="entries"
      filters={filtersOf(kinds)}
      empty={<Empty>{`Nothing happened to this ${what} within 30 days.`}</Empty>}
      emptyWhenFiltered="Nothing of this kind happened in this period."
    >
      <EntryTable of={timeline.data} label="Activity" />
    </List>
  </>
)

/** Entries of a timeline, newest first. */
export const EntryTable = ({ of, label }: { of: readonly Entry[]; label: string }) => (
  <Table label={label} rows={of} columns={columns} idOf={({ id }) => id} flow />
)

const filtersOf = (kinds: EntriesProps['kinds']): readonly Filter[] => [
  { name: 'kind', label: 'Kind', options: kinds },
  { name: 'since', label: 'From', time: true },
  { name: 'until', label: 'to', time: true },
]

const DAY_MS = 86_400_000
const DAYS = 7
/** A link per day of the last week, in the reader's zone: "what happened last Tuesday". */
function Days() {
  const at = useAt()
  const zone = at.uiPreferences?.timeZone ?? 'UTC'
  const days = Array.from({ length: DAYS }, (_, i) => localMinute(at.now - i * DAY_MS, zone).slice(0, 10))
  const spanOf = (day: string) => {
    const start = instantOf(`${day}T00:00`, zone)
    const next = instantOf(`${localMinute(start + 1.5 * DAY_MS, zone).slice(0, 10)}T00:00`, zone)
    return { since: new Date(start).toISOString(), until: new Date(next - 1).toISOString() }
  }
  return (
    <nav class="tools" aria-label="Day">
      {days.map((day, i) => {
        const { since, until } = spanOf(day)
        const isOn = isSame(at, since, until)
        return (
          <a
            class={`chip${isOn ? ' on' : ''}`}
            href={addressWith(at, { since, until, cursor: null })}
            aria-current={isOn ? 'page' : undefined}
          >
            {i === 0 ? 'Today' : i === 1 ? 'Yesterday' : weekdayOf(Date.parse(since), zone)}
          </a>
        )
      })}
    </nav>
  )
}
const isSame = ({ query }: Pick<At, 'query'>, since: string, until: string) =>
  query['since'] === since && query['until'] === until

const appearances: Partial<Record<string, Parameters<typeof State>[0] & { children: string }>> = {
  done: { tone: 'ok', shape: 'tick', children: 'Done' },
  succeeded: { tone: 'ok', shape: 'tick', children: 'Done' },
  recovered: { tone: 'ok', shape: 'tick', children: 'Recovered' },
  fired: { tone: 'warn', shape: 'away', children: 'Alert' },
  queued: { tone: 'warn', shape: 'wait', children: 'Queued' },
  running: { tone: 'work', shape: 'work', children: 'Running' },
  failed: { tone: 'bad', shape: 'fail', children: 'Failed' },
}
const Result = ({ of: { kind, result } }: { of: Entry }) =>
  kind === 'crash' ? (
    <State tone="warn" shape="away">
      Noticed
    </State>
  ) : (
    <State {...(appearances[result] ?? { tone: 'bad', shape: 'fail', children: result })} />
  )

/** A change and a job say themselves what they are. */
const isNamed = ({ kind }: Entry) => kind !== 'job' && kind !== 'change'

function What({ of: e }: { of: Entry }) {
  const at = useAt()
  return (
    <>
      {e.operation ? (
        <DeedIcon operation={e.operation} action={e.action} />
      ) : (
        <Icon name={e.kind === 'alert' ? 'bell' : 'jobs'} class="muted" />
      )}{' '}
      <b>{e.title ?? wordsOf(at, e.operation ?? '', e.action)}</b>
      {e.until && (
        <small>
          <Visit of={{ at: e.at, until: e.until }} />
        </small>
      )}
      <small>
        {isNamed(e) && timelineKinds[e.kind]}
        {isNamed(e) && e.jobId && ' · '}
        {e.jobId && <Link href={`${areaOf(at)}/jobs/${e.jobId}`}>Job</Link>}
      </small>
    </>
  )
}

const columns: readonly Column<Entry>[] = [
  { title: 'What', kind: 'name', width: 44, cell: (e) => <What of={e} /> },
  { title: 'Result', kind: 'state', width: 16, cell: (e) => <Result of={e} /> },
  { title: 'When', kind: 'addr', width: 20, cell: (e) => <MomentCell iso={e.at} /> },
  {
    title: 'Who',
    width: 20,
    cell: (e) =>
      e.who && (
        <>
          {e.who.you ? 'You' : e.who.name}
          {e.from && (
            <small>
              from <span class="mono">{e.from}</span>
            </small>
          )}
        </>
      ),
  },
]
