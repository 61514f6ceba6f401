-- A workload that moves is metered by several nodes in a day, and each may begin a new meter: the limit of meters is that of a node,
-- and no node's meter stands for another's.
CREATE TABLE traffic_meters_of_nodes (
  workload_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  node_id TEXT NOT NULL,
  meter TEXT NOT NULL,
  rx_bytes INTEGER NOT NULL,
  tx_bytes INTEGER NOT NULL,
  measured_seconds INTEGER NOT NULL,
  estimated_seconds INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workload_id, day, node_id, meter)
) STRICT;
INSERT INTO traffic_meters_of_nodes
  SELECT t.workload_id, t.day, w.node_id, t.meter, t.rx_bytes, t.tx_bytes, t.measured_seconds, t.estimated_seconds
  FROM traffic_meters t JOIN workloads w ON w.id = t.workload_id ORDER BY t.rowid;
DROP TABLE traffic_meters;
ALTER TABLE traffic_meters_of_nodes RENAME TO traffic_meters;

-- The vCPUs of a GPU host that instances hold are those of their stays.
DROP TABLE gpu_holds;
