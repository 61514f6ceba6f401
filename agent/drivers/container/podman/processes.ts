// The processes of containers as the kernel knows them.
import { readFileSync } from 'node:fs'
import { bootIdOfHost } from '../../../host/facts.ts'
import type { Process } from './records.ts'

const CLOCK_TICKS_FIELD = 19
const ZOMBIE = 'Z'

/** The process with this id; undefined where there is none. */
export function processOf(pid: number): Process | undefined {
  const startTicks = startOf(pid)
  return startTicks === undefined ? undefined : { pid, startTicks, bootId: bootIdOfHost() }
}

/** Whether this very process still runs. */
export const isAlive = ({ pid, startTicks, bootId }: Process) =>
  startOf(pid) === startTicks && bootIdOfHost() === bootId

/** The time when it started, in ticks since the boot; undefined for a process that has ended. */
function startOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // Its name stands in brackets and may have any characters.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields[0] === ZOMBIE ? undefined : Number(fields[CLOCK_TICKS_FIELD])
  } catch {
    return undefined
  }
}

/** Bytes and packets of the process's network devices but loopback, as it sees them; zeros where it has ended. */
export function trafficOf(pid: number) {
  const sums = { rxBytes: 0, txBytes: 0, rxPackets: 0, txPackets: 0 }
  for (const line of read(`/proc/${pid}/net/dev`).split('\n').slice(2)) {
    const [name = '', ...values] = line.trim().split(/[\s:]+/)
    if (!name || name === 'lo') continue
    const n = values.map(Number)
    sums.rxBytes += n[0] ?? 0
    sums.rxPackets += n[1] ?? 0
    sums.txBytes += n[8] ?? 0
    sums.txPackets += n[9] ?? 0
  }
  return sums
}

/** The text of a file of the kernel; empty where it is gone. */
export function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
