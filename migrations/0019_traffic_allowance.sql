-- What happens to a server of the package that has used its traffic of the month.
ALTER TABLE packages ADD COLUMN over_traffic TEXT NOT NULL DEFAULT 'nothing' CHECK (over_traffic IN ('nothing', 'suspend'));

-- Traffic that was bought beside the package, for one month.
CREATE TABLE traffic_top_ups (
  id INTEGER PRIMARY KEY,
  workload_id TEXT NOT NULL,
  month TEXT NOT NULL,
  gb INTEGER NOT NULL CHECK (gb > 0),
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX traffic_top_ups_month ON traffic_top_ups (workload_id, month);

-- Shares of its allowance that a server has reached in a month; each is told once.
CREATE TABLE traffic_marks (
  workload_id TEXT NOT NULL,
  month TEXT NOT NULL,
  percent INTEGER NOT NULL,
  at INTEGER NOT NULL,
  told_at INTEGER,
  PRIMARY KEY (workload_id, month, percent)
) STRICT, WITHOUT ROWID;
CREATE INDEX traffic_marks_untold ON traffic_marks (at) WHERE told_at IS NULL;

-- Servers that are suspended for their traffic alone, until the month ends or more is bought.
CREATE TABLE traffic_suspensions (
  workload_id TEXT PRIMARY KEY,
  month TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
