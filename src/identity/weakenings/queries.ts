// The statements of changes that weaken a protection.
import { and, eq, isNull, lte } from 'drizzle-orm'
import type { Db } from '../../kernel/db/open.ts'
import { inserting, rowBy, updating } from '../../kernel/db/rows.ts'
import { type Weakening, weakenings } from './tables.ts'

export const weakeningById = rowBy(weakenings, weakenings.id)
export const insertWeakening = inserting(weakenings)
export const updateWeakening = updating(weakenings, weakenings.id)

export const waits = isNull(weakenings.decidedAt)

/** The change that waits of this thing. */
export const waitingOf = (tx: Db, kind: string, name: string): Weakening | undefined =>
  tx
    .select()
    .from(weakenings)
    .where(and(eq(weakenings.kind, kind), eq(weakenings.name, name), waits))
    .get()

/** Those that take effect by `now` (ms), or all that wait. */
export const waitingUntil = (tx: Db, now?: number): Weakening[] =>
  tx
    .select()
    .from(weakenings)
    .where(and(waits, now === undefined ? undefined : lte(weakenings.takesEffectAt, now)))
    .orderBy(weakenings.takesEffectAt)
    .all()
