// How long a copy takes, and how long its server is away. The speed is the one that was measured to the hypervisor, or
// the usual one; both are said, and none is a promise.
import type { SourceHostFacts } from '../../../agent/protocol/values/source-hosts.ts'

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

type Copied = { way: 'copy' | 'adopt'; bytes: number; runs: boolean; speed: Speed }
export function estimate({ way, bytes, runs, speed }: Copied): { copySeconds: number; awaySeconds: number } {
  if (way === 'adopt') return { copySeconds: 0, awaySeconds: runs ? RESTART_SECONDS + ADOPT_SECONDS : 0 }
  const copySeconds = Math.ceil(bytes / speed.bytesPerSecond + bytes / READ_BYTES_PER_SECOND)
  // It is off while its disk is copied.
  return { copySeconds, awaySeconds: runs ? copySeconds + RESTART_SECONDS : 0 }
}
