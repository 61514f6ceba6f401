// The promises of the usage ledger about the rows of a whole database.
import type { Db } from '../../src/kernel/db/open.ts'

/**
 * The faults of the ledger, in words: it must say of every workload what it is by its own rows, without an overlap and
 * without a hole but between a termination and the return from it.
 */
export function ledgerFaults(db: Pick<Db, '$client'>): string[] {
  const faults = faultsIn(db)
  return [
    ...addressLedgerFaults(db),
    ...faults('changed and is not in the ledger', 'SELECT workload_id AS id FROM usage_due'),
    ...faults(
      'is something else than the ledger says',
      `SELECT w.id FROM workloads w LEFT JOIN servers s ON s.id = w.id LEFT JOIN packages p ON p.id = s.package_id
       LEFT JOIN gpu_instances g ON g.id = w.id LEFT JOIN gpu_offers o ON o.id = g.offer_id
       LEFT JOIN usage_intervals i ON i.workload_id = w.id AND i.until IS NULL
       WHERE (w.lifecycle = 'terminated') <> (i.id IS NULL) OR (i.id IS NOT NULL AND (
         i.state <> iif(w.suspended_at IS NULL, w.lifecycle, 'suspended') OR i.owner_id <> w.owner_id
         OR i.reseller_id IS NOT w.reseller_id OR i.hostname <> w.hostname
         OR i.product_id IS NOT coalesce(s.package_id, g.offer_id) OR i.product_name IS NOT coalesce(p.name, o.name)
         OR i.billing_service_id IS NOT w.billing_service_id
         OR i.billing_product_id IS NOT coalesce(p.billing_product_id, o.billing_product_id)
         OR i.power IS NOT iif(g.id IS NULL OR w.suspended_at IS NOT NULL, NULL, coalesce(g.spell, 'stopped'))))`,
    ),
    ...faults(
      'is in the ledger twice at one time',
      `SELECT a.workload_id AS id FROM usage_intervals a JOIN usage_intervals b ON b.workload_id = a.workload_id
         AND b.id > a.id AND b.since < coalesce(a.until, 9e15) AND a.since < coalesce(b.until, 9e15)`,
    ),
    ...faults(
      'has a hole in the ledger',
      `SELECT a.workload_id AS id FROM usage_intervals a WHERE a.since > (SELECT min(since) FROM usage_intervals b
         WHERE b.workload_id = a.workload_id)
       AND NOT EXISTS (SELECT 1 FROM usage_intervals b WHERE b.workload_id = a.workload_id AND b.until = a.since)
       AND NOT EXISTS (SELECT 1 FROM events e WHERE e.type = 'server.undeleted' AND e.subject_id = a.workload_id
         AND abs(e.created_at - a.since) < 1000)`,
    ),
  ]
}

const faultsIn =
  ({ $client }: Pick<Db, '$client'>) =>
  (words: string, sql: string): string[] =>
    $client
      .query<{ id: string }, []>(sql)
      .all()
      .map(({ id }) => `${id} ${words}`)

/** The faults of the ledger of addresses: its open intervals must be the extra and floating addresses that exist. */
export function addressLedgerFaults(db: Pick<Db, '$client'>): string[] {
  const faults = faultsIn(db)
  // The address of a terminated server is kept, and nobody's usage.
  const there = `SELECT a.id, 'extra' AS kind, w.id AS holder, w.owner_id AS owner, w.reseller_id AS reseller,
      w.id AS server, w.billing_service_id AS service
    FROM addresses a JOIN workloads w ON w.id = a.workload_id
    WHERE a.holder_id IS NULL AND NOT a.is_primary AND w.lifecycle <> 'terminated'
    UNION ALL SELECT a.id, 'floating', a.holder_id, f.owner_id, f.reseller_id, w.id,
      w.billing_service_id
    FROM addresses a JOIN floating_ips f ON f.id = a.holder_id
      LEFT JOIN workloads w ON w.id = a.workload_id AND w.lifecycle <> 'terminated'
    WHERE a.holder_id IS NOT NULL`
  const open = `SELECT address_id, kind, holder_id, owner_id, reseller_id, workload_id, billing_service_id
    FROM address_intervals WHERE until IS NULL`
  return [
    ...faults('changed hands and is not in the ledger', 'SELECT address_id AS id FROM address_due'),
    ...faults(
      'is there and not in the ledger of addresses',
      `SELECT id FROM (SELECT * FROM (${there}) EXCEPT ${open})`,
    ),
    ...faults(
      'is in the ledger of addresses and not there',
      `SELECT address_id AS id FROM (${open} EXCEPT SELECT * FROM (${there}))`,
    ),
    ...faults(
      'is in the ledger of addresses twice at one time',
      `SELECT a.address_id AS id FROM address_intervals a JOIN address_intervals b ON b.address_id = a.address_id
         AND b.id > a.id AND b.since < coalesce(a.until, 9e15) AND a.since < coalesce(b.until, 9e15)`,
    ),
  ]
}
