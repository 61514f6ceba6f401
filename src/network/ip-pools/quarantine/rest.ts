// A freed address rests, and no order gets it meanwhile: names, caches and lists of others still have it for the server
// that had it last, so that the next one would get mail, connections and blocks that were meant for that.
import { hour, minuteText } from '../../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../../kernel/db/open.ts'
import type { ScheduleContext } from '../../../kernel/feature.ts'
import { endRests, hoursOf, isAnyRestOver, restingFor, setRest } from './queries.ts'

/** It was freed in this transaction. Answers until when it rests; null: something has it, or none of its pool rests. */
export function restFreed(tx: Tx, addressId: string, now: number): number | null {
  const hours = hoursOf(tx, addressId)
  if (!hours) return null
  const until = now + hours * hour
  setRest(tx, addressId, until)
  return until
}
/** It can be given again, or was given by its name. */
export const endRest = (tx: Tx, addressId: string) => setRest(tx, addressId, null)

export const RESTS_ENDED_EVERY_MS = 5000
const AT_ONCE = 1000
/** Ends the rests whose time is over, in parts. */
export async function endDueRests({ db, app }: Pick<ScheduleContext, 'db' | 'app'>) {
  const now = app.clock()
  while (isAnyRestOver(db, now)) {
    write(db, (tx) => void endRests(tx, now, AT_ONCE))
    await Bun.sleep(0)
  }
}

/**
 * Behind the words for a lack of so many addresses that would be none if freed ones did not rest: `, and 3 rest until
 * 2026-11-28 16:05 UTC`; else nothing.
 */
export function restingWords(
  tx: Db,
  nodeId: string,
  { version, prefixLength, missing }: { version: 4 | 6; prefixLength?: number; missing: number },
): string {
  const { n, first } = restingFor(tx, nodeId, version, prefixLength)
  if (first === null || n < missing) return ''
  return ` (${n} that ${n === 1 ? 'was freed rests' : 'were freed rest'}, the first until ${minuteText(first)})`
}
