// The nodes of a roll-out, wave by wave.
import { windowInWords } from '../../../src/platform/roll-outs/windows.ts'
import { Icon } from '../../components/icon.tsx'
import { Clock, howLong, span, Time } from '../../components/time.tsx'
import { count } from '../../components/words.ts'
import { type Member, memberLooks, type RollOut } from './words.tsx'

export function Waves({ of: rollOut }: { of: RollOut }) {
  const waves = Map.groupBy(rollOut.members, ({ wave }) => wave)
  const inOrder = [...waves].toSorted(([a], [b]) => (a ?? Infinity) - (b ?? Infinity))
  return inOrder.map(([wave, members]) => <Wave rollOut={rollOut} wave={wave} members={members} />)
}

const nameOf = (wave: number | null) => (wave === null ? 'No part' : wave === 0 ? 'First node' : `Wave ${wave}`)

type WaveProps = { rollOut: RollOut; wave: number | null; members: readonly Member[] }
const Wave = ({ rollOut, wave, members }: WaveProps) => (
  <section class="wave" aria-label={nameOf(wave)}>
    <header>
      <h2>{nameOf(wave)}</h2>
      {wave !== null && (
        <span class="muted">
          {wave > 0 && `${members.length} at once, `}watched for {span(rollOut.watchSeconds * 1000)}
        </span>
      )}
      <span class="end">
        <WaveEnd rollOut={rollOut} wave={wave} members={members} />
      </span>
    </header>
    <ul class="cells">
      {members.map((one) => (
        <Cell rollOut={rollOut} of={one} />
      ))}
    </ul>
  </section>
)

function WaveEnd({ rollOut, wave, members }: WaveProps) {
  if (wave === null) return null
  const open = members.filter(({ state }) => state === 'waiting' || state === 'updating')
  const ends = members.flatMap(({ endedAt }) => endedAt ?? []).toSorted()
  const last = ends.at(-1)
  if (rollOut.wave === wave && rollOut.watchUntil && rollOut.state === 'running')
    return (
      <>
        watched until <Clock iso={rollOut.watchUntil} />
      </>
    )
  if (open.length) return <>{rollOut.wave < wave ? 'waits' : `${count(open.length, 'node')} to go`}</>
  return last ? (
    <>
      ended <Clock iso={last} />
    </>
  ) : null
}

function Cell({ rollOut, of: member }: { rollOut: RollOut; of: Member }) {
  const { shape, tone, cell } = memberLooks[member.state]
  return (
    <li class={cell}>
      <span class={`st ${tone}`}>
        <Icon name={member.waitsFor === 'away' ? 'away' : shape} />
      </span>
      <b>{member.name}</b>
      <small>
        <About rollOut={rollOut} of={member} />
      </small>
    </li>
  )
}

function About({ rollOut, of: member }: { rollOut: RollOut; of: Member }) {
  const { state, waitsFor, startedAt, trialAt, endedAt } = member
  const { words } = memberLooks[state]
  if (state === 'waiting' && waitsFor === 'away') return <>away: when it is back</>
  if (state === 'waiting' && waitsFor === 'window') {
    const windows = new Set(rollOut.windows.map(windowInWords))
    return <>{windows.size === 1 ? `in its window, ${[...windows][0]}` : 'waits for its window'}</>
  }
  if (state === 'updating') return <>{trialAt ? 'on trial' : startedAt ? <Time iso={startedAt} /> : words}</>
  if (state === 'done' && endedAt)
    return (
      <>
        <Clock iso={endedAt} />
        {trialAt && startedAt && `, ${howLong(startedAt, trialAt, 0)}`}
      </>
    )
  return (
    <>
      {words}
      {endedAt && (
        <>
          , <Clock iso={endedAt} />
        </>
      )}
    </>
  )
}
