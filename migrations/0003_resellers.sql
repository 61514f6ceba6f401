-- Resellers: what they may sell, where, how much of it, and whether they are suspended
CREATE TABLE resellers (
  id TEXT PRIMARY KEY REFERENCES accounts (id),
  quotas TEXT NOT NULL DEFAULT '{}',
  suspended_at INTEGER,
  suspend_reason TEXT
) STRICT;
INSERT INTO resellers (id) SELECT id FROM accounts WHERE kind = 'reseller';
-- There is no account of a reseller without its row, however it comes to be.
CREATE TRIGGER reseller_has_its_row AFTER INSERT ON accounts WHEN new.kind = 'reseller' BEGIN
  INSERT INTO resellers (id) VALUES (new.id);
END;

CREATE TABLE reseller_packages (
  reseller_id TEXT NOT NULL REFERENCES resellers (id),
  package_id TEXT NOT NULL REFERENCES packages (id),
  PRIMARY KEY (reseller_id, package_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE reseller_locations (
  reseller_id TEXT NOT NULL REFERENCES resellers (id),
  location_id TEXT NOT NULL REFERENCES locations (id),
  PRIMARY KEY (reseller_id, location_id)
) STRICT, WITHOUT ROWID;
