-- The billing system's identifier belongs to every kind of workload: it stands in their table, and the ledger of usage
-- reads it there. Nothing names the columns of the kinds any more.
ALTER TABLE workloads ADD COLUMN billing_service_id TEXT;
UPDATE workloads SET billing_service_id = coalesce((SELECT billing_service_id FROM servers s WHERE s.id = workloads.id),
  (SELECT billing_service_id FROM gpu_instances g WHERE g.id = workloads.id));
CREATE INDEX workloads_billing_service ON workloads (billing_service_id) WHERE billing_service_id IS NOT NULL;

DROP VIEW workload_services;
DROP VIEW usage_now;
DROP VIEW address_now;
DROP TRIGGER usage_server_update;
DROP TRIGGER usage_gpu_instance_update;
DROP TRIGGER address_due_server;
DROP TRIGGER address_due_gpu_instance;
DROP INDEX servers_billing_service;
DROP INDEX gpu_instances_billing_service;
ALTER TABLE servers DROP COLUMN billing_service_id;
ALTER TABLE gpu_instances DROP COLUMN billing_service_id;

CREATE TRIGGER workload_service_update AFTER UPDATE OF billing_service_id ON workloads
WHEN OLD.billing_service_id IS NOT NEW.billing_service_id
BEGIN
  UPDATE workloads SET version = version + 1 WHERE id = NEW.id;
  INSERT INTO usage_due VALUES (NEW.id) ON CONFLICT DO NOTHING;
  INSERT INTO address_due SELECT id FROM addresses WHERE workload_id = NEW.id AND is_primary = 0 ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER usage_server_update AFTER UPDATE OF package_id ON servers WHEN OLD.package_id <> NEW.package_id
BEGIN INSERT INTO usage_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER usage_gpu_instance_update AFTER UPDATE OF offer_id, spell ON gpu_instances
  WHEN OLD.offer_id <> NEW.offer_id OR OLD.spell IS NOT NEW.spell
BEGIN INSERT INTO usage_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;

CREATE VIEW usage_now AS
SELECT w.id AS workload_id, w.kind, w.owner_id, w.reseller_id, w.hostname, coalesce(p.id, o.id) AS product_id,
  coalesce(p.name, o.name) AS product_name, coalesce(p.billing_product_id, o.billing_product_id) AS billing_product_id,
  w.billing_service_id,
  CASE WHEN w.lifecycle = 'terminated' THEN NULL WHEN w.suspended_at IS NOT NULL THEN 'suspended' ELSE w.lifecycle END AS state,
  -- As its events say: an instance that is being set up is stopped.
  CASE WHEN g.id IS NULL OR w.lifecycle = 'terminated' OR w.suspended_at IS NOT NULL THEN NULL
    WHEN g.spell = 'running' THEN 'running' ELSE 'stopped' END AS power,
  w.created_at, w.suspended_at, w.terminated_at, g.ended_at,
  g.spell_at
FROM workloads w LEFT JOIN servers s ON s.id = w.id LEFT JOIN packages p ON p.id = s.package_id
  LEFT JOIN gpu_instances g ON g.id = w.id LEFT JOIN gpu_offers o ON o.id = g.offer_id;

CREATE VIEW address_now AS
SELECT a.id AS address_id, a.address, a.prefix_length, a.version, 'extra' AS kind, w.id AS holder_id, w.id AS workload_id,
  w.owner_id, w.reseller_id, w.billing_service_id, NULL AS created_at
FROM addresses a JOIN workloads w ON w.id = a.workload_id
WHERE a.holder_id IS NULL AND a.is_primary = 0 AND w.lifecycle <> 'terminated'
UNION ALL
SELECT a.id, a.address, a.prefix_length, a.version, 'floating', f.id, w.id, f.owner_id, f.reseller_id,
  w.billing_service_id, f.created_at
FROM addresses a JOIN floating_ips f ON f.address_id = a.id
  LEFT JOIN workloads w ON w.id = a.workload_id AND w.lifecycle <> 'terminated';
