// The speed of a server: its package's, or what staff set instead of it; while it is over its traffic no more than the
// package then allows.
import { Type as t } from 'typebox'
import type { Speed } from '../../../agent/protocol/wire.ts'
import { formatIn, type PoolSpace } from '../../fleet/storage-pools/queries.ts'
import { described, nullable } from '../../kernel/api/operation.ts'
import type { Server } from './model.ts'

/** Megabit per second to and from the server, and the share of its vCPUs in percent; null: not limited. */
export type Limits = { portInMbps: number | null; portOutMbps: number | null; cpuPercent: number | null }
/** Schemas of `Limits`. */
export const limitFields = {
  portInMbps: described(nullable(t.Integer()), 'Traffic to the server; null: not limited.'),
  portOutMbps: described(nullable(t.Integer()), 'Traffic from the server; null: not limited.'),
  cpuPercent: described(nullable(t.Integer()), 'Of the processor time of all its vCPUs; null: not limited.'),
}
export type SpeedColumns = Pick<
  Server,
  'portMbps' | 'speedInMbps' | 'speedOutMbps' | 'speedCpuPercent' | 'throttleMbps'
>

/** The limits that were set instead of the package's; null: the package's. */
export const overrideOf = (s: SpeedColumns): Limits => ({
  portInMbps: s.speedInMbps,
  portOutMbps: s.speedOutMbps,
  cpuPercent: s.speedCpuPercent,
})
export const isOverridden = (override: Limits) => Object.values(override).some((limit) => limit !== null)

/** The limits in force. */
export const limitsOf = (s: SpeedColumns): Limits => ({
  portInMbps: slower(s.speedInMbps ?? s.portMbps, s.throttleMbps),
  portOutMbps: slower(s.speedOutMbps ?? s.portMbps, s.throttleMbps),
  cpuPercent: s.speedCpuPercent,
})

/** The same for the node, where 100 percent is one processor, with the limits of its disks. */
export function speedOf(s: SpeedColumns & DiskLimits & Pick<Server, 'vcpus'>): Speed {
  const { portInMbps, portOutMbps, cpuPercent } = limitsOf(s)
  const limits = diskLimitsOf(s)
  return {
    inMbps: portInMbps,
    outMbps: portOutMbps,
    cpuPercent: cpuPercent === null ? null : cpuPercent * s.vcpus,
    ...(Object.values(limits).some((limit) => limit !== null) && {
      disk: {
        reads: limits.diskReadIops,
        writes: limits.diskWriteIops,
        readBytes: inBytes(limits.diskReadMbPerSecond),
        writtenBytes: inBytes(limits.diskWriteMbPerSecond),
      },
    }),
  }
}

const inBytes = (mb: number | null) => (mb === null ? null : mb * 1024 ** 2)

/** The limits of each disk, in MiB and operations per second; null: not limited. */
export type DiskLimits = Pick<Server, 'diskReadIops' | 'diskWriteIops' | 'diskReadMbPerSecond' | 'diskWriteMbPerSecond'>
/** The columns that a new server takes over from its package and from the pool of its disk. */
export const takenOver = (
  of: Pick<Server, 'trafficGb' | 'portMbps'> & { id: string } & DiskLimits,
  pool: Pick<PoolSpace, 'kind'>,
) => ({
  packageId: of.id,
  trafficGb: of.trafficGb,
  portMbps: of.portMbps,
  ...diskLimitsOf(of),
  format: formatIn(pool),
})

/** The limits of a package or of a server that took them over. */
export const diskLimitsOf = (of: DiskLimits): DiskLimits => ({
  diskReadIops: of.diskReadIops,
  diskWriteIops: of.diskWriteIops,
  diskReadMbPerSecond: of.diskReadMbPerSecond,
  diskWriteMbPerSecond: of.diskWriteMbPerSecond,
})

const slower = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b))
