// The servers that have moved, with their checks, and what a person does about an open one.
import { getDryRun } from '../../../src/imports/dry-run/result.ts'
import { getImport } from '../../../src/imports/imports/imports.ts'
import {
  acceptServer,
  checkAllServers,
  checkServer,
  getVerification,
  listVerification,
} from '../../../src/imports/verify/verification.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import { Mix } from '../../components/figures.tsx'
import type { IconName } from '../../components/icon.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Command, Empty, Section } from '../../components/section.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { addressWith, type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { count } from '../../components/words.ts'
import { ImportFrame } from '../imports/frame.tsx'
import { type Import, importFiles, titleOf } from '../imports/words.tsx'
import { listed } from '../mapping/frame.tsx'

const filters = ['result', 'nodeId', 'q']
const reads = {
  import: reading(getImport, ({ params }) => ({ params })),
  verification: reading(getVerification, ({ params }) => ({ params })),
  servers: reading(listVerification, ({ params, query }) => ({ params, query: listed(query, filters) })),
  dryRun: reading(getDryRun, ({ params }) => ({ params })),
}
type Data = Answers<typeof reads>
type Checked = Data['servers']['data'][number]
type Counts = Data['verification']

export const verifyPage = page({
  path: '/admin/imports/{id}/verify',
  reads,
  title: ({ import: of }) => `Verify ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: (data) => <VerifyPage {...data} />,
})

function VerifyPage({ import: of, verification: counts, servers, dryRun }: Data) {
  return (
    <ImportFrame of={of} step="verify" isWhole actions={<Actions of={of} counts={counts} />}>
      {counts.moved + counts.rolledBack === 0 ? (
        <Empty
          title="Nothing to check yet"
          action={
            <Link class="btn" to="/admin/imports/{id}/migrate" params={{ id: of.id }}>
              Open Migrate
            </Link>
          }
        >
          Each server is checked by itself as soon as it has moved: whether it runs, answers, and has its new addresses.
        </Empty>
      ) : (
        <>
          <Section id="result" title="Result" quiet first>
            <Mix shares={sharesOf(counts)} />
          </Section>
          <Facets counts={counts} of={of} />
          <List
            of={servers}
            noun="server"
            filters={[
              { name: 'q', label: 'Server or address', placeholder: 'Server or address' },
              { name: 'nodeId', label: 'Node', options: dryRun.nodes.map(({ id, name }) => [id, name]) },
              { name: 'result', label: 'Result', value: 'one' },
            ]}
            empty={<Empty>Every server that had moved was rolled back.</Empty>}
          >
            <Table label="Checks by server" rows={servers.data} columns={columnsOf(of)} idOf={({ id }) => id} stick />
          </List>
          {servers.data.map((one) => one.byHand && <ByHand of={one} lines={one.byHand} />)}
        </>
      )}
    </ImportFrame>
  )
}

const Actions = ({ of, counts }: { of: Import; counts: Counts }) => (
  <>
    {of.actions.includes('check') && counts.open + counts.waiting > 0 && (
      <Action
        op={checkAllServers}
        params={{ id: of.id }}
        label="Check all again"
        icon="refresh"
        done="Every server with an open check is checked again"
      />
    )}
    {of.actions.includes('finish') && (
      <Link
        class={`btn${counts.open + counts.waiting ? '' : ' pri'}`}
        to="/admin/imports/{id}/finish"
        params={{ id: of.id }}
      >
        Finish
      </Link>
    )}
  </>
)

const sharesOf = (n: Counts) =>
  (
    [
      { name: 'All checks pass', n: n.passed, tone: 'ok', shape: 'tick' },
      { name: 'Marked as fine', n: n.accepted, tone: 'ok', shape: 'tick' },
      { name: 'Check open', n: n.open, tone: 'warn', shape: 'away' },
      { name: 'Being checked', n: n.waiting, tone: 'work', shape: 'work' },
      { name: 'Not moved', n: n.notMoved, tone: 'idle', shape: 'stop' },
      { name: 'Rolled back', n: n.rolledBack, tone: 'hold', shape: 'stop' },
    ] as const
  ).filter((one) => one.n > 0)

/** Counts by result, each a filter of the list; those that have not moved are on the page of their moves. */
function Facets({ counts, of }: { counts: Counts; of: Import }) {
  const at = useAt()
  const facets = [
    ['All', null, counts.moved],
    ['Open', 'open', counts.open],
    ['Pass', 'passed', counts.passed],
    ['Marked as fine', 'accepted', counts.accepted],
    ['Being checked', 'waiting', counts.waiting],
  ] as const
  return (
    <nav class="facets" aria-label="Show">
      {facets.map(([words, result, n]) => (
        <a
          class="facet"
          href={addressWith(at, { result })}
          aria-current={(at.query['result'] ?? null) === result ? 'true' : undefined}
        >
          {words} <span class="n">{n.toLocaleString('en')}</span>
        </a>
      ))}
      {counts.notMoved > 0 && (
        <Link class="facet" to="/admin/imports/{id}/migrate" params={{ id: of.id }} query={{ state: 'failed' }}>
          Not moved <span class="n">{counts.notMoved.toLocaleString('en')}</span>
        </Link>
      )}
    </nav>
  )
}

type Code = Checked['checks'][number]['code']
const passes: Partial<Record<Code, string>> = { runs: 'Runs', reached: 'Answers', addresses: 'Set inside' }
const opens: Partial<Record<Code, readonly [Tone, IconName, string]>> = {
  runs: ['bad', 'fail', 'Does not run'],
  reached: ['bad', 'fail', 'No answer'],
  addresses: ['warn', 'wait', 'Pending'],
}
/** One check in its column; `none`: where it was not made. */
const Checks = ({ of, code, none }: { of: Checked; code: Code; none: string }) => {
  const check = of.checks.find((one) => one.code === code)
  if (!check) return <span class="muted">{of.checks.length ? none : '–'}</span>
  const [tone, shape, words] =
    check.result === 'passed'
      ? (['ok', 'tick', passes[code] ?? 'Passes'] as const)
      : check.result === 'skipped'
        ? (['idle', 'dot', 'Not needed'] as const)
        : (opens[code] ?? (['warn', 'away', 'Open'] as const))
  return (
    <State tone={tone} shape={shape}>
      {words}
    </State>
  )
}

const Meaning = ({ of }: { of: Checked }) => {
  if (of.result === 'accepted') return <span class="why">{`${of.acceptedBy} has marked it as fine`}</span>
  if (of.isAsked || of.result === 'waiting') return <span class="muted">Being checked</span>
  const open = of.checks.filter(({ result }) => result === 'open')
  if (!open.length) return <span class="muted">{of.checkedAt && <Time iso={of.checkedAt} />}</span>
  return (
    <span class="why">
      {open.map(({ words }) => words).join(' ')}
      {of.nextCheckAt && (
        <>
          {' '}
          Checked again <Time iso={of.nextCheckAt} />.
        </>
      )}
    </span>
  )
}

/** One button for an open check, and the way back. */
function Next({ of, server }: { of: Import; server: Checked }) {
  const params = { id: server.id }
  const next = server.checks.find(({ result }) => result === 'open')?.next
  const isOpen = server.result === 'open' && of.actions.includes('check')
  const here = server.workloadId
  return (
    <span class="bar">
      {isOpen && next === 'accept' && (
        <Action
          op={acceptServer}
          params={params}
          label="Mark as fine"
          of={server.hostname}
          small
          done={`${server.hostname} is marked as fine`}
        />
      )}
      {isOpen && (next === 'console' || next === 'start') && here && (
        <Link
          class="btn s"
          href={next === 'console' ? `/admin/servers/${here}/console` : `/admin/servers/${here}`}
          aria-label={`${next === 'console' ? 'Open console' : 'Open server'} of ${server.hostname}`}
        >
          {next === 'console' ? 'Open console' : 'Open server'}
        </Link>
      )}
      {isOpen && next === 'update_agent' && server.node && (
        <Link class="btn s" href={`/admin/nodes/${server.node.id}`} aria-label={`Update agent of ${server.node.name}`}>
          Update agent
        </Link>
      )}
      {isOpen && next !== 'accept' && next !== 'update_agent' && (
        <Action
          op={checkServer}
          params={params}
          label="Check again"
          of={server.hostname}
          small
          done={`${server.hostname} is checked again`}
        />
      )}
      {of.actions.includes('roll-back') && (
        <Link
          class="btn s"
          to="/admin/import-servers/{id}/roll-back"
          params={params}
          aria-label={`Roll back ${server.hostname}`}
        >
          Roll back
        </Link>
      )}
    </span>
  )
}

const columnsOf = (of: Import): readonly Column<Checked>[] => [
  {
    title: 'Server',
    kind: 'name',
    width: 22,
    cell: ({ id, hostname, node }) => (
      <>
        <Link to="/admin/import-servers/{id}" params={{ id }} title={hostname}>
          {hostname}
        </Link>
        <small>{node?.name}</small>
      </>
    ),
  },
  { title: 'Runs', kind: 'state', width: 12, cell: (one) => <Checks of={one} code="runs" none="not checked" /> },
  { title: 'Answers', kind: 'a', width: 12, cell: (one) => <Checks of={one} code="reached" none="not checked" /> },
  {
    title: 'Addresses',
    kind: 'b',
    width: 13,
    cell: (one) => <Checks of={one} code="addresses" none={one.isAddressNew ? 'not checked' : 'kept'} />,
  },
  { title: 'What it means', kind: 'wide', width: 25, cell: (one) => <Meaning of={one} /> },
  { title: 'Next', kind: 'wide', width: 16, cell: (one) => <Next of={of} server={one} /> },
]

type ByHandProps = { of: Checked; lines: NonNullable<Checked['byHand']> }
const ByHand = ({ of, lines: { lines, lasting, system } }: ByHandProps) => (
  <Section id={`hand-${of.id}`} title={`${of.hostname}: do it by hand`}>
    <p>
      {`Its system does not let Berth in, so ${count(lines.length, 'line')} of ${
        system === 'windows' ? 'PowerShell' : 'its shell'
      } give it its new addresses. Open its console and run them; Check again sees the result.`}
    </p>
    <Command text={lines.join('\n')} what={`the lines for ${of.hostname}`} />
    <div class="bar">
      {of.workloadId && (
        <Link class="btn" href={`/admin/servers/${of.workloadId}/console`}>
          <Icon name="terminal" />
          Open console
        </Link>
      )}
    </div>
    <p class="hint">{lasting}</p>
  </Section>
)
