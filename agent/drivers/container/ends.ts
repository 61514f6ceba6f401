// Why a container ended, in words for its owner.
import { constants } from 'node:os'
import type { ContainerEnd } from '../../protocol/gpu.ts'

export type Known = {
  /** Null: the engine does not know it. */
  exitCode: number | null
  /** Processes of it that the kernel killed because its memory was full, since it started. */
  oomKills: number
  /** One of them just before it ended. */
  justKilled: boolean
  memoryMb: number
  /** Bytes outside its workspace, because of which the agent ended it; 0: it did not. */
  filledBytes: number
  /** Errors of its cards since it started, in words. */
  troubles: readonly string[]
}

const SIGNALLED = 128
const LONGEST_DETAIL = 300

export function endOf({ exitCode, oomKills, justKilled, memoryMb, filledBytes, troubles }: Known): ContainerEnd {
  if (filledBytes) return { exitCode, oomKilled: false, detail: FILLED }
  const oomKilled = justKilled && exitCode === SIGNALLED + constants.signals.SIGKILL
  const earlier =
    oomKilled || !oomKills
      ? []
      : [`Before, its memory (${memoryMb} MiB) was full, and the kernel killed ${processes(oomKills)}.`]
  const detail = [
    oomKilled ? `Its memory (${memoryMb} MiB) was full, and the kernel killed its command.` : wordsOf(exitCode),
    ...earlier,
    ...troubles,
  ].join(' ')
  return { exitCode, oomKilled, detail: detail.slice(0, LONGEST_DETAIL) }
}

const FILLED = 'It had filled the disk of its host outside /workspace. All that it had written there is deleted.'

const processes = (count: number) => (count === 1 ? 'one of its processes' : `${count} of its processes`)

function wordsOf(exitCode: number | null): string {
  if (exitCode === null) return 'Its process is gone, and the container engine does not know why.'
  if (exitCode === 0) return 'Its command ended.'
  if (exitCode === 126) return 'Its command cannot be executed.'
  if (exitCode === 127) return 'Its command was not found.'
  const signal = Object.entries(constants.signals).find(([, number]) => number === exitCode - SIGNALLED)?.[0]
  return signal ? `Its command was ended by the signal ${signal}.` : `Its command ended with exit code ${exitCode}.`
}
