-- Open nodes in the order in which orders take them. Triggers keep it, so that an order looks at a few nodes however many there
-- are.
CREATE TABLE node_spaces (
  node_id TEXT PRIMARY KEY NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
  location_id TEXT NOT NULL REFERENCES locations (id),
  -- MiB of memory that are left; negative in a location that spreads. The lowest rank with enough memory is taken.
  rank INTEGER NOT NULL,
  name TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX node_spaces_in_order ON node_spaces (location_id, rank, name);

CREATE VIEW node_spaces_due AS
SELECT n.id AS node_id, n.location_id,
  iif(l.placement = 'spread', -1, 1) * (max(0, n.memory_mb - n.reserved_memory_mb) - coalesce(h.memory_mb, 0)) AS rank, n.name
FROM nodes n JOIN locations l ON l.id = n.location_id LEFT JOIN node_held h ON h.node_id = n.id
WHERE n.open AND n.removed_at IS NULL;

CREATE TRIGGER node_spaces_of_a_new_node AFTER INSERT ON nodes BEGIN
  INSERT INTO node_spaces SELECT * FROM node_spaces_due WHERE node_id = new.id;
END;
CREATE TRIGGER node_spaces_of_a_changed_node AFTER UPDATE OF name, location_id, open, memory_mb, reserved_memory_mb, removed_at ON nodes
WHEN old.name <> new.name OR old.location_id <> new.location_id OR old.open <> new.open OR old.memory_mb <> new.memory_mb
  OR old.reserved_memory_mb <> new.reserved_memory_mb OR old.removed_at IS NOT new.removed_at BEGIN
  DELETE FROM node_spaces WHERE node_id = new.id;
  INSERT INTO node_spaces SELECT * FROM node_spaces_due WHERE node_id = new.id;
END;
CREATE TRIGGER node_spaces_of_a_changed_location AFTER UPDATE OF placement ON locations WHEN old.placement <> new.placement BEGIN
  UPDATE node_spaces SET rank = -rank WHERE location_id = new.id;
END;
CREATE TRIGGER node_spaces_of_what_is_held AFTER INSERT ON node_held BEGIN
  UPDATE node_spaces SET rank = (SELECT rank FROM node_spaces_due WHERE node_id = new.node_id) WHERE node_id = new.node_id;
END;
CREATE TRIGGER node_spaces_of_what_is_held_now AFTER UPDATE OF memory_mb ON node_held WHEN old.memory_mb <> new.memory_mb BEGIN
  UPDATE node_spaces SET rank = (SELECT rank FROM node_spaces_due WHERE node_id = new.node_id) WHERE node_id = new.node_id;
END;
CREATE TRIGGER node_spaces_of_what_is_held_no_more AFTER DELETE ON node_held BEGIN
  UPDATE node_spaces SET rank = (SELECT rank FROM node_spaces_due WHERE node_id = old.node_id) WHERE node_id = old.node_id;
END;

INSERT INTO node_spaces SELECT * FROM node_spaces_due;
