// The process of a running vm, as the kernel tells it.
import { readFileSync } from 'node:fs'

/** A process by its number and the time of its start, because numbers are used again. */
export type VmProcess = { pid: number; startedAt: string }

/** The process that libvirt has started for a vm; undefined without one. */
export function processOf(workload: string): VmProcess | undefined {
  try {
    const pid = Number(readFileSync(`/run/libvirt/qemu/${workload}.pid`, 'utf8'))
    const stat = statOf(pid)
    return stat && { pid, startedAt: stat.startedAt }
  } catch {
    return undefined
  }
}

/** Whether it can still run something; one that only waits to be collected cannot. */
export function isAlive({ pid, startedAt }: VmProcess): boolean {
  const stat = statOf(pid)
  return stat !== undefined && stat.startedAt === startedAt && !/[ZX]/.test(stat.state)
}

/** Fields 3 and 22 of /proc/PID/stat; the name before them may have any character. */
function statOf(pid: number): { state: string; startedAt: string } | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return { state: fields[0]!, startedAt: fields[19]! }
  } catch {
    return undefined
  }
}
