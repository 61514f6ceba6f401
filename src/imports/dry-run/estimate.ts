// How long a copy takes, and how long its server is away. The speed is the one that was measured to the hypervisor, or
// the usual one; both are said, and none is a promise.
import type { SourceHostFacts } from '../../../agent/protocol/values/source-hosts.ts'
import type { MoveMethod } from '../import-records/model.ts'

/** Roughly one minute for 6 GB. */
export const USUAL_BYTES_PER_SECOND = 100_000_000
const BYTES_PER_MBIT = 125_000
/** A system shuts down and is started again. */
const RESTART_SECONDS = 20
/** Names and definitions are changed while an adopted server is off. */
const ADOPT_SECONDS = 5
/** A copy is read once more and compared; measured with SHA-256 on one core of 2026. */
const READ_BYTES_PER_SECOND = 400_000_000

export type Speed = { bytesPerSecond: number; isMeasured: boolean }
export const speedOf = (facts: Pick<SourceHostFacts, 'linkMbps'> | null | undefined): Speed =>
  facts?.linkMbps
    ? { bytesPerSecond: facts.linkMbps * BYTES_PER_MBIT, isMeasured: true }
    : { bytesPerSecond: USUAL_BYTES_PER_SECOND, isMeasured: false }

/** Of a disk, the part that usually changes while it is copied. */
const CHANGED_PART = 0.01

type Facts = Pick<SourceHostFacts, 'hashMbps' | 'tools'>
type Copied = {
  way: 'copy' | 'adopt'
  bytes: number
  runs: boolean
  speed: Speed
  /** A disk that continues another file is copied once, while it is off. */
  hasBacking?: boolean
  facts?: Facts | undefined
}

/** How its disk is copied; null: it is adopted. An old hypervisor has nothing with which changes can be found. */
export function methodOf({ way, runs, hasBacking, facts }: Copied): MoveMethod | null {
  if (way === 'adopt') return null
  const findsChanges = !facts || facts.tools.python !== null || facts.tools.sha1sum !== null
  return runs && !hasBacking && findsChanges ? 'short_stop' : 'plain'
}

export type Estimate = { method: MoveMethod | null; copySeconds: number; awaySeconds: number }
export function estimate(copied: Copied): Estimate {
  const { way, bytes, runs, speed, facts } = copied
  const method = methodOf(copied)
  if (way === 'adopt') return { method, copySeconds: 0, awaySeconds: runs ? RESTART_SECONDS + ADOPT_SECONDS : 0 }
  const copySeconds = Math.ceil(bytes / speed.bytesPerSecond + bytes / READ_BYTES_PER_SECOND)
  if (!runs) return { method, copySeconds, awaySeconds: 0 }
  return {
    method,
    copySeconds,
    awaySeconds: awaySeconds(method, { bytes, copySeconds, speed, facts }) + RESTART_SECONDS,
  }
}

/** So long it is off for its copy, without shutting down and starting. */
function awaySeconds(
  method: MoveMethod | null,
  { bytes, copySeconds, speed, facts }: Pick<Copied, 'bytes' | 'speed' | 'facts'> & { copySeconds: number },
): number {
  // It is off while its disk is copied.
  if (method === 'plain') return copySeconds
  const mapped = facts?.hashMbps ? facts.hashMbps * BYTES_PER_MBIT : READ_BYTES_PER_SECOND
  // Its whole disk is read at its source, what changed is fetched, and what arrived is read.
  const slowest = Math.min(mapped, READ_BYTES_PER_SECOND)
  return Math.ceil(bytes / slowest + (CHANGED_PART * bytes) / speed.bytesPerSecond)
}

/** How long it is away when its disk is copied while it is off. */
export const plainAwaySeconds = (copySeconds: number): number => copySeconds + RESTART_SECONDS
