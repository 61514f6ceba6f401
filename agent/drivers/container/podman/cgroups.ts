// The control groups of containers. Each container has a parent group of its own, which stays when the container ends:
// so the kernel's count of processes that it killed for want of memory is still there to be read.
import { existsSync, readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Usage } from '../../hypervisor/hypervisor.ts'
import { read } from './processes.ts'

const ROOT = '/sys/fs/cgroup'

export class Cgroups {
  /** Version 1 has a tree for each kind of resource; a production host has version 2 (`MINIMUM`). */
  private readonly isV2 = existsSync(join(ROOT, 'cgroup.controllers'))

  /** `name` tells the groups of this agent from those of another one on the same host. */
  constructor(private name: string) {}

  /** The parent of a container, as the engine is told. */
  parent = (workload: string) => `/${this.name}/${workload}`

  remove(workload: string) {
    for (const top of this.tops()) removeTree(join(top, workload))
  }

  /** Removes the groups of all other workloads: one in which a process still ended when its container was removed. */
  sweep(kept: ReadonlySet<string>) {
    for (const top of this.tops())
      for (const workload of childrenOf(top)) if (!kept.has(workload)) removeTree(join(top, workload))
  }

  private tops = () => (this.isV2 ? [''] : childrenOf(ROOT)).map((tree) => join(ROOT, tree, this.name))

  /** Processes of the container that the kernel has killed because its memory was full; undefined: nobody knows. */
  oomKills(workload: string): number | undefined {
    if (this.isV2) return counterIn(read(join(this.dir(workload), 'memory.events')), 'oom_kill') ?? 0
    // In version 1 a group counts its own only.
    const dir = this.dir(workload, 'memory')
    const counts = childrenOf(dir).map((child) => counterIn(read(join(dir, child, 'memory.oom_control')), 'oom_kill'))
    const known = counts.filter((count) => count !== undefined)
    return known.length ? known.reduce((sum, count) => sum + count, 0) : undefined
  }

  cpuMs(workload: string): number {
    if (this.isV2) return Math.round((counterIn(read(join(this.dir(workload), 'cpu.stat')), 'usage_usec') ?? 0) / 1000)
    return Math.round(Number(read(join(this.dir(workload, 'cpuacct'), 'cpuacct.usage')) || 0) / 1e6)
  }

  usage(workload: string): Usage {
    const dir = this.dir(workload, 'memory')
    const used = Number(read(join(dir, this.isV2 ? 'memory.current' : 'memory.usage_in_bytes')) || 0)
    const cached = counterIn(read(join(dir, 'memory.stat')), this.isV2 ? 'inactive_file' : 'total_inactive_file') ?? 0
    return { id: workload, ...this.disks(workload), memoryUsedMb: Math.max(0, used - cached) >> 20 }
  }

  private disks(workload: string) {
    const sums = { readBytes: 0, writtenBytes: 0, reads: 0, writes: 0 }
    if (this.isV2) {
      for (const [, name, value] of read(join(this.dir(workload), 'io.stat')).matchAll(/\b([rw](?:bytes|ios))=(\d+)/g))
        sums[V2_NAMES[name as keyof typeof V2_NAMES]] += Number(value)
      return sums
    }
    const dir = this.dir(workload, 'blkio')
    for (const [file, [reads, writes]] of Object.entries(V1_FILES)) {
      const text = read(join(dir, file))
      for (const [, kind, value] of text.matchAll(/^\S+ (Read|Write) (\d+)$/gm))
        sums[kind === 'Read' ? reads : writes] += Number(value)
    }
    return sums
  }

  private dir = (workload: string, controller = 'memory') =>
    join(ROOT, this.isV2 ? '' : controller, this.parent(workload))
}

const V2_NAMES = { rbytes: 'readBytes', wbytes: 'writtenBytes', rios: 'reads', wios: 'writes' } as const
const V1_FILES = {
  'blkio.throttle.io_service_bytes_recursive': ['readBytes', 'writtenBytes'],
  'blkio.throttle.io_serviced_recursive': ['reads', 'writes'],
} as const

/** The value of a line `name value`. */
function counterIn(text: string, name: string): number | undefined {
  const found = new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}

function childrenOf(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []))
  } catch {
    return []
  }
}

/** A group is deleted from its leaves, and only when no process is in it. */
function removeTree(dir: string) {
  for (const child of childrenOf(dir)) removeTree(join(dir, child))
  try {
    rmdirSync(dir)
  } catch {
    // Gone already, or a process of it still ends; an empty group costs nothing.
  }
}
