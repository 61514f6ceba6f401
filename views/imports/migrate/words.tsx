// A server that moves, in words and shapes.
import type { getImportProgress, listMoves } from '../../../src/imports/migrate/list.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import type { IconName } from '../../components/icon.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { span } from '../../components/time.tsx'
import { bytes } from '../../components/words.ts'
import { duration } from '../../compute/transfers/words.tsx'

export type Move = Answers<{ moves: typeof listMoves }>['moves']['data'][number]
export type Progress = Answers<{ progress: typeof getImportProgress }>['progress']

type Look = { words: string; tone: Tone; shape: IconName }
export const moveLooks: Record<Move['state'], Look> = {
  waiting: { words: 'Waiting', tone: 'warn', shape: 'wait' },
  moving: { words: 'Moving', tone: 'work', shape: 'work' },
  moved: { words: 'Moved', tone: 'ok', shape: 'tick' },
  failed: { words: 'Failed', tone: 'bad', shape: 'fail' },
  rolling_back: { words: 'Going back', tone: 'warn', shape: 'work' },
  rolled_back: { words: 'Rolled back', tone: 'hold', shape: 'stop' },
}
const isAtWork = ({ state }: Move) => state === 'moving' || state === 'rolling_back'

export function MoveState({ of, tag }: { of: Move; tag?: boolean }) {
  const { words, tone, shape } = moveLooks[of.state]
  return (
    <State tone={tone} shape={shape} tag={tag}>
      {isAtWork(of) && of.percent !== null ? `${words} ${of.percent} %` : words}
    </State>
  )
}

/** Where it runs now: the first thing to know of a server that moves. */
export function Runs({ of }: { of: Move }) {
  const { whereItRuns, hypervisor, node } = of
  const appearances = {
    source: ['idle', 'run', `At ${hypervisor.name}`],
    here: ['ok', 'run', `Here, ${node?.name ?? 'on a node'}`],
    nowhere: isAtWork(of) ? ['warn', 'stop', 'Off, on its way'] : ['bad', 'stop', 'Off'],
    unknown: ['bad', 'away', 'Unknown: node away'],
  } as const satisfies Record<Move['whereItRuns'], readonly [Tone, IconName, string]>
  const [tone, shape, words] = appearances[whereItRuns]
  return (
    <State tone={tone} shape={shape}>
      {words}
    </State>
  )
}

/** The same in a sentence. */
export const runsWords = ({ whereItRuns, hypervisor, node }: Move): string =>
  whereItRuns === 'source'
    ? `runs at ${hypervisor.name} as before`
    : whereItRuns === 'here'
      ? `runs here, on ${node?.name ?? 'its node'}`
      : whereItRuns === 'nowhere'
        ? 'is off'
        : 'may run or not: its node is away'

export const downtimeWords = ({ downtimeMs, state, whereItRuns }: Move): string =>
  downtimeMs === null
    ? state === 'moving' && whereItRuns === 'source'
      ? 'runs'
      : '–'
    : whereItRuns === 'nowhere' && (state === 'moving' || state === 'rolling_back')
      ? `${span(downtimeMs)} so far`
      : downtimeMs < 1000
        ? 'under 1 s'
        : span(downtimeMs)

/** Bytes, rate and the time that is left. */
export const copyWords = ({ bytesCopied, bytesTotal, bytesPerSecond, secondsLeft }: Move): string =>
  [
    bytesCopied !== null && bytesTotal !== null && bytesTotal > 0 && `${bytes(bytesCopied)} of ${bytes(bytesTotal)}`,
    bytesPerSecond !== null && `${bytes(bytesPerSecond)}/s`,
    secondsLeft !== null && `${duration(secondsLeft)} left`,
  ]
    .filter(Boolean)
    .join(' · ')
