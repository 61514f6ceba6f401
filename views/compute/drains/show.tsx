// A drain: how far it is, what failed, and what can be done about it.
import type { AssetName } from '../../../public/assets.ts'
import { cancelDrain, pauseDrain, resumeDrain } from '../../../src/compute/drains/control.ts'
import { evacuate } from '../../../src/compute/drains/evacuate.ts'
import { getDrain } from '../../../src/compute/drains/list.ts'
import { getMaintenance } from '../../../src/compute/drains/maintenance.ts'
import { ifNamed, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import { Select } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import type { IconName } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Note, Section } from '../../components/section.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Exact, howLong } from '../../components/time.tsx'
import { bytes, count } from '../../components/words.ts'
import { downtime, duration, modeWords } from '../transfers/words.tsx'
import { EndMaintenance } from './end.tsx'
import { FailedNow, ServerMenu } from './failed.tsx'
import { Outcome, type ShownMaintenance, WhatHappened } from './outcome.tsx'
import { type Drain, type DrainServer, ServerLink, ServerState, serverStates, titleOf } from './words.tsx'

const reads = {
  drain: getDrain,
  /** Once it has ended, until its node is opened. */
  maintenance: ifNamed(getMaintenance, (_, { drain }: { drain: Drain }) =>
    drain.kind === 'drain' && drain.finishedAt !== null && drain.returnedAt === null
      ? { params: { id: drain.node.id }, query: {} }
      : undefined,
  ),
}

export const drainPage = page({
  path: '/admin/drains/{id}',
  reads,
  title: ({ drain }) => titleOf(drain),
  nav: 'nodes',
  files: ['moves.css'] satisfies AssetName[],
  view: ({ drain, maintenance }) => <DrainPage drain={drain} maintenance={maintenance} />,
})

function DrainPage({ drain, maintenance }: { drain: Drain; maintenance: ShownMaintenance | undefined }) {
  const ended = drain.finishedAt !== null
  return (
    <Live id="drain" every={ended && !drain.counts.stopping ? undefined : 2}>
      <Head
        title={titleOf(drain)}
        trail={[
          ['Nodes', '/admin/nodes'],
          [drain.node.name, `/admin/nodes/${drain.node.id}`],
        ]}
        state={<DrainStateTag of={drain} />}
        sub={<Facts drain={drain} />}
        actions={<Actions drain={drain} />}
      />
      {drain.waitsFor && (
        <Note level="warn">
          <strong>No move begins now.</strong> {drain.waitsFor}
        </Note>
      )}
      {!ended && <FailedNow drain={drain} />}
      {ended ? <Outcome drain={drain} /> : <Progress drain={drain} />}
      {ended && <WhatHappened drain={drain} maintenance={maintenance} />}
      {drain.servers.length > 0 && (
        <Table label="Servers" rows={drain.servers} idOf={({ id }) => id} columns={columnsFor(drain)} />
      )}
    </Live>
  )
}

const drainStates: Record<Drain['state'], { words: string; tone: Tone; shape: IconName }> = {
  running: { words: 'Running', tone: 'work', shape: 'work' },
  paused: { words: 'Paused', tone: 'warn', shape: 'wait' },
  cancelling: { words: 'Being cancelled', tone: 'work', shape: 'work' },
  cancelled: { words: 'Cancelled', tone: 'idle', shape: 'stop' },
  done: { words: 'Done', tone: 'ok', shape: 'tick' },
}
export const DrainStateTag = ({ of: { state, pausedBy } }: { of: Pick<Drain, 'state' | 'pausedBy'> }) => {
  const { words, tone, shape } = drainStates[state]
  return (
    <State tone={tone} shape={shape} tag>
      {pausedBy === 'failure' ? 'Paused by a failure' : words}
    </State>
  )
}

const Facts = ({ drain: { createdAt, startedBy, counts, jobId, pausedAt } }: { drain: Drain }) => (
  <>
    <span>
      started <Exact iso={createdAt} /> by {startedBy.name}
    </span>
    <span>
      {counts.moved} of {counts.servers} moved
    </span>
    {pausedAt && <span>paused for {howLong(pausedAt, null, useAt().now)}</span>}
    <span>
      <Link href={`/admin/jobs/${jobId}`}>job</Link>
    </span>
  </>
)

const MovesAtWork = ({ scope }: { scope: string }) => (
  <Select
    scope={scope}
    name="moves"
    label="Moves at work"
    value="finish"
    options={[
      { value: 'finish', label: 'come to their end' },
      { value: 'cancel', label: 'are cancelled: those servers run on where they are' },
    ]}
  />
)

