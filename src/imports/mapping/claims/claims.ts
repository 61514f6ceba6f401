import type { Db } from '../../../kernel/db/open.ts'
import type { Slices } from '../../../kernel/slices.ts'
import { importById } from '../../import-records/queries.ts'
import { Facts } from '../facts.ts'
import { noteExceededQuotas } from './quotas.ts'
import { noteTakenServiceIds } from './service-ids.ts'

/** Why servers cannot be made here besides their addresses, by their ids: the first reason that is found. */
export async function claimConflicts(db: Db, importId: string, slices: Slices): Promise<Map<string, string>> {
  const target = importById(db, importId)!
  const found = new Map<string, string>()
  const note = (serverId: string, words: string) => {
    if (!found.has(serverId)) found.set(serverId, words)
  }
  await noteTakenServiceIds({ tx: db, target }, slices, note)
  noteExceededQuotas({ tx: db, target, facts: new Facts(db, target) }, note)
  return found
}
