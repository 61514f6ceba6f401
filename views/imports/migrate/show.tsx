// The servers that move: how far all of them are, each of them, and what failed.
import { getDryRun } from '../../../src/imports/dry-run/result.ts'
import { getImport } from '../../../src/imports/imports/imports.ts'
import { getImportProgress, listMoves } from '../../../src/imports/migrate/list.ts'
import { startImport } from '../../../src/imports/migrate/start.ts'
import { getVerification } from '../../../src/imports/verify/verification.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Amount, Mix, type Share, Stats } from '../../components/figures.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Note, Section } from '../../components/section.tsx'
import { addressWith, type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { bytes, count } from '../../components/words.ts'
import { duration } from '../../compute/transfers/words.tsx'
import { ImportFrame } from '../imports/frame.tsx'
import { type Import, importFiles, titleOf } from '../imports/words.tsx'
import { listed } from '../mapping/frame.tsx'
import { ChangeLimits, ChangeWindow, Continue, Pause, Start, StopAfter } from './limits.tsx'
import { Retry } from './retry.tsx'
import { copyWords, downtimeWords, type Move, MoveState, type Progress, Runs, runsWords } from './words.tsx'

const filters = ['state', 'result', 'hypervisorId', 'nodeId', 'failure', 'whereItRuns', 'q']
const MOST_FAILED = '20'
const reads = {
  import: reading(getImport, ({ params }) => ({ params })),
  progress: reading(getImportProgress, ({ params }) => ({ params })),
  moves: reading(listMoves, ({ params, query }) => ({ params, query: listed(query, filters) })),
  failed: reading(listMoves, ({ params }) => ({ params, query: { state: 'failed', limit: MOST_FAILED } })),
  verification: reading(getVerification, ({ params }) => ({ params })),
  dryRun: reading(getDryRun, ({ params }) => ({ params })),
}
type Data = Answers<typeof reads>

export const migratePage = page({
  path: '/admin/imports/{id}/migrate',
  reads,
  title: ({ import: of }) => `Migrate ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: (data) => <MigratePage {...data} />,
})

function MigratePage({ import: of, progress, moves, failed, verification, dryRun }: Data) {
  const { query } = useAt()
  return (
    <ImportFrame
      of={of}
      step="migrate"
      isWhole
      actions={
        <>
          <Continue of={of} />
          <Pause of={of} />
        </>
      }
      more={
        <>
          <ChangeLimits of={of} />
          <ChangeWindow of={of} />
          <StopAfter of={of} />
        </>
      }
    >
      {of.startedAt === null ? (
        <Before of={of} isOutdated={dryRun.isOutdated} />
      ) : (
        <>
          <Held of={of} progress={progress} />
          <Shares progress={progress} open={verification.open} />
          <Figures of={of} progress={progress} />
          {query['state'] !== 'failed' && failed.total > 0 && <Failed of={of} failed={failed} />}
          <Facets progress={progress} open={verification.open} />
          <List
            of={moves}
            noun="server"
            filters={[
              { name: 'q', label: 'Server, address or owner', placeholder: 'Server, address or owner' },
              { name: 'whereItRuns', label: 'Runs', options: placeOptions },
              {
                name: 'hypervisorId',
                label: 'Hypervisor',
                options: dryRun.hypervisors.map(({ id, name }) => [id, name]),
              },
              { name: 'nodeId', label: 'Node', options: dryRun.nodes.map(({ id, name }) => [id, name]) },
              { name: 'state', label: 'State', value: 'one' },
              { name: 'result', label: 'Checks', value: 'one' },
              { name: 'failure', label: 'Failure', value: 'one' },
            ]}
            empty={<Empty>No server of this import was ready when it was started.</Empty>}
          >
            <Table
              label="Servers that move"
              rows={moves.data}
              columns={columns}
              idOf={({ serverId }) => serverId}
              stick
            />
          </List>
        </>
      )}
    </ImportFrame>
  )
}
const placeOptions = [
  ['source', 'at the source'],
  ['here', 'here'],
  ['nowhere', 'nowhere: off'],
  ['unknown', 'unknown: node away'],
] as const

/** Nothing has been started: what stands before it, or the form that starts it. */
function Before({ of, isOutdated }: { of: Import; isOutdated: boolean }) {
  const at = useAt()
  if (of.actions.includes('start') && !isOutdated && of.servers['ready']! > 0 && at.may(startImport))
    return <Start of={of} />
  const words = !of.actions.includes('start')
    ? 'Servers move once everything is decided and a dry run has looked at each of them.'
    : isOutdated
      ? 'Something was decided since the dry run. Run it again, then start here.'
      : of.servers['ready']! === 0
        ? 'The dry run has found no server that can come. Mend what it names, and run it again.'
        : 'Nothing has been started yet.'
  return (
    <Empty
      title="Nothing moves yet"
      action={
        <Link class="btn pri" to="/admin/imports/{id}/dry-run" params={{ id: of.id }}>
          Open the dry run
        </Link>
      }
    >
      {words}
    </Empty>
  )
}

/** Why no further server begins. */
function Held({ of, progress }: { of: Import; progress: Progress }) {
  const { waiting, moving } = progress.servers
  if (of.status !== 'migrating') return null
  if (of.stopsAfter)
    return (
      <Note level="warn">
        <strong>It stops after the {count(moving, 'server')} at work.</strong>{' '}
        {`${count(waiting, 'server')} stay on the source, and run there as before.`}
      </Note>
    )
  if (of.pausedAt)
    return (
      <Note level="warn">
        <strong>
          Paused <Time iso={of.pausedAt} />.
        </strong>{' '}
        {moving ? `${count(moving, 'server')} at work come to their end. ` : ''}
        {`${count(waiting, 'server')} wait, and run at the source.`}
      </Note>
    )
  const { window } = of.limits
  return progress.isWaitingForWindow && window ? (
    <Note level="info">
      <strong>Waiting for the window.</strong>{' '}
      {`Servers begin from ${window.from} until ${window.to}, ${window.timeZone}. Those at work come to their end.`}
    </Note>
  ) : null
}

const sharesOf = ({ servers: s }: Progress, open: number): Share[] =>
  (
    [
      { name: 'Moved', n: s.moved - open, tone: 'ok', shape: 'tick' },
      { name: 'Moved, check open', n: open, tone: 'warn', shape: 'away' },
      { name: 'At work', n: s.moving + s.rollingBack, tone: 'work', shape: 'work' },
      { name: 'Failed', n: s.failed, tone: 'bad', shape: 'fail' },
      { name: 'Rolled back', n: s.rolledBack, tone: 'hold', shape: 'stop' },
      { name: 'Waiting', n: s.waiting, tone: 'idle', shape: 'wait' },
    ] as const
  ).filter(({ n }) => n > 0)

const Shares = ({ progress, open }: { progress: Progress; open: number }) => {
  const { servers, secondsLeft } = progress
  return (
    <Section id="far" title="How far it is" quiet first>
      <p class="big">
        <b>{servers.moved.toLocaleString('en')}</b>
        <span class="muted" role="status">
          {`of ${count(servers.total, 'server has moved', 'servers have moved')}`}
          {secondsLeft ? ` · about ${duration(secondsLeft)} left` : ''}
        </span>
      </p>
      <Mix shares={sharesOf(progress, open)} />
    </Section>
  )
}

const Figures = ({ of, progress: p }: { of: Import; progress: Progress }) => (
  <Stats>
    <Amount
      title="Copied"
      value={bytes(p.bytesCopied)}
      of={p.bytesTotal > 0 && `of ${bytes(p.bytesTotal)}`}
      words={p.bytesPerSecond > 0 ? `${bytes(p.bytesPerSecond)}/s now` : 'no copy is at work'}
    />
    <Amount
      title="Median downtime"
      value={p.medianDowntimeMs === null ? '–' : duration(p.medianDowntimeMs / 1000)}
      words={p.longestDowntimeMs === null ? 'none has moved yet' : `longest ${duration(p.longestDowntimeMs / 1000)}`}
    />
    <Amount
      title="As announced"
      value={p.announcedKept.toLocaleString('en')}
      of={`of ${p.announced.toLocaleString('en')}`}
      words="were not away for longer"
    />
    <Amount
      title="At once"
      value={of.limits.perHypervisor}
      of="from a hypervisor"
      words={[
        `${of.limits.perNode} to a node`,
        of.limits.maxMbps !== null && `${of.limits.maxMbps.toLocaleString('en')} Mbit/s each`,
        of.limits.window && `${of.limits.window.from}–${of.limits.window.to}`,
      ]
        .filter(Boolean)
        .join(', ')}
    />
  </Stats>
)

/** Each with where it runs first, then its cause, what to do, and the button that does it. */
const Failed = ({ of, failed }: { of: Import; failed: Data['failed'] }) => (
  <Section
    id="failed"
    title="Failed"
    count={
      failed.total > failed.data.length
        ? `${failed.data.length} of ${failed.total.toLocaleString('en')}`
        : failed.total.toLocaleString('en')
    }
    flush
  >
    <ul class="rows wrap">
      {failed.data.map((one) => (
        <li>
          <Icon name="fail" class="bad" />
          <div class="grow">
            <b>
              <Link to="/admin/import-servers/{id}" params={{ id: one.serverId }}>
                {one.hostname}
              </Link>{' '}
              {runsWords(one)}
            </b>
            <small>
              {one.failure?.words} <strong>{one.failure?.nextStep}</strong>
            </small>
          </div>
          {one.failedAt && (
            <span class="muted">
              <Time iso={one.failedAt} />
            </span>
          )}
          <Retry of={of} move={one} small />
        </li>
      ))}
    </ul>
  </Section>
)

/** Counts by state, each a filter of the list. */
function Facets({ progress: { servers: s }, open }: { progress: Progress; open: number }) {
  const at = useAt()
  const facets = [
    ['All', null, null, s.total],
    ['At work', 'moving', null, s.moving],
    ['Failed', 'failed', null, s.failed],
    ['Check open', null, 'open', open],
    ['Waiting', 'waiting', null, s.waiting],
    ['Moved', 'moved', null, s.moved],
    ['Rolled back', 'rolled_back', null, s.rolledBack],
  ] as const
  return (
    <nav class="facets" aria-label="Show">
      {facets.map(([words, state, result, n]) => (
        <a
          class="facet"
          href={addressWith(at, { state, result, failure: null })}
          aria-current={
            (at.query['state'] ?? null) === state && (at.query['result'] ?? null) === result ? 'true' : undefined
          }
        >
          {words} <span class="n">{n.toLocaleString('en')}</span>
        </a>
      ))}
    </nav>
  )
}

const Now = ({ of }: { of: Move }) => {
  if (of.failure)
    return (
      <span class="why" title={of.failure.words}>
        {of.failure.words}
      </span>
    )
  if (of.phase === null) return <span class="muted">{of.state === 'moved' ? wayWords(of) : '–'}</span>
  return (
    <>
      <progress max={100} value={of.percent ?? 0} aria-label={of.hostname}>{`${of.percent ?? 0} %`}</progress>
      <small>{[of.phase, copyWords(of)].filter(Boolean).join(' · ')}</small>
    </>
  )
}
const wayWords = ({ way, method }: Move) =>
  way === 'adopt' ? 'adopted in place' : method === 'plain' ? 'copied while off' : 'copied while it ran'

const columns: readonly Column<Move>[] = [
  {
    title: 'Server',
    kind: 'name',
    width: 26,
    cell: ({ serverId, hostname, hypervisor, node }) => (
      <>
        <Link to="/admin/import-servers/{id}" params={{ id: serverId }} title={hostname}>
          {hostname}
        </Link>
        <small>{node ? `${hypervisor.name} → ${node.name}` : hypervisor.name}</small>
      </>
    ),
  },
  { title: 'State', kind: 'state', width: 15, cell: (one) => <MoveState of={one} /> },
  { title: 'Runs', kind: 'a', width: 18, cell: (one) => <Runs of={one} /> },
  { title: 'Now', kind: 'wide', width: 28, cell: (one) => <Now of={one} /> },
  { title: 'Downtime', kind: 'b', num: true, width: 13, cell: (one) => downtimeWords(one) },
]
