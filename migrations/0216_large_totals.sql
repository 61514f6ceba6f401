-- Totals of lists are kept by triggers: of 300 000 jobs, 5 million audit lines or 500 000 addresses, counting takes 100 to 9 000 ms,
-- in which nobody else is served.

-- Ended and open jobs.
CREATE TABLE job_counts (
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  jobs INTEGER NOT NULL,
  PRIMARY KEY (kind, state)
) STRICT, WITHOUT ROWID;
CREATE VIEW job_counts_counted AS SELECT kind, state, count(*) AS jobs FROM jobs GROUP BY 1, 2;
INSERT INTO job_counts SELECT * FROM job_counts_counted;
CREATE TRIGGER jobs_counts_insert AFTER INSERT ON jobs
BEGIN INSERT INTO job_counts VALUES (NEW.kind, NEW.state, 1) ON CONFLICT DO UPDATE SET jobs = jobs + 1; END;
CREATE TRIGGER jobs_counts_delete AFTER DELETE ON jobs
BEGIN UPDATE job_counts SET jobs = jobs - 1 WHERE kind = OLD.kind AND state = OLD.state; END;
CREATE TRIGGER jobs_counts_update AFTER UPDATE OF kind, state ON jobs WHEN OLD.kind <> NEW.kind OR OLD.state <> NEW.state
BEGIN
  UPDATE job_counts SET jobs = jobs - 1 WHERE kind = OLD.kind AND state = OLD.state;
  INSERT INTO job_counts VALUES (NEW.kind, NEW.state, 1) ON CONFLICT DO UPDATE SET jobs = jobs + 1;
END;

-- Lines of the audit log. They never change.
CREATE TABLE audit_counts (
  operation TEXT NOT NULL,
  result TEXT NOT NULL,
  lines INTEGER NOT NULL,
  PRIMARY KEY (operation, result)
) STRICT, WITHOUT ROWID;
CREATE VIEW audit_counts_counted AS SELECT operation, result, count(*) AS lines FROM audit GROUP BY 1, 2;
INSERT INTO audit_counts SELECT * FROM audit_counts_counted;
CREATE TRIGGER audit_counts_insert AFTER INSERT ON audit
BEGIN INSERT INTO audit_counts VALUES (NEW.operation, NEW.result, 1) ON CONFLICT DO UPDATE SET lines = lines + 1; END;

-- Addresses of a pool: free ones, those that are reserved and that no workload has, and those that rest. Workloads hold the others.
CREATE TABLE address_counts (
  pool_id TEXT PRIMARY KEY,
  total INTEGER NOT NULL,
  free INTEGER NOT NULL,
  reserved INTEGER NOT NULL,
  resting INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE VIEW address_counts_counted AS
SELECT pool_id, count(*) AS total,
  sum(workload_id IS NULL AND reserved_for IS NULL AND rests_until IS NULL) AS free,
  sum(workload_id IS NULL AND reserved_for IS NOT NULL) AS reserved,
  sum(workload_id IS NULL AND reserved_for IS NULL AND rests_until IS NOT NULL) AS resting
FROM addresses GROUP BY pool_id;
INSERT INTO address_counts SELECT * FROM address_counts_counted;
CREATE TRIGGER addresses_counts_insert AFTER INSERT ON addresses
BEGIN
  INSERT INTO address_counts VALUES (NEW.pool_id, 1,
    NEW.workload_id IS NULL AND NEW.reserved_for IS NULL AND NEW.rests_until IS NULL,
    NEW.workload_id IS NULL AND NEW.reserved_for IS NOT NULL,
    NEW.workload_id IS NULL AND NEW.reserved_for IS NULL AND NEW.rests_until IS NOT NULL)
  ON CONFLICT DO UPDATE SET total = total + 1, free = free + excluded.free, reserved = reserved + excluded.reserved,
    resting = resting + excluded.resting;
END;
CREATE TRIGGER addresses_counts_delete AFTER DELETE ON addresses
BEGIN
  UPDATE address_counts SET total = total - 1,
    free = free - (OLD.workload_id IS NULL AND OLD.reserved_for IS NULL AND OLD.rests_until IS NULL),
    reserved = reserved - (OLD.workload_id IS NULL AND OLD.reserved_for IS NOT NULL),
    resting = resting - (OLD.workload_id IS NULL AND OLD.reserved_for IS NULL AND OLD.rests_until IS NOT NULL)
  WHERE pool_id = OLD.pool_id;
END;
CREATE TRIGGER addresses_counts_update AFTER UPDATE OF pool_id, workload_id, reserved_for, rests_until ON addresses
WHEN OLD.pool_id <> NEW.pool_id OR (OLD.workload_id IS NULL) <> (NEW.workload_id IS NULL)
  OR (OLD.reserved_for IS NULL) <> (NEW.reserved_for IS NULL) OR (OLD.rests_until IS NULL) <> (NEW.rests_until IS NULL)
BEGIN
  UPDATE address_counts SET total = total - 1,
    free = free - (OLD.workload_id IS NULL AND OLD.reserved_for IS NULL AND OLD.rests_until IS NULL),
    reserved = reserved - (OLD.workload_id IS NULL AND OLD.reserved_for IS NOT NULL),
    resting = resting - (OLD.workload_id IS NULL AND OLD.reserved_for IS NULL AND OLD.rests_until IS NOT NULL)
  WHERE pool_id = OLD.pool_id;
  INSERT INTO address_counts VALUES (NEW.pool_id, 1,
    NEW.workload_id IS NULL AND NEW.reserved_for IS NULL AND NEW.rests_until IS NULL,
    NEW.workload_id IS NULL AND NEW.reserved_for IS NOT NULL,
    NEW.workload_id IS NULL AND NEW.reserved_for IS NULL AND NEW.rests_until IS NOT NULL)
  ON CONFLICT DO UPDATE SET total = total + 1, free = free + excluded.free, reserved = reserved + excluded.reserved,
    resting = resting + excluded.resting;
END;
CREATE TRIGGER pools_counts_delete AFTER DELETE ON pools
BEGIN DELETE FROM address_counts WHERE pool_id = OLD.id; END;
