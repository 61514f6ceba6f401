import type { listTransfers } from '../../../src/compute/transfers/list.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Icon, type IconName } from '../../components/icon.tsx'
import { State, type Tone } from '../../components/state.tsx'

export type Transfer = Answers<{ transfers: typeof listTransfers }>['transfers']['data'][number]

type Look = { words: string; tone: Tone; shape: IconName }
export const transferStates: Record<Transfer['state'], Look> = {
  queued: { words: 'Waiting', tone: 'idle', shape: 'wait' },
  copying: { words: 'Copying', tone: 'work', shape: 'work' },
  switching: { words: 'Switching over', tone: 'work', shape: 'work' },
  finished: { words: 'Moved', tone: 'ok', shape: 'tick' },
  failed: { words: 'Failed, stayed', tone: 'bad', shape: 'fail' },
  cancelled: { words: 'Cancelled', tone: 'idle', shape: 'stop' },
}
type Moved = Pick<Transfer, 'state' | 'progress' | 'downtimeMs' | 'expectedDowntimeMs'>
export const TransferState = ({ of, tag }: { of: Moved; tag?: boolean }) => {
  const { words, tone, shape } = transferStates[of.state]
  return (
    <State tone={tone} shape={shape} tag={tag}>
      {words}
      {of.state === 'copying' && ` ${of.progress} %`}
      {isLate(of) && ', longer off'}
    </State>
  )
}
/** It was off for longer than was announced. */
const isLate = ({ state, downtimeMs, expectedDowntimeMs }: Moved) =>
  state === 'finished' && expectedDowntimeMs > 0 && (downtimeMs ?? 0) > expectedDowntimeMs

/** From where to where. */
export const Flow = ({ from, to }: { from: string; to: string }) => (
  <span class="flow">
    <span>{from}</span>
    <Icon name="to" />
    <span class="sr"> to </span>
    <span>{to}</span>
  </span>
)

export const modeWords: Record<Transfer['mode'], string> = {
  live: 'While it runs',
  near_live: 'Short stop',
  cold: 'Shut down',
  reassigned: 'Waiting for setup',
}

/** How a server would move to a node; `none`: it cannot. */
export const modeLooks: Record<Transfer['mode'] | 'none', Look> = {
  live: { words: modeWords.live, tone: 'ok', shape: 'tick' },
  near_live: { words: modeWords.near_live, tone: 'warn', shape: 'wait' },
  cold: { words: modeWords.cold, tone: 'idle', shape: 'stop' },
  reassigned: { words: modeWords.reassigned, tone: 'idle', shape: 'wait' },
  none: { words: 'Cannot', tone: 'bad', shape: 'fail' },
}

/** `under 1 s`, `40 s`, `14 min`: rounded up, because it is announced. */
export function duration(seconds: number): string {
  if (seconds < 1) return 'under 1 s'
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  if (seconds < 5400) return `${Math.ceil(seconds / 60)} min`
  return `${Math.ceil(seconds / 3600)} h`
}
/** As it was measured. */
export const downtime = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)
