// The use of vms and of their host between two readings of their counters. A counter that began anew, a vm that was
// off, and a reading that is too old give no sample: the controller shows a gap there.
import type { Seen, Usage } from '../../drivers/hypervisor/hypervisor.ts'
import { type HostSample, LONGEST_SAMPLE_MS, type MetricsSample } from '../../protocol/wire.ts'
import type { HostCounters } from './counters.ts'

/** Disks and memory are read at each such turn: on a node with 500 vms the reading takes two seconds. */
const SLOW_EVERY = 6

type Reading = { at: number; counters: readonly number[] }
type Increments = { ms: number; sums: number[] }

export class Measuring {
  private fast = new Map<string, Reading>()
  private slow = new Map<string, Reading>()
  private host = new Map<string, Reading>()
  private turns = 0

  /** `now`: milliseconds that only advance. */
  constructor(private now: () => number = () => performance.now()) {}

  /**
   * The samples since the last turn of the vms that run. `usage` reads disks and memory; it is called in every sixth
   * turn, and one that fails leaves them out.
   */
  async turn(seen: readonly Seen[], usage: () => Promise<Usage[]>): Promise<MetricsSample[]> {
    const running = seen.filter(({ power }) => power === 'running')
    const at = this.now()
    const increments = since(
      this.fast,
      at,
      running.map((vm) => [vm.id, [vm.cpuMs, vm.rxBytes, vm.txBytes, vm.rxPackets, vm.txPackets]]),
    )
    const slow = this.turns++ % SLOW_EVERY === 0 ? await this.slowTurn(usage) : undefined
    return [...increments].map(([id, { ms, sums }]) => ({ id, ms, fast: sums, ...slow?.get(id) }))
  }

  /** The sample of the host since the last turn; undefined at the first one and after a gap. */
  hostTurn({
    cpuMs,
    rxBytes,
    txBytes,
    rxPackets,
    txPackets,
    disk,
    memoryUsedMb,
  }: HostCounters): HostSample | undefined {
    const fast = [cpuMs, rxBytes, txBytes, rxPackets, txPackets]
    const disks = disk && [disk.readBytes, disk.writtenBytes, disk.reads, disk.writes]
    const grown = since(this.host, this.now(), [['fast', fast], ...(disks ? [['disk', disks] as const] : [])])
    const [one, other] = [grown.get('fast'), grown.get('disk')]
    return (
      one && { ms: one.ms, fast: one.sums, ...(other && { disk: other }), memory: { ms: one.ms, usedMb: memoryUsedMb } }
    )
  }

  private async slowTurn(usage: () => Promise<Usage[]>) {
    const found = await usage().catch(() => [])
    const last = this.slow
    const at = this.now()
    const times = new Map(found.map(({ id }) => [id, last.get(id)?.at]))
    const increments = since(
      last,
      at,
      found.map((vm) => [vm.id, [vm.readBytes, vm.writtenBytes, vm.reads, vm.writes]]),
    )
    return new Map(
      found.map(({ id, memoryUsedMb }) => {
        const disk = increments.get(id)
        const ms = Math.round(at - (times.get(id) ?? at))
        return [
          id,
          {
            ...(disk && { disk }),
            ...(memoryUsedMb !== undefined &&
              ms > 0 &&
              ms <= LONGEST_SAMPLE_MS && { memory: { ms, usedMb: memoryUsedMb } }),
          },
        ] as const
      }),
    )
  }
}

/** Replaces the readings `before` by these and answers what grew. One smaller counter means that all began anew. */
function since(
  before: Map<string, Reading>,
  at: number,
  readings: readonly (readonly [id: string, counters: readonly number[]])[],
): Map<string, Increments> {
  const grown = new Map<string, Increments>()
  const earlier = new Map(before)
  before.clear()
  for (const [id, counters] of readings) {
    const last = earlier.get(id)
    before.set(id, { at, counters })
    if (!last) continue
    const ms = Math.round(at - last.at)
    const sums = counters.map((n, i) => n - (last.counters[i] ?? 0))
    if (ms >= 1 && ms <= LONGEST_SAMPLE_MS && sums.every((n) => n >= 0)) grown.set(id, { ms, sums })
  }
  return grown
}
