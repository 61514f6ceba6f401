-- Limits of a server that staff or billing set instead of its package's; null: the package's.
ALTER TABLE servers ADD COLUMN speed_in_mbps INTEGER;
ALTER TABLE servers ADD COLUMN speed_out_mbps INTEGER;
ALTER TABLE servers ADD COLUMN speed_cpu_percent INTEGER;
-- The limit of a server that has used its traffic of this month, and whether its node has to be told.
ALTER TABLE servers ADD COLUMN throttle_mbps INTEGER;
ALTER TABLE servers ADD COLUMN throttle_month TEXT;
ALTER TABLE servers ADD COLUMN speed_untold INTEGER NOT NULL DEFAULT 0;
CREATE INDEX servers_throttled ON servers (throttle_month) WHERE throttle_month IS NOT NULL;
CREATE INDEX servers_speed_untold ON servers (speed_untold) WHERE speed_untold = 1;

-- A package may slow a server down that has used its traffic, to so many megabit per second.
ALTER TABLE packages ADD COLUMN over_traffic_policy TEXT NOT NULL DEFAULT 'nothing'
  CHECK (over_traffic_policy IN ('nothing', 'suspend', 'throttle'));
UPDATE packages SET over_traffic_policy = over_traffic;
ALTER TABLE packages DROP COLUMN over_traffic;
ALTER TABLE packages RENAME COLUMN over_traffic_policy TO over_traffic;
ALTER TABLE packages ADD COLUMN throttle_mbps INTEGER;
