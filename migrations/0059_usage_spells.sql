-- The running time of a GPU instance begins with its event, and not when the ledger takes it in.
DROP VIEW usage_now;
CREATE VIEW usage_now AS
SELECT w.id AS workload_id, w.kind, w.owner_id, w.reseller_id, w.hostname, coalesce(p.id, o.id) AS product_id,
  coalesce(p.name, o.name) AS product_name, coalesce(p.billing_product_id, o.billing_product_id) AS billing_product_id,
  coalesce(s.billing_service_id, g.billing_service_id) AS billing_service_id,
  CASE WHEN w.lifecycle = 'terminated' THEN NULL WHEN w.suspended_at IS NOT NULL THEN 'suspended' ELSE w.lifecycle END AS state,
  -- As its events say: an instance that is being set up is stopped.
  CASE WHEN g.id IS NULL OR w.lifecycle = 'terminated' OR w.suspended_at IS NOT NULL THEN NULL
    WHEN g.spell = 'running' THEN 'running' ELSE 'stopped' END AS power,
  w.created_at, w.suspended_at, w.terminated_at, g.ended_at,
  g.spell_at
FROM workloads w LEFT JOIN servers s ON s.id = w.id LEFT JOIN packages p ON p.id = s.package_id
  LEFT JOIN gpu_instances g ON g.id = w.id LEFT JOIN gpu_offers o ON o.id = g.offer_id;
