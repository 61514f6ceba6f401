-- Workloads of one state, and terminated ones that can be brought back, in the order of their lists: without these the list of 37,000
-- running servers sorted all of them (21 ms). The state as src/fleet/workloads/status.ts computes it; both must be the same text.
CREATE INDEX workloads_status ON workloads ((CASE
  WHEN lifecycle = 'terminated' THEN 'terminated'
  WHEN lifecycle <> 'terminated' AND suspended_at IS NOT NULL THEN 'suspended'
  WHEN lifecycle = 'provisioning' AND suspended_at IS NULL THEN 'provisioning'
  WHEN lifecycle = 'pending_setup' AND suspended_at IS NULL THEN 'pending_setup'
  WHEN lifecycle = 'failed' AND suspended_at IS NULL THEN 'failed'
  WHEN lifecycle = 'active' AND suspended_at IS NULL AND power IN ('running', 'paused') THEN 'running'
  WHEN lifecycle = 'active' AND suspended_at IS NULL AND (power IS NULL OR NOT power IN ('running', 'paused')) THEN 'stopped' END), kind, id);
CREATE INDEX workloads_recoverable ON workloads (kind, id) WHERE purge_at IS NOT NULL;
-- Servers of a package too are listed by their ids (75 ms for 40,000).
DROP INDEX servers_package;
CREATE INDEX servers_package ON servers (package_id, id);
