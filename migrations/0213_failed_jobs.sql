-- When the provider was told of a failed job.
CREATE TABLE failures_told (
  job_id TEXT PRIMARY KEY NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_kind ON jobs (kind, id);
