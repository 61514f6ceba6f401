import type { getRolling } from '../../../../src/compute/drains/rolling/rolling.ts'
import type { Answers } from '../../../../src/kernel/web/page.ts'
import type { IconName } from '../../../components/icon.tsx'
import { State, type Tone } from '../../../components/state.tsx'
import { count } from '../../../components/words.ts'

export type Rolling = Answers<{ rolling: typeof getRolling }>['rolling']
export type RollingNode = Rolling['nodes'][number]

/** The page above those of one. */
export const trail = [
  ['Nodes', '/admin/nodes'],
  ['Rolling maintenance', '/admin/rolling-maintenance'],
] as const

export const titleOf = ({ nodes }: Pick<Rolling, 'nodes'>) => `Maintenance of ${count(nodes.length, 'node')}`

type Look = { words: string; tone: Tone; shape: IconName }
const states: Record<Rolling['state'], Look> = {
  running: { words: 'Under way', tone: 'work', shape: 'work' },
  paused: { words: 'Paused by a failure', tone: 'warn', shape: 'wait' },
  cancelled: { words: 'Cancelled', tone: 'idle', shape: 'stop' },
  done: { words: 'Done', tone: 'ok', shape: 'tick' },
}
const needsPerson: Look = { words: 'Waits for you', tone: 'warn', shape: 'wait' }

/** It waits for the word that the work on the node at hand is done. */
export const isAtWork = ({ state, phase }: Pick<Rolling, 'state' | 'phase'>) =>
  state === 'running' && phase === 'working'

const Shown = ({ look: { words, tone, shape }, tag }: { look: Look; tag?: boolean | undefined }) => (
  <State tone={tone} shape={shape} tag={tag}>
    {words}
  </State>
)
export const RollingState = ({ of, tag }: { of: Pick<Rolling, 'state' | 'phase' | 'waitsFor'>; tag?: boolean }) => (
  <Shown look={isAtWork(of) && of.waitsFor === 'person' ? needsPerson : states[of.state]} tag={tag} />
)

const phases: Record<Rolling['phase'], Look> = {
  draining: { words: 'Being emptied', tone: 'work', shape: 'work' },
  working: { words: 'Empty, being worked on', tone: 'hold', shape: 'hold' },
  returning: { words: 'Servers come back', tone: 'work', shape: 'work' },
}
const nodeStates: Record<Exclude<RollingNode['state'], 'at_hand'>, Look> = {
  waiting: { words: 'Waiting', tone: 'idle', shape: 'wait' },
  done: { words: 'Done', tone: 'ok', shape: 'tick' },
  skipped: { words: 'Skipped', tone: 'hold', shape: 'stop' },
}
const stopped: Look = { words: 'Stopped here', tone: 'bad', shape: 'fail' }
const notDone: Look = { words: 'Not done', tone: 'idle', shape: 'stop' }
/** How far one of the nodes is. */
export const RollingNodeState = ({ of: { state }, rolling }: { of: RollingNode; rolling: Rolling }) => (
  <Shown
    look={
      state === 'at_hand'
        ? rolling.state === 'paused'
          ? stopped
          : phases[rolling.phase]
        : state === 'waiting' && rolling.finishedAt !== null
          ? notDone
          : nodeStates[state]
    }
  />
)
