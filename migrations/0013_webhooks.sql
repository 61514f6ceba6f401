-- Each account's events in their order, for whoever replays them.
CREATE INDEX events_customer ON events (customer_id, seq) WHERE customer_id IS NOT NULL;
CREATE INDEX events_reseller ON events (reseller_id, seq) WHERE reseller_id IS NOT NULL;

-- Lanes of one account form a group with limits of its own and a log. Deliveries with the same `ordered_by` leave a lane
-- one after another. `about` is the thing that a delivery tells of.
ALTER TABLE deliveries ADD COLUMN lane_group TEXT;
ALTER TABLE deliveries ADD COLUMN ordered_by TEXT;
ALTER TABLE deliveries ADD COLUMN about TEXT;
CREATE INDEX deliveries_group_log ON deliveries (kind, lane_group) WHERE lane_group IS NOT NULL;
CREATE INDEX deliveries_recipient_log ON deliveries (kind, recipient, id) WHERE lane_group IS NOT NULL;

CREATE TABLE delivery_groups (
  kind TEXT NOT NULL,
  lane_group TEXT NOT NULL,
  waiting INTEGER NOT NULL DEFAULT 0,
  dropped INTEGER NOT NULL DEFAULT 0,
  dropped_at INTEGER,
  PRIMARY KEY (kind, lane_group)
) STRICT;
CREATE TRIGGER deliveries_group_queued AFTER INSERT ON deliveries
WHEN new.state = 'waiting' AND new.lane_group IS NOT NULL BEGIN
  INSERT INTO delivery_groups (kind, lane_group, waiting) VALUES (new.kind, new.lane_group, 1)
    ON CONFLICT (kind, lane_group) DO UPDATE SET waiting = waiting + 1;
END;
CREATE TRIGGER deliveries_group_ended AFTER UPDATE OF state ON deliveries
WHEN old.state = 'waiting' AND new.state <> 'waiting' AND new.lane_group IS NOT NULL BEGIN
  UPDATE delivery_groups SET waiting = waiting - 1 WHERE kind = new.kind AND lane_group = new.lane_group;
END;
CREATE TRIGGER deliveries_group_dropped AFTER DELETE ON deliveries
WHEN old.state = 'waiting' AND old.lane_group IS NOT NULL BEGIN
  UPDATE delivery_groups SET waiting = waiting - 1 WHERE kind = old.kind AND lane_group = old.lane_group;
END;

-- What was sent and answered, of kinds that keep a log; it goes with its delivery.
CREATE TABLE delivery_attempts (
  delivery_id TEXT NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (delivery_id, n)
) STRICT, WITHOUT ROWID;

-- `owner` is the account, or 'platform' for the webhooks of staff.
CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  encrypted_secret TEXT NOT NULL,
  encrypted_previous TEXT,
  previous_until INTEGER,
  paused_at INTEGER,
  pause_reason TEXT CHECK (pause_reason IN ('by_hand', 'failing', 'gone')),
  failures INTEGER NOT NULL DEFAULT 0,
  failing_since INTEGER,
  delivered_at INTEGER,
  failed_at INTEGER,
  created_at INTEGER NOT NULL,
  CHECK ((paused_at IS NULL) = (pause_reason IS NULL))
) STRICT;
CREATE INDEX webhooks_owner ON webhooks (owner, id);

-- When an owner was last told that its queue is full: at most once a day.
CREATE TABLE webhook_overflows (
  owner TEXT PRIMARY KEY,
  told_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
