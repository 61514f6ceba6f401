import { and, count, eq, isNotNull } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { encryptedColumn } from '../../kernel/db/encrypted.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { type Webhook, webhooks } from './tables.ts'

export const encryptedSecrets = encryptedColumn(webhooks, 'encryptedSecret', ({ id }: { id: string }) => id)
export const encryptedPrevious = encryptedColumn(webhooks, 'encryptedPrevious', ({ id }: { id: string }) => id)

export const webhookById = rowBy(webhooks, webhooks.id)
export const pageOfWebhooks = <Shown>(call: ReadContext, owner: string, show: (webhook: Webhook) => Shown) =>
  newest({ call, name: 'webhooks', table: webhooks, where: eq(webhooks.owner, owner), show })
export const countWebhooks = (tx: Db, owner: string): number =>
  tx.select({ n: count() }).from(webhooks).where(eq(webhooks.owner, owner)).get()!.n
export const insertWebhook = (tx: Tx, row: typeof webhooks.$inferInsert): Webhook =>
  tx.insert(webhooks).values(row).returning().get()
export const updateWebhook = (tx: Tx, id: string, given: Partial<Webhook>): Webhook =>
  tx.update(webhooks).set(given).where(eq(webhooks.id, id)).returning().get()!
export const deleteWebhook = (tx: Tx, id: string) => void tx.delete(webhooks).where(eq(webhooks.id, id)).run()
/** The webhooks of the owner that paused themselves. */
export const pausedWebhooks = (tx: Db, owner: string): Webhook[] =>
  tx
    .select()
    .from(webhooks)
    .where(and(eq(webhooks.owner, owner), isNotNull(webhooks.pausedAt)))
    .all()
    .filter(({ pauseReason }) => pauseReason !== 'by_hand')

/** A webhook that takes events; `events` is JSON. */
export type Receiving = Pick<Webhook, 'id' | 'owner'> & { events: string }
// Raw and prepared: the first runs for each event, the others for each delivery.
const statements = prepared(({ $client }) => ({
  receiving: $client.prepare<Receiving, [string, string, string]>(
    'SELECT id, owner, events FROM webhooks WHERE owner IN (+?, +?, +?) AND paused_at IS NULL',
  ),
  active: $client.prepare<{ n: number }, [string]>(
    'SELECT count(*) AS n FROM webhooks WHERE owner = +? AND paused_at IS NULL',
  ),
  succeeded: $client.prepare(
    // Once a second is enough: a busy receiver has a thousand deliveries in it.
    `UPDATE webhooks SET failures = 0, failing_since = NULL, delivered_at = $now
     WHERE id = $id AND (failures > 0 OR coalesce(delivered_at, 0) <= $now - 1000)`,
  ),
  failed: $client.prepare<{ failures: number; failingSince: number; owner: string }, { id: string; now: number }>(
    `UPDATE webhooks SET failures = failures + 1, failing_since = coalesce(failing_since, $now), failed_at = $now
     WHERE id = $id AND paused_at IS NULL RETURNING failures, failing_since AS failingSince, owner`,
  ),
  told: $client.prepare(
    `INSERT INTO webhook_overflows (owner, told_at) VALUES ($owner, $now)
     ON CONFLICT (owner) DO UPDATE SET told_at = $now WHERE told_at <= $now - $everyMs`,
  ),
}))
/** The webhooks of these owners that are not paused. */
export const receivingOf = (tx: Db, owners: readonly [string, string, string]): Receiving[] =>
  statements(tx).receiving.all(...owners)
export const countActive = (tx: Db, owner: string): number => statements(tx).active.get(owner)!.n
export const noteSuccess = (tx: Tx, id: string, now: number) => void statements(tx).succeeded.run({ id, now })
/** The failures in a row, this one included; undefined for a webhook that is paused or deleted. */
export const noteFailure = (tx: Tx, id: string, now: number) => statements(tx).failed.get({ id, now }) ?? undefined
/** Notes that the owner is notified of its full queue; false when it was less than `everyMs` ago. */
export const noteOverflow = (tx: Tx, owner: string, now: number, everyMs: number): boolean =>
  statements(tx).told.run({ owner, now, everyMs }).changes > 0
