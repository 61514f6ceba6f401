-- The CPU model of new servers of a location: all nodes that run it can take them over while they run. NULL: that of
-- the node.
ALTER TABLE locations ADD COLUMN cpu_model TEXT;

-- The CPU model with which the vm of a server is defined. `cpu_pending`: it runs with the one before until it was off.
ALTER TABLE servers ADD COLUMN cpu_model TEXT;
ALTER TABLE servers ADD COLUMN cpu_pending INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER servers_cpu_in_force AFTER UPDATE OF power ON workloads
WHEN NEW.power IS NOT 'running' AND NEW.power IS NOT 'paused' AND NEW.power IS NOT NULL BEGIN
  UPDATE servers SET cpu_pending = 0 WHERE id = NEW.id AND cpu_pending = 1;
END;

-- The CPU models that vms can have on each node, from its facts.
CREATE TABLE node_cpu_models (
  model TEXT NOT NULL,
  node_id TEXT NOT NULL,
  PRIMARY KEY (model, node_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_cpu_models_node ON node_cpu_models (node_id);
INSERT INTO node_cpu_models SELECT DISTINCT m.value, n.id FROM nodes n, json_each(n.facts, '$.cpuModels') m;
CREATE TRIGGER node_cpu_models_new AFTER INSERT ON nodes BEGIN
  INSERT OR IGNORE INTO node_cpu_models SELECT m.value, NEW.id FROM json_each(NEW.facts, '$.cpuModels') m;
END;
CREATE TRIGGER node_cpu_models_changed AFTER UPDATE OF facts ON nodes
WHEN NEW.facts ->> '$.cpuModels' IS NOT OLD.facts ->> '$.cpuModels' BEGIN
  DELETE FROM node_cpu_models WHERE node_id = NEW.id;
  INSERT OR IGNORE INTO node_cpu_models SELECT m.value, NEW.id FROM json_each(NEW.facts, '$.cpuModels') m;
END;
CREATE TRIGGER node_cpu_models_removed AFTER UPDATE OF removed_at ON nodes WHEN NEW.removed_at IS NOT NULL BEGIN
  DELETE FROM node_cpu_models WHERE node_id = NEW.id;
END;
