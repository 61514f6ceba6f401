-- The workloads of nodes that are away, by their states, and which nodes there are: both from an index alone.
DROP INDEX workloads_node_listed;
CREATE INDEX workloads_node_listed ON workloads (node_id, kind, id, lifecycle, suspended_at, power, terminated_at)
  WHERE terminated_at IS NULL;
CREATE INDEX nodes_present ON nodes (id) WHERE removed_at IS NULL;

-- When each node was away; the newest 100 of each node. Its open row has no end.
CREATE TABLE node_absences (
  node_id TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER,
  PRIMARY KEY (node_id, since)
) STRICT, WITHOUT ROWID;
INSERT INTO node_absences SELECT id, seen_at, NULL FROM nodes WHERE connected_at IS NULL AND removed_at IS NULL;
CREATE TRIGGER node_absences_begin AFTER UPDATE OF connected_at ON nodes
WHEN OLD.connected_at IS NOT NULL AND NEW.connected_at IS NULL BEGIN
  INSERT OR IGNORE INTO node_absences VALUES (NEW.id, NEW.seen_at, NULL);
  DELETE FROM node_absences WHERE node_id = NEW.id AND since <= (
    SELECT since FROM node_absences WHERE node_id = NEW.id ORDER BY since DESC LIMIT 1 OFFSET 100);
END;
CREATE TRIGGER node_absences_end AFTER UPDATE OF connected_at ON nodes
WHEN OLD.connected_at IS NULL AND NEW.connected_at IS NOT NULL BEGIN
  UPDATE node_absences SET until = NEW.connected_at WHERE node_id = NEW.id AND until IS NULL;
END;
CREATE TRIGGER node_absences_gone AFTER UPDATE OF removed_at ON nodes
WHEN NEW.removed_at IS NOT NULL BEGIN
  DELETE FROM node_absences WHERE node_id = NEW.id;
END;
