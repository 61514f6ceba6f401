import type { Answers } from '../../../src/kernel/web/page.ts'
import type { getRollOut, listRollOuts } from '../../../src/platform/roll-outs/roll-outs.ts'
import type { IconName } from '../../components/icon.tsx'
import { State, type Tone } from '../../components/state.tsx'

export type RollOut = Answers<{ rollOut: typeof getRollOut }>['rollOut']
export type Listed = Answers<{ rollOuts: typeof listRollOuts }>['rollOuts']['data'][number]
export type Member = RollOut['members'][number]

export const updatesTrail = [
  ['Controller host', '/admin/controller'],
  ['Updates', '/admin/controller/updates'],
] as const
/** The pages above that of one roll-out. */
export const trail = [...updatesTrail, ['Roll-outs', '/admin/roll-outs']] as const

export const titleOf = ({ version }: Pick<RollOut, 'version'>) => `Agents to ${version}`

type Look = { words: string; tone: Tone; shape: IconName }
const states: Record<Listed['state'], Look> = {
  running: { words: 'Under way', tone: 'work', shape: 'work' },
  paused: { words: 'Paused', tone: 'warn', shape: 'wait' },
  stopping: { words: 'Being stopped', tone: 'work', shape: 'work' },
  stopped: { words: 'Stopped', tone: 'idle', shape: 'stop' },
  done: { words: 'Done', tone: 'ok', shape: 'tick' },
}
export function RollOutState({ of, tag }: { of: Pick<Listed, 'state' | 'pausedBy'>; tag?: boolean }) {
  const { words, tone, shape } = states[of.state]
  return (
    <State tone={tone} shape={shape} tag={tag}>
      {of.pausedBy === 'failure' ? 'Paused by a failure' : words}
    </State>
  )
}

type NodeLook = Look & { cell: 'ok' | 'bad' | 'work' | 'idle' }
/** How far a node is; `words` for the second line of its cell. */
export const memberLooks: Record<Member['state'], NodeLook> = {
  waiting: { words: 'waits', tone: 'idle', shape: 'wait', cell: 'idle' },
  updating: { words: 'is updated', tone: 'work', shape: 'work', cell: 'work' },
  done: { words: 'updated', tone: 'ok', shape: 'tick', cell: 'ok' },
  already: { words: 'runs it already', tone: 'ok', shape: 'tick', cell: 'ok' },
  left_out: { words: 'left out', tone: 'hold', shape: 'stop', cell: 'idle' },
  by_package: { words: 'updated with apt', tone: 'hold', shape: 'stop', cell: 'idle' },
  by_person: { words: 'updated by hand', tone: 'hold', shape: 'stop', cell: 'idle' },
  refused: { words: 'refused', tone: 'bad', shape: 'fail', cell: 'bad' },
  failed: { words: 'failed', tone: 'bad', shape: 'fail', cell: 'bad' },
  went_back: { words: 'went back', tone: 'bad', shape: 'fail', cell: 'bad' },
  not_back: { words: 'does not answer', tone: 'bad', shape: 'fail', cell: 'bad' },
}
