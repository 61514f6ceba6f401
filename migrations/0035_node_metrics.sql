-- Nodes have metrics as workloads have: a block belongs to either, by its id.
ALTER TABLE metric_blocks RENAME COLUMN workload_id TO subject_id;
