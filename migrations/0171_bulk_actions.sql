-- An action for many servers or GPU instances: one record, and a row for each of them.
CREATE TABLE bulk_actions (
  id TEXT PRIMARY KEY,
  -- server or gpu_instance
  kind TEXT NOT NULL,
  -- A name of the list of actions of its kind.
  action TEXT NOT NULL,
  -- JSON: what the action takes, such as the reason of a suspension.
  body TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('running', 'cancelling', 'cancelled', 'done')),
  -- The parent of the jobs of its workloads.
  job_id TEXT NOT NULL,
  -- JSON: the account and its name then.
  started_by TEXT NOT NULL,
  -- Of the call, for the lines of the audit log.
  from_address TEXT NOT NULL,
  request_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE INDEX bulk_actions_open ON bulk_actions (id) WHERE finished_at IS NULL;

CREATE TABLE bulk_action_workloads (
  bulk_action_id TEXT NOT NULL REFERENCES bulk_actions (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  workload_id TEXT NOT NULL REFERENCES workloads (id),
  -- The name that it had then.
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'refused', 'cancelled')),
  job_id TEXT,
  -- Why it was refused, failed or waits.
  code TEXT,
  reason TEXT,
  -- Not tried before, in ms.
  not_before INTEGER NOT NULL DEFAULT 0,
  tries INTEGER NOT NULL DEFAULT 0,
  ended_at INTEGER,
  PRIMARY KEY (bulk_action_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_action_workloads_state ON bulk_action_workloads (bulk_action_id, state, position);
CREATE INDEX bulk_action_workloads_at_work ON bulk_action_workloads (workload_id) WHERE state = 'running';