function Actions({ drain }: { drain: Drain }) {
  const params = { id: drain.id }
  if (drain.finishedAt !== null) return <Afterwards drain={drain} />
  return (
    <>
      {drain.state === 'running' && (
        <Action
          op={pauseDrain}
          params={params}
          label="Pause"
          icon="square"
          title="Pause the drain?"
          done="It is paused"
          confirm={{ keep: 'Go on', consequences: ['No further move begins until somebody resumes it.'] }}
          fields={<MovesAtWork scope="pause" />}
        />
      )}
      {drain.state === 'paused' && (
        <Action
          op={resumeDrain}
          params={params}
          label={drain.pausedBy === 'failure' ? 'Continue with the others' : 'Resume'}
          icon="play"
          tone="pri"
          done="It goes on"
        />
      )}
      <Action
        op={cancelDrain}
        params={params}
        label="Cancel drain"
        title="Cancel the drain?"
        done="It is being cancelled"
        confirm={{
          keep: 'Leave it as it is',
          consequences: [
            'Servers that have moved stay where they are now.',
            drain.kind === 'drain' && `${drain.node.name} stays closed for new servers.`,
          ],
        }}
        fields={<MovesAtWork scope="cancel" />}
      />
    </>
  )
}

/** The ways on from a drain that has ended: stop what is left, and end the maintenance. */
function Afterwards({ drain: { id, kind, node, counts, returnedAt } }: { drain: Drain }) {
  if (kind !== 'drain' || returnedAt !== null) return null
  const left = counts.servers - counts.moved - counts.gone - counts.stopped
  return (
    <>
      <EndMaintenance node={node} moved={counts.moved} stopped={counts.stopped} />
      {left > 0 && (
        <Action
          op={evacuate}
          params={{ id }}
          body={{ name: node.name }}
          label="Stop what is left"
          tone="bad"
          title={`Stop what is left on ${node.name}?`}
          done="They are being stopped"
          confirm={{
            type: node.name,
            keep: 'Let them run',
            consequences: [
              `${count(left, 'server')} on ${node.name} ${left === 1 ? 'is' : 'are'} shut down, as far as running.`,
              'Their owners are told at once, by mail and in the panel.',
              'They stay off until the maintenance ends; then they are started again.',
            ],
          }}
        />
      )}
    </>
  )
}

const parts = [
  ['moved', 'ok'],
  ['moving', 'work'],
  ['failed', 'bad'],
  ['waiting', 'idle'],
  ['left', 'hold'],
  ['stopped', 'hold'],
  ['gone', 'idle'],
] as const satisfies readonly (readonly [DrainServer['state'], Tone])[]

function Progress({ drain: { counts } }: { drain: Drain }) {
  const shown = parts.filter(([state]) => counts[state] > 0)
  const stay = counts.left + counts.failed
  let at = 0
  return (
    <Section id="progress" title="Progress" quiet first>
      <div class="big">
        <b>{counts.moved}</b>
        <span class="muted">
          of {count(counts.servers, 'server')} {counts.moved === 1 ? 'has' : 'have'} moved
          {stay > 0 && ` · ${stay} did not`}
        </span>
      </div>
      <svg
        class="mix"
        viewBox={`0 0 ${counts.servers} 10`}
        preserveAspectRatio="none"
        role="img"
        aria-label={shown.map(([state]) => `${counts[state]} ${serverStates[state].words.toLowerCase()}`).join(', ')}
      >
        {shown.map(([state, tone]) => {
          const x = at
          at += counts[state]
          return <rect class={tone} x={x} y={0} width={counts[state]} height={10} />
        })}
      </svg>
      <div class="legend">
        {shown.map(([state]) => (
          <span>
            <ServerState state={state} />
            <b>{counts[state]}</b>
          </span>
        ))}
      </div>
    </Section>
  )
}

const columnsFor = (drain: Drain): Column<DrainServer>[] => [
  {
    title: 'Server',
    kind: 'name',
    width: 28,
    cell: (one) => (
      <>
        {one.transferId ? (
          <Link href={`/admin/transfers/${one.transferId}`}>{one.hostname}</Link>
        ) : (
          <ServerLink of={one} />
        )}
        {one.reason && <small title={one.reason}>{one.reason}</small>}
      </>
    ),
  },
  { title: 'State', kind: 'state', width: 16, cell: ({ state }) => <ServerState state={state} /> },
  {
    title: 'Goes to',
    kind: 'addr',
    width: 14,
    cell: ({ to, chosenNode }) => (
      <>
        {to?.name ?? '–'}
        {chosenNode && <small>chosen</small>}
      </>
    ),
  },
  { title: 'How', kind: 'mid', width: 11, cell: ({ mode }) => (mode ? modeWords[mode] : '–') },
  {
    title: 'Copied',
    kind: 'mid',
    num: true,
    width: 9,
    cell: ({ bytesCopied }) => (bytesCopied ? bytes(bytesCopied) : '–'),
  },
  {
    title: 'Downtime',
    num: true,
    width: 9,
    cell: ({ downtimeMs }) => (downtimeMs === null ? '–' : downtime(downtimeMs)),
  },
  {
    title: 'Announced',
    num: true,
    width: 9,
    cell: ({ expectedDowntimeMs: ms }) => (ms ? duration(ms / 1000) : '–'),
  },
  ...(drain.finishedAt === null
    ? [{ title: 'Actions', kind: 'more', cell: (one: DrainServer) => <ServerMenu drain={drain} one={one} /> } as const]
    : []),
]
