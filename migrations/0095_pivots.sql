-- When a job passed its point of no return, and the second node that it involves.
ALTER TABLE jobs ADD COLUMN pivot_at INTEGER;
ALTER TABLE jobs ADD COLUMN other_node_id TEXT;
CREATE INDEX jobs_other_node ON jobs (other_node_id, id) WHERE other_node_id IS NOT NULL;
