// Input of a job that is never stored, such as a password that is used once: the field `unstored` of its input. It is
// in the memory of this process alone, from the call until the job has ended. The row of the job has null in its place,
// so it is in no database, log, backup or replica. A restart of the controller loses it: the step that reads it fails
// then with `input_lost`, and the job is undone. Nothing else is promised: whatever survives a restart is stored.
import { type Db, prepared } from '../db/open.ts'
import { CommandFailed } from './failures.ts'

/** The part of an input that undos and steps past the pivot read: they must work after a restart, too. */
export type Stored<I> = I extends { unstored: unknown } ? Omit<I, 'unstored'> : I

const heldIn = prepared((): Map<string, object> => new Map())
const openJob = prepared(({ $client }) =>
  $client.prepare<unknown, [string]>("SELECT 1 FROM jobs WHERE id = ? AND state IN ('queued', 'running', 'undoing')"),
)

const hasUnstored = (input: unknown): input is { unstored: object | null } =>
  typeof input === 'object' && input !== null && Object.hasOwn(input, 'unstored')

/** Keeps the unstored part of the input in memory. Answers the input as it is stored. */
export function withhold(tx: Db, jobId: string, input: unknown): unknown {
  if (!hasUnstored(input)) return input
  if (input.unstored !== null) heldIn(tx).set(jobId, input.unstored)
  return { ...input, unstored: null }
}

/**
 * The input as the steps of a job read it, made of the stored one. Reading `unstored` throws `input_lost` after a
 * restart. A copy or a JSON text of the input does not have it.
 */
export function withUnstored(db: Db, jobId: string, input: unknown): unknown {
  if (!hasUnstored(input)) return input
  const { unstored: _, ...stored } = input
  return Object.defineProperty(stored, 'unstored', {
    enumerable: false,
    get() {
      const held = heldIn(db).get(jobId)
      if (held === undefined)
        throw new CommandFailed(
          'input_lost',
          'Berth restarted meanwhile. What was entered for this is never stored, so it is gone. Enter it again.',
        )
      return held
    },
  })
}

/** Forgets what jobs had that have ended, or that never came to be because their transaction was rolled back. */
export function forgetUnstored(db: Db) {
  const held = heldIn(db)
  for (const id of held.keys()) if (!openJob(db).get(id)) held.delete(id)
}

/** Shorter texts may be words of ours. */
const SHORTEST = 6
const texts = (value: unknown): string[] =>
  typeof value === 'string'
    ? value.length >= SHORTEST
      ? [value]
      : []
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(texts)
      : []

/** Takes the unstored input of the job out of a text, such as the words of a node or an error. */
export function scrubbed(db: Db, jobId: string, text: string): string {
  const held = heldIn(db).get(jobId)
  return held === undefined ? text : texts(held).reduce((left, secret) => left.replaceAll(secret, '***'), text)
}
