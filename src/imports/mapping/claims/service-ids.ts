// The ids of servers in the billing system: one living server of a provider has each.

import { workloadOfService } from '../../../fleet/workloads/queries.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import type { Db } from '../../../kernel/db/open.ts'
import type { Slices } from '../../../kernel/slices.ts'
import { type Coming, comingAfter } from '../../import-records/choices/queries.ts'
import { ownerRows } from '../../import-records/inventory/queries.ts'
import type { ImportRecord } from '../../import-records/model.ts'
import { ownerTarget } from '../owners.ts'

const AT_ONCE = 500

type Ids = { sourceId: string; billingId: string; hasBillingId: boolean | 0 | 1 }
/** The id in the billing system that a server gets; null: none. */
export function serviceIdOf({ billing }: Pick<ImportRecord, 'billing'>, { sourceId, billingId, hasBillingId }: Ids) {
  if (!hasBillingId) return null
  return { none: null, billing_id: billingId, source_id: sourceId }[billing.billingServiceId] || null
}

/** The provider of an owner's servers: a reseller, or null for the house and where nothing is decided. */
export function providerOf(at: { tx: Db; target: ImportRecord }, ownerId: string): string | null {
  const row = ownerRows.find(at.tx, at.target.id, ownerId)
  const becomes = row && ownerTarget(at, row)
  if (!becomes) return null
  if (becomes.kind === 'new') return becomes.resellerId
  if (becomes.kind === 'with') return providerOf(at, becomes.ownerId)
  return accountById(at.tx, becomes.accountId)?.resellerId ?? null
}

/** Adds why servers could not have their ids of the billing system, by the ids of the servers. */
export async function noteTakenServiceIds(
  at: { tx: Db; target: ImportRecord },
  slices: Slices,
  note: (serverId: string, words: string) => void,
): Promise<void> {
  const { tx, target } = at
  const providers = new Map<string, string | null>()
  const firsts = new Map<string, Coming>()
  const without = 'Let it come without its billing id, or leave it out.'
  for (let after = ''; ; ) {
    const rows = comingAfter(tx, target.id, after, AT_ONCE)
    for (const row of rows) {
      const id = serviceIdOf(target, row)
      if (id === null) continue
      if (!providers.has(row.ownerId)) providers.set(row.ownerId, providerOf(at, row.ownerId))
      const provider = providers.get(row.ownerId)!
      const holder = workloadOfService(tx, provider, id, row.workloadId ?? '')
      if (holder) note(row.id, `${holder.hostname} has the billing id ${id} here already. ${without}`)
      const key = JSON.stringify([provider, id])
      const first = firsts.get(key)
      if (!first) firsts.set(key, row)
      else
        for (const [one, other] of [
          [row, first],
          [first, row],
        ] as const)
          note(one.id, `${other.hostname} has the billing id ${id} in the other panel too. ${without}`)
    }
    const last = rows.at(-1)?.id
    if (rows.length < AT_ONCE || last === undefined) return
    after = last
    if (slices.isOver) await slices.rest()
  }
}
