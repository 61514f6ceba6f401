// The dry run: its result, the findings that have to be mended first, and each server.
import { exportDryRun, getDryRun } from '../../../src/imports/dry-run/result.ts'
import { getImport } from '../../../src/imports/imports/imports.ts'
import { listImportServers } from '../../../src/imports/mapping/servers.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Figure, Mix, type Share, Stats } from '../../components/figures.tsx'
import { Link } from '../../components/link.tsx'
import { Download, List } from '../../components/list.tsx'
import { Empty, Note, Section } from '../../components/section.tsx'
import { addressWith, Table } from '../../components/table.tsx'
import { Moment } from '../../components/time.tsx'
import { bytes, count } from '../../components/words.ts'
import { duration } from '../../compute/transfers/words.tsx'
import { RunDryRun } from '../imports/actions.tsx'
import { ImportFrame } from '../imports/frame.tsx'
import { type Import, importFiles, titleOf } from '../imports/words.tsx'
import { listed } from '../mapping/frame.tsx'
import { FixFirst } from './fix-first.tsx'
import { columns } from './servers.tsx'
import { DryRunTabs } from './tabs.tsx'
import type { DryRun } from './words.ts'

const filters = ['result', 'state', 'finding', 'nodeId', 'hypervisorId', 'awayOver', 'q', 'sort']
const reads = {
  import: reading(getImport, ({ params }) => ({ params })),
  dryRun: reading(getDryRun, ({ params }) => ({ params })),
  servers: reading(listImportServers, ({ params, query }) => ({ params, query: listed(query, filters) })),
}
type Data = Answers<typeof reads>

