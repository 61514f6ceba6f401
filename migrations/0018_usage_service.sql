-- The billing system's identifier of a server belongs to what the ledger keeps: a report of a past month names it as it was.
ALTER TABLE usage_intervals ADD COLUMN billing_service_id TEXT;
CREATE INDEX usage_intervals_service ON usage_intervals (billing_service_id) WHERE billing_service_id IS NOT NULL;

DROP TRIGGER usage_server_update;
CREATE TRIGGER usage_server_update AFTER UPDATE OF package_id, billing_service_id ON servers
  WHEN OLD.package_id <> NEW.package_id OR OLD.billing_service_id IS NOT NEW.billing_service_id
BEGIN INSERT INTO usage_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;

DROP VIEW usage_now;
CREATE VIEW usage_now AS
SELECT w.id AS workload_id, w.kind, w.owner_id, w.reseller_id, w.hostname, p.id AS product_id, p.name AS product_name,
  p.billing_product_id, s.billing_service_id,
  CASE WHEN w.lifecycle = 'terminated' THEN NULL WHEN w.suspended_at IS NOT NULL THEN 'suspended' ELSE w.lifecycle END AS state,
  w.created_at, w.suspended_at, w.terminated_at
FROM workloads w LEFT JOIN servers s ON s.id = w.id LEFT JOIN packages p ON p.id = s.package_id;
INSERT INTO usage_due SELECT id FROM servers WHERE billing_service_id IS NOT NULL ON CONFLICT DO NOTHING;
