-- Maintenance of several nodes that stopped at one waits for a person, who tries again, skips that node or ends it.
CREATE TABLE rolling_drains_new (
  id TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('running', 'paused', 'cancelled', 'done')),
  -- The node at hand is emptied, worked on, or filled again.
  phase TEXT NOT NULL CHECK (phase IN ('draining', 'working', 'returning')),
  -- JSON: the ids of the nodes in their order.
  node_ids TEXT NOT NULL,
  -- The place of the node at hand in that list.
  position INTEGER NOT NULL,
  -- JSON: the ids of the nodes that a person skipped.
  skipped_ids TEXT NOT NULL DEFAULT '[]',
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
INSERT INTO rolling_drains_new (id, state, phase, node_ids, position, waits_for, bring_back, at_once, max_mbps, drain_id,
  reason, started_by, created_at, finished_at)
SELECT id, CASE state WHEN 'failed' THEN 'cancelled' ELSE state END, phase, node_ids, position, waits_for, bring_back,
  at_once, max_mbps, drain_id, reason, started_by, created_at, finished_at FROM rolling_drains;
DROP TABLE rolling_drains;
ALTER TABLE rolling_drains_new RENAME TO rolling_drains;
CREATE INDEX rolling_drains_open ON rolling_drains (id) WHERE finished_at IS NULL;
