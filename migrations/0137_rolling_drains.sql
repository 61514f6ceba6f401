-- Maintenance of several nodes, one after another.
CREATE TABLE rolling_drains (
  id TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('running', 'failed', 'cancelled', 'done')),
  -- The node at hand is emptied, worked on, or filled again.
  phase TEXT NOT NULL CHECK (phase IN ('draining', 'working', 'returning')),
  -- JSON: the ids of the nodes in their order.
  node_ids TEXT NOT NULL,
  -- The place of the node at hand in that list.
  position INTEGER NOT NULL,
  waits_for TEXT NOT NULL CHECK (waits_for IN ('person', 'reboot')),
  bring_back INTEGER NOT NULL,
  at_once INTEGER,
  max_mbps INTEGER,
  -- The drain at work or the last one.
  drain_id TEXT REFERENCES drains (id),
  -- Why it stopped, in words.
  reason TEXT,
  started_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE INDEX rolling_drains_open ON rolling_drains (id) WHERE finished_at IS NULL;
