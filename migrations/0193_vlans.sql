-- The VLAN of the uplinks in which the servers with addresses of a pool are. NULL: the network of the node's bridge.
ALTER TABLE pools ADD COLUMN vlan INTEGER CHECK (vlan BETWEEN 1 AND 4094);

-- The VLANs that each node carries on its uplink, from its facts; both ends of a range included.
CREATE TABLE node_vlans (
  node_id TEXT NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (node_id, first)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER node_vlans_new AFTER INSERT ON nodes WHEN NEW.facts ->> '$.uplink' IS NOT NULL BEGIN
  INSERT OR IGNORE INTO node_vlans
    SELECT NEW.id, v.value ->> 'first', v.value ->> 'last' FROM json_each(NEW.facts, '$.uplink.vlans') v;
END;
CREATE TRIGGER node_vlans_changed AFTER UPDATE OF facts ON nodes
WHEN NEW.facts ->> '$.uplink.vlans' IS NOT OLD.facts ->> '$.uplink.vlans' BEGIN
  DELETE FROM node_vlans WHERE node_id = NEW.id;
  INSERT OR IGNORE INTO node_vlans
    SELECT NEW.id, v.value ->> 'first', v.value ->> 'last' FROM json_each(NEW.facts, '$.uplink.vlans') v;
END;
CREATE TRIGGER node_vlans_removed AFTER UPDATE OF removed_at ON nodes WHEN NEW.removed_at IS NOT NULL BEGIN
  DELETE FROM node_vlans WHERE node_id = NEW.id;
END;
