/**
 * The words in `reserved_for` of an address that a job keeps for a workload which does not have it yet. The job has
 * planned in which VLAN that is.
 */
export const transitReasons = {
  move: (transferId: string) => `Move ${transferId}`,
  change: (workloadId: string) => `Next address of ${workloadId}`,
} as const
