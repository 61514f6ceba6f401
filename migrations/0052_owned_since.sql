-- Since when a workload belongs to its present owner, who sees no earlier jobs of it; NULL: since it was made.
ALTER TABLE workloads ADD COLUMN owned_since INTEGER;
