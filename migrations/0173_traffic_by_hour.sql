-- The traffic of the last days by the hour in which a node reported it, for who looks for the heaviest users now.
CREATE TABLE traffic_hours (
  -- Hours since 1970, in UTC.
  hour INTEGER NOT NULL,
  workload_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  rx_bytes INTEGER NOT NULL,
  tx_bytes INTEGER NOT NULL,
  PRIMARY KEY (hour, workload_id, node_id)
) STRICT, WITHOUT ROWID;
-- All workloads of one day.
CREATE INDEX traffic_days_day ON traffic_days (day);
CREATE INDEX traffic_meters_day ON traffic_meters (day, node_id);
