// Workloads that ended although they should run: their nodes report it and start them again, this keeps it.
import type { Crash } from '../../../agent/protocol/wire.ts'
import { system } from '../../kernel/api/actor.ts'
import { auditLine } from '../../kernel/audit/audit.ts'
import { type Clock, day } from '../../kernel/db/clock.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { insertCrash } from './queries.ts'
import type { Workload } from './tables.ts'

/** Name of the audit line of a crash: no operation is called for it. */
export const CRASHED = 'workloads.crashed'
/** Each cause as a sentence, for everybody. */
export const crashWords: Record<Crash['cause'], string> = {
  ended: 'Its process ended unexpectedly.',
  out_of_memory: 'The host ran out of memory.',
  shutdown: 'Its guest shut down.',
  not_started: 'It could not be started.',
}
/** The same for a log, where the line says first that it ended. */
export const crashActions: Record<Crash['cause'], string> = {
  ended: 'Ended unexpectedly',
  out_of_memory: 'Ended: the host ran out of memory',
  shutdown: 'Its guest shut down',
  not_started: 'Could not be started',
}
/** Crashes of this last day are shown under Needs attention. */
export const CRASHES_SHOWN_MS = day

/**
 * Keeps a crash and its audit line. Nodes repeat the crashes of a day whenever they connect: one counts once. False: it
 * was kept before.
 */
export function noteCrash(
  tx: Tx,
  clock: Clock,
  { id }: Pick<Workload, 'id'>,
  { at, cause, detail, outcome }: Omit<Crash, 'type' | 'workload'>,
): boolean {
  if (!insertCrash(tx, { workloadId: id, at, cause, detail, outcome }, clock() - CRASHES_SHOWN_MS)) return false
  auditLine(
    tx,
    { clock },
    {
      actor: system,
      operation: CRASHED,
      target: id,
      from: '',
      requestId: '',
      result: 'done',
      details: { action: cause, cause, outcome },
    },
  )
  return true
}
