import type { listTransfers } from '../../../src/compute/transfers/list.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import type { IconName } from '../../components/icon.tsx'
import { State, type Tone } from '../../components/state.tsx'

export type Transfer = Answers<{ transfers: typeof listTransfers }>['transfers']['data'][number]

export const transferStates: Record<Transfer['state'], { words: string; tone: Tone; shape: IconName }> = {
  queued: { words: 'Waiting', tone: 'idle', shape: 'wait' },
  copying: { words: 'Copying', tone: 'work', shape: 'work' },
  switching: { words: 'Switching over', tone: 'work', shape: 'work' },
  finished: { words: 'Moved', tone: 'ok', shape: 'tick' },
  failed: { words: 'Failed, stayed', tone: 'bad', shape: 'fail' },
  cancelled: { words: 'Cancelled', tone: 'idle', shape: 'stop' },
}
export const TransferState = ({ of: { state }, tag }: { of: Transfer; tag?: boolean }) => {
  const { words, tone, shape } = transferStates[state]
  return (
    <State tone={tone} shape={shape} tag={tag}>
      {words}
    </State>
  )
}

export const modeWords: Record<Transfer['mode'], string> = {
  near_live: 'Short stop',
  cold: 'Shut down',
  reassigned: 'Waiting for setup',
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