export const dryRunPage = page({
  path: '/admin/imports/{id}/dry-run',
  reads,
  title: ({ import: of }) => `Dry run of ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: (data) => <DryRunPage {...data} />,
})

function DryRunPage({ import: of, dryRun, servers }: Data) {
  const isKnown = dryRun.endedAt !== null || dryRun.isRunning
  return (
    <ImportFrame
      of={of}
      step="dry-run"
      isWhole
      actions={
        <>
          {dryRun.endedAt && (
            <Download op={exportDryRun} params={{ id: of.id }} label="CSV" query={withoutPlace(useAt().query)} />
          )}
          <RunDryRun of={of} isPrimary={!of.actions.includes('start') || dryRun.isOutdated} />
          {of.actions.includes('start') && !dryRun.isOutdated && (
            <Link class="btn pri" to="/admin/imports/{id}/migrate" params={{ id: of.id }}>
              Migrate
            </Link>
          )}
        </>
      }
    >
      <DryRunTabs of={of} />
      <HowFar of={of} dryRun={dryRun} />
      {isKnown && (
        <>
          <Result dryRun={dryRun} />
          <Counts dryRun={dryRun} />
          <FixFirst of={of} dryRun={dryRun} />
          <Facets dryRun={dryRun} />
          <List
            of={servers}
            noun="server"
            sorts={columns}
            filters={[
              { name: 'q', label: 'Server, address or owner', placeholder: 'Server, address or owner' },
              { name: 'finding', label: 'Finding', options: dryRun.findings.map(({ code, words }) => [code, words]) },
              { name: 'nodeId', label: 'Node', options: dryRun.nodes.map(({ id, name }) => [id, name]) },
              {
                name: 'hypervisorId',
                label: 'Hypervisor',
                options: dryRun.hypervisors.map(({ id, name }) => [id, name]),
              },
              { name: 'awayOver', label: 'Away', options: awayOptions },
              { name: 'result', label: 'Result', value: 'one' },
              { name: 'state', label: 'State', value: 'one' },
            ]}
            empty={<Empty>The other panel has no servers.</Empty>}
          >
            <Table
              label="Dry run by server"
              rows={servers.data}
              columns={columns}
              idOf={({ id }) => id}
              sortable
              stick
            />
          </List>
        </>
      )}
    </ImportFrame>
  )
}
const awayOptions = [
  ['60', 'over 1 min'],
  ['300', 'over 5 min'],
  ['3600', 'over 1 h'],
] as const
/** The filters that the spreadsheet knows, too. */
const withoutPlace = (query: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    ['result', 'finding', 'nodeId', 'hypervisorId', 'awayOver', 'q'].flatMap((name) =>
      query[name] ? [[name, query[name]]] : [],
    ),
  )

/** Its progress, and whether its result still counts. */
function HowFar({ of, dryRun }: { of: Import; dryRun: DryRun }) {
  if (dryRun.isRunning)
    return (
      <Note level="info">
        <span role="status">
          <strong>The dry run is under way.</strong>{' '}
          {dryRun.phase === 'checking'
            ? `${(dryRun.servers.total - dryRun.servers.unchecked).toLocaleString('en')} of ` +
              `${count(dryRun.servers.total, 'server')} done.`
            : 'What is decided is compared with what is here.'}{' '}
          Nothing is changed anywhere.
        </span>
      </Note>
    )
  if (dryRun.endedAt === null)
    return (
      <Section id="before" title="Dry run" first>
        <p>
          The nodes that would do the work look at every server on its hypervisor: whether they can log in, whether the
          server is there, its disk, its network card and its processor, and which node has space for it. Nothing is
          changed anywhere, and what you decided stays.
        </p>
        <p class="muted">
          {of.left.decisions
            ? `${count(of.left.decisions, 'decision')} ${of.left.decisions === 1 ? 'is' : 'are'} left: the servers ` +
              'that wait for one are named by the dry run too.'
            : 'Everything is decided.'}{' '}
          Copies need keys on the hypervisors: see Node access.
        </p>
      </Section>
    )
  return (
    <>
      {dryRun.isOutdated && (
        <Note level="warn">
          <strong>Something was decided since.</strong> Run the dry run again: what you decided is kept.
        </Note>
      )}
      <p class="words muted ends-at">
        Ended <Moment iso={dryRun.endedAt} />. {dryRun.words}
      </p>
    </>
  )
}

const sharesOf = ({ servers: s }: DryRun): Share[] =>
  (
    [
      { name: 'Ready', n: s.ready, tone: 'ok', shape: 'tick' },
      { name: 'Ready, with a remark', n: s.remark, tone: 'warn', shape: 'away' },
      { name: 'To fix', n: s.toFix, tone: 'bad', shape: 'fail' },
      { name: 'Stays on the source', n: s.stays, tone: 'hold', shape: 'hold' },
      { name: 'Left out', n: s.leftOut, tone: 'idle', shape: 'fail' },
      { name: 'Already moved', n: s.alreadyMoved, tone: 'idle', shape: 'tick' },
      { name: 'Not looked at yet', n: s.unchecked, tone: 'idle', shape: 'wait' },
    ] as const
  ).filter(({ n }) => n > 0)

const Result = ({ dryRun }: { dryRun: DryRun }) => (
  <Section id="result" title="Result" quiet first>
    <Mix shares={sharesOf(dryRun)} />
  </Section>
)

const Counts = ({ dryRun }: { dryRun: DryRun }) => {
  const { usedBytes, diskBytes, copySeconds, hypervisors, longest, newIpv4 } = dryRun
  return (
    <Stats>
      <Figure title="To copy" n={bytes(usedBytes)} words={`of ${bytes(diskBytes)}, holes skipped`} />
      <Figure
        title="Time"
        n={copySeconds ? duration(copySeconds) : 'none'}
        words={
          hypervisors.some(({ isMeasured }) => !isMeasured)
            ? 'an estimate, not measured everywhere'
            : 'an estimate, from a measured speed'
        }
      />
      <Figure
        title="Longest away"
        n={longest ? duration(longest.awaySeconds) : 'none'}
        words={longest?.hostname ?? 'no server can come yet'}
      />
      <Figure title="New addresses" n={newIpv4} words="from the pools of the nodes" />
    </Stats>
  )
}

/** Counts by result, each a filter of the list. */
function Facets({ dryRun: { servers: s } }: { dryRun: DryRun }) {
  const at = useAt()
  const facets = [
    ['To fix', { result: 'to_fix' }, s.toFix],
    ['With a remark', { result: 'remark' }, s.remark],
    ['Stays on the source', { state: 'refused' }, s.stays],
    ['Ready', { result: 'ready' }, s.ready],
    ['All', {}, s.total],
  ] as const
  const isOn = (asked: Readonly<Record<string, string>>) =>
    (['result', 'state'] as const).every((name) => (at.query[name] ?? '') === (asked[name] ?? ''))
  return (
    <nav class="facets" aria-label="Show">
      {facets.map(([words, asked, n]) => (
        <a
          class="facet"
          href={addressWith(at, { result: null, state: null, ...asked })}
          aria-current={isOn(asked) ? 'true' : undefined}
        >
          {words} <span class="n">{n.toLocaleString('en')}</span>
        </a>
      ))}
    </nav>
  )
}
