-- GPU instances are billed by what their container did: beside the state of an interval stands whether it ran. Null for
-- kinds that are not billed by it, and while an instance is suspended.
ALTER TABLE usage_intervals ADD COLUMN power TEXT CHECK (power IN ('running', 'stopped'));
-- Reports take one kind of workload, and read it from these indexes alone (test/bench/usage.ts: a million intervals).
DROP INDEX usage_intervals_line;
CREATE INDEX usage_intervals_line ON usage_intervals
  (workload_id, owner_id, kind, product_id, product_name, billing_product_id, state, since, until);
DROP INDEX usage_intervals_owner;
CREATE INDEX usage_intervals_owner ON usage_intervals
  (owner_id, kind, product_id, product_name, billing_product_id, workload_id, since, until);

CREATE TRIGGER usage_gpu_instance_insert AFTER INSERT ON gpu_instances
BEGIN INSERT INTO usage_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER usage_gpu_instance_update AFTER UPDATE OF offer_id, billing_service_id, spell ON gpu_instances
  WHEN OLD.offer_id <> NEW.offer_id OR OLD.billing_service_id IS NOT NEW.billing_service_id OR OLD.spell IS NOT NEW.spell
BEGIN INSERT INTO usage_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER usage_gpu_offer_update AFTER UPDATE OF name, billing_product_id ON gpu_offers
  WHEN OLD.name <> NEW.name OR OLD.billing_product_id IS NOT NEW.billing_product_id
BEGIN
  INSERT INTO usage_due SELECT g.id FROM gpu_instances g JOIN workloads w ON w.id = g.id
    WHERE g.offer_id = NEW.id AND w.terminated_at IS NULL ON CONFLICT DO NOTHING;
END;

DROP VIEW usage_now;
CREATE VIEW usage_now AS
SELECT w.id AS workload_id, w.kind, w.owner_id, w.reseller_id, w.hostname, coalesce(p.id, o.id) AS product_id,
  coalesce(p.name, o.name) AS product_name, coalesce(p.billing_product_id, o.billing_product_id) AS billing_product_id,
  coalesce(s.billing_service_id, g.billing_service_id) AS billing_service_id,
  CASE WHEN w.lifecycle = 'terminated' THEN NULL WHEN w.suspended_at IS NOT NULL THEN 'suspended' ELSE w.lifecycle END AS state,
  -- As its events say: an instance that is being set up is stopped.
  CASE WHEN g.id IS NULL OR w.lifecycle = 'terminated' OR w.suspended_at IS NOT NULL THEN NULL
    WHEN g.spell = 'running' THEN 'running' ELSE 'stopped' END AS power,
  w.created_at, w.suspended_at, w.terminated_at, g.ended_at
FROM workloads w LEFT JOIN servers s ON s.id = w.id LEFT JOIN packages p ON p.id = s.package_id
  LEFT JOIN gpu_instances g ON g.id = w.id LEFT JOIN gpu_offers o ON o.id = g.offer_id;

-- Instances that are stopped when their cards were not used for so long.
CREATE TABLE gpu_idle_stops (
  instance_id TEXT PRIMARY KEY REFERENCES gpu_instances (id),
  minutes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
