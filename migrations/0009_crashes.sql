-- What a node does with a workload that ends although nobody stopped it, and the crashes that nodes reported.
ALTER TABLE packages ADD COLUMN restart_policy TEXT NOT NULL DEFAULT 'on_failure' CHECK (restart_policy IN ('always', 'on_failure', 'never'));
ALTER TABLE workloads ADD COLUMN restart_policy TEXT NOT NULL DEFAULT 'on_failure' CHECK (restart_policy IN ('always', 'on_failure', 'never'));

CREATE TABLE workload_crashes (
  workload_id TEXT NOT NULL REFERENCES workloads (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  cause TEXT NOT NULL CHECK (cause IN ('ended', 'out_of_memory', 'shutdown', 'not_started')),
  detail TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('restarts', 'left_off')),
  PRIMARY KEY (workload_id, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX workload_crashes_at ON workload_crashes (at);
