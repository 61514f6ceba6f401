-- What may be done with a workload changes when its node is given up, so its record does.
CREATE TRIGGER nodes_version_lost AFTER UPDATE OF lost_at ON nodes
BEGIN UPDATE workloads SET version = version + 1 WHERE node_id = NEW.id; END;
