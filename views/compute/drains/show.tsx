// A drain: how far it is, what failed, and what can be done about it.
import { cancelDrain, pauseDrain, resumeDrain, retryServer } from '../../../src/compute/drains/control.ts'
import { evacuate } from '../../../src/compute/drains/evacuate.ts'
import { getDrain } from '../../../src/compute/drains/list.ts'
import { returnToNode } from '../../../src/compute/drains/return.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action } from '../../components/action.tsx'
import { Check, Select } from '../../components/field.tsx'
import { Figure, Stats } from '../../components/figures.tsx'
import { Head } from '../../components/head.tsx'
import type { IconName } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Note, Section } from '../../components/section.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { howLong, Moment } from '../../components/time.tsx'
import { bytes, count } from '../../components/words.ts'
import { downtime, duration, modeWords } from '../transfers/words.tsx'
import { type Drain, type DrainServer, ServerLink, titleOf } from './words.tsx'

const reads = { drain: getDrain }

export const drainPage = page({
  path: '/admin/drains/{id}',
  reads,
  title: ({ drain }) => titleOf(drain),
  nav: 'nodes',
  view: ({ drain }) => <DrainPage drain={drain} />,
})

function DrainPage({ drain }: { drain: Drain }) {
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
      <Table label="Servers" rows={drain.servers} idOf={({ id }) => id} columns={columns} />
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

const Facts = ({ drain: { createdAt, startedBy, counts, jobId } }: { drain: Drain }) => (
  <>
    <span>
      started <Moment iso={createdAt} /> by {startedBy.name}
    </span>
    <span>
      {counts.moved} of {counts.servers} moved
    </span>
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

type EndProps = { node: { id: string; name: string }; moved: number; stopped: number }
export const EndMaintenance = ({ node, moved, stopped }: EndProps) => (
  <Action
    op={returnToNode}
    params={{ id: node.id }}
    label="End maintenance"
    icon="play"
    tone="pri"
    title={`End the maintenance of ${node.name}?`}
    done={`${node.name} is open`}
    leadsTo={`/admin/nodes/${node.id}`}
    confirm={{
      keep: 'Keep it closed',
      consequences: [
        `${node.name} takes new servers again.`,
        stopped > 0 && `${count(stopped, 'server')} that ${stopped === 1 ? 'was' : 'were'} stopped there start again.`,
        moved > 0 && 'Servers that come back move as they left: those that run are off for a moment.',
      ],
    }}
    fields={
      moved > 0 && (
        <Check
          scope={`end-${node.id}`}
          name="bringBack"
          label={`Bring ${count(moved, 'server')} back`}
          hint="Without it they stay where they are."
        />
      )
    }
  />
)

/** At most so many failures are shown above the list, which has all of them. */
const FAILURES_SHOWN = 5

const FailedNow = ({ drain }: { drain: Drain }) =>
  drain.servers
    .filter(({ state }) => state === 'failed')
    .slice(0, FAILURES_SHOWN)
    .map((one) => (
      <Note
        level="bad"
        action={
          <>
            <Action
              op={retryServer}
              params={{ id: drain.id }}
              body={{ serverId: one.id }}
              label="Try again"
              of={one.hostname}
              icon="refresh"
              done={`${one.hostname} is tried again`}
            />
            {one.transferId && (
              <Link class="btn" href={`/admin/transfers/${one.transferId}`}>
                Open move
              </Link>
            )}
          </>
        }
      >
        <strong>{one.hostname} could not move.</strong> {one.reason} It is where it was.
      </Note>
    ))

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
  let at = 0
  return (
    <Section
      id="progress"
      title={`${counts.moved} of ${count(counts.servers, 'server')} ${counts.moved === 1 ? 'has' : 'have'} moved`}
      first
    >
      <svg
        width="100%"
        height={10}
        fill="currentColor"
        viewBox={`0 0 ${counts.servers} 10`}
        preserveAspectRatio="none"
        role="img"
        aria-label={shown.map(([state]) => `${counts[state]} ${serverStates[state].words.toLowerCase()}`).join(', ')}
      >
        {shown.map(([state, tone]) => {
          const x = at
          at += counts[state]
          return <rect class={`st ${tone}`} x={x} y={0} width={counts[state]} height={10} />
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

const serverStates: Record<DrainServer['state'], { words: string; tone: Tone; shape: IconName }> = {
  waiting: { words: 'Waiting', tone: 'idle', shape: 'wait' },
  moving: { words: 'Moving', tone: 'work', shape: 'work' },
  moved: { words: 'Moved', tone: 'ok', shape: 'tick' },
  failed: { words: 'Failed, stayed', tone: 'bad', shape: 'fail' },
  left: { words: 'Cannot move', tone: 'hold', shape: 'hold' },
  gone: { words: 'Gone by itself', tone: 'idle', shape: 'tick' },
  stopping: { words: 'Being stopped', tone: 'work', shape: 'work' },
  stopped: { words: 'Stopped', tone: 'hold', shape: 'stop' },
}
const ServerState = ({ state }: { state: DrainServer['state'] }) => {
  const { words, tone, shape } = serverStates[state]
  return (
    <State tone={tone} shape={shape}>
      {words}
    </State>
  )
}

const planned = ({ expectedSeconds, pausedSeconds }: Drain) =>
  `planned ${duration(expectedSeconds)} at most` + (pausedSeconds ? `, paused ${duration(pausedSeconds)}` : '')

/** The figures at the end, beside what was planned. */
function Outcome({ drain }: { drain: Drain }) {
  const { now } = useAt()
  const { counts, servers } = drain
  const moved = servers.filter(({ state }) => state === 'moved')
  const times = moved.flatMap(({ downtimeMs }) => downtimeMs ?? []).toSorted((a, b) => a - b)
  const copied = moved.reduce((sum, { bytesCopied }) => sum + bytesCopied, 0)
  const stays = counts.servers - counts.moved - counts.gone
  return (
    <Stats>
      <Figure
        title="Moved"
        n={counts.moved}
        of={`of ${counts.servers}`}
        words={counts.gone ? `${counts.gone} gone` : ''}
      />
      <Figure title="Took" n={howLong(drain.createdAt, drain.finishedAt, now)} words={planned(drain)} />
      {times.length > 0 && (
        <Figure
          title="Median downtime"
          n={downtime(times[Math.floor(times.length / 2)]!)}
          words={`longest ${downtime(times.at(-1)!)}`}
        />
      )}
      <Figure title="Copied" n={bytes(copied)} />
      <Figure title={drain.kind === 'drain' ? 'Still here' : 'Not brought back'} n={stays} bad={stays > 0} />
    </Stats>
  )
}

const columns: Column<DrainServer>[] = [
  {
    title: 'Server',
    kind: 'name',
    width: 32,
    cell: (one) => (
      <>
        <ServerLink of={one} />
        {one.reason && <small title={one.reason}>{one.reason}</small>}
      </>
    ),
  },
  { title: 'State', kind: 'state', width: 18, cell: ({ state }) => <ServerState state={state} /> },
  {
    title: 'Goes to',
    kind: 'addr',
    width: 16,
    cell: ({ to }) => to?.name ?? '–',
  },
  { title: 'How', kind: 'mid', width: 12, cell: ({ mode }) => (mode ? modeWords[mode] : '–') },
  {
    title: 'Downtime',
    num: true,
    width: 11,
    cell: ({ downtimeMs }) => (downtimeMs === null ? '–' : downtime(downtimeMs)),
  },
  {
    title: 'Announced',
    num: true,
    width: 11,
    cell: ({ expectedDowntimeMs: ms }) => (ms ? duration(ms / 1000) : '–'),
  },
]
