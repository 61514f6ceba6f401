-- The living workloads of every kind that a billing system calls by an identifier: one of a provider has it at most. The
-- check stands in the transaction of the change (src/compute/workloads/billing-service.ts); an older database may have
-- it twice.
CREATE VIEW workload_services AS
SELECT w.id, w.kind, w.hostname, w.owner_id, w.reseller_id, w.terminated_at, w.purge_at, s.billing_service_id
  FROM servers s JOIN workloads w ON w.id = s.id
  WHERE s.billing_service_id IS NOT NULL AND w.terminated_at IS NULL
UNION ALL
SELECT w.id, w.kind, w.hostname, w.owner_id, w.reseller_id, w.terminated_at, w.purge_at, g.billing_service_id
  FROM gpu_instances g JOIN workloads w ON w.id = g.id
  WHERE g.billing_service_id IS NOT NULL AND w.terminated_at IS NULL;
