// Taking in the reports of agents: facts, heartbeats, power changes, and the inventory, which is compared with what
// should be.
import type { Facts, Heartbeat, Inventory, Power } from '../../../agent/protocol/wire.ts'
import { minute } from '../../kernel/db/clock.ts'
import { isDatabaseError } from '../../kernel/db/health.ts'
import { type Db, type Tx, troubleOf, write } from '../../kernel/db/open.ts'
import { SKEW_SHOWN_MS, type SteadyClock } from '../../kernel/db/steady-clock.ts'
import { isHeldByJob } from '../../kernel/jobs/queries.ts'
import { log } from '../../kernel/log.ts'
import type { Report } from '../../kernel/nodes/hub.ts'
import { notePower, type Workload, workloadById, workloadsOn } from '../workloads/queries.ts'
import { nodeById, reportNode } from './queries.ts'
import type { Difference } from './tables.ts'

/** How stale `seen_at` may get on disk: a write per heartbeat of each of 500 nodes would be most of all writes. */
const SEEN_EVERY_MS = minute
/** Reports may use half of each such window. */
const WINDOW_MS = 50

export class Reports {
  private beats = new Map<string, Heartbeat>()
  /** The last reported power of each workload, so that an unchanged heartbeat costs no query. */
  private power = new Map<string, Power>()
  private seenAt = new Map<string, number>()
  /** Nodes whose clock is further off than is shown, so that a clock that is set right is noted at once. */
  private skewed = new Set<string>()
  private waiting: ((tx: Tx) => void)[] = []
  private pause: Timer | undefined
  private spentMs = 0
  private dropped = false

  constructor(
    private db: Db,
    private time: SteadyClock,
  ) {}

  heartbeat = (nodeId: string): Heartbeat | undefined => this.beats.get(nodeId)

  take(nodeId: string, report: Report) {
    if (report.type === 'heartbeat') return this.beat(nodeId, report)
    this.keep((tx) => {
      if (report.type === 'facts') this.facts(tx, nodeId, report.facts)
      else if (report.type === 'inventory') this.inventory(tx, nodeId, report)
      else this.changed(tx, nodeId, report.workload, report.power)
    })
  }

  connected(nodeId: string) {
    const now = this.time.now()
    this.seenAt.set(nodeId, now)
    this.keep((tx) => reportNode(tx, nodeId, { connectedAt: now, seenAt: now }))
  }
  disconnected(nodeId: string) {
    const now = this.time.now()
    this.keep((tx) => reportNode(tx, nodeId, { connectedAt: null, seenAt: now }))
  }

  /**
   * Reports are written as they come, for at most half of the time: after a restart every node reports at once, and
   * people go on working meanwhile. The rest is written together. Nodes repeat everything when they reconnect, so
   * nothing is lost.
   */
  private keep(report: (tx: Tx) => void) {
    // Waiting for the database they would fill the memory; a node repeats them when it connects again.
    if (troubleOf(this.db)) return void (this.dropped = true)
    this.waiting.push(report)
    this.pause ??= setTimeout(() => this.goOn(), WINDOW_MS)
    if (this.waiting.length === 1 && this.spentMs < WINDOW_MS / 2) this.write()
  }

  private goOn() {
    this.spentMs = 0
    this.pause = this.waiting.length ? setTimeout(() => this.goOn(), WINDOW_MS) : undefined
    if (this.waiting.length) this.write()
  }

  private write() {
    const began = performance.now()
    try {
      write(this.db, (tx) => {
        do this.waiting.shift()!(tx)
        while (this.waiting.length && performance.now() - began < WINDOW_MS / 2)
      })
    } catch (error) {
      // A report that cannot be stored does not end the controller: the nodes repeat it.
      this.dropped = true
      if (!isDatabaseError(error)) log.error('reports of nodes could not be kept', { error })
    }
    this.spentMs += performance.now() - began
  }

  /** Were reports dropped since this was last called? Then nodes have to repeat them. */
  takeDropped(): boolean {
    const { dropped } = this
    this.dropped = false
    return dropped
  }

  /** Reports that still wait are dropped: nodes repeat them at the next start. */
  stop() {
    clearTimeout(this.pause)
    this.waiting.length = 0
  }

  private facts(tx: Tx, nodeId: string, facts: Facts) {
    reportNode(tx, nodeId, { facts, memoryMb: facts.memoryMb, threads: facts.cpu.threads })
  }

  private beat(nodeId: string, beat: Heartbeat) {
    const before = this.beats.get(nodeId)
    this.beats.set(nodeId, beat)
    const news = beat.workloads.filter((s) => this.power.get(s.id) !== s.power)
    const now = this.time.now()
    const seenIsStale = now - (this.seenAt.get(nodeId) ?? 0) >= SEEN_EVERY_MS
    const skewMs = beat.at - this.time.wall()
    const isSkewed = Math.abs(skewMs) > SKEW_SHOWN_MS
    if (before && !news.length && !seenIsStale && isSkewed === this.skewed.has(nodeId)) return
    this.seenAt.set(nodeId, now)
    if (isSkewed) this.skewed.add(nodeId)
    else this.skewed.delete(nodeId)
    this.keep((tx) => {
      const node = nodeById(tx, nodeId)
      if (!node) return
      const pool = beat.pools.find((p) => p.name === node.pool) ?? beat.pools[0]
      const storage = pool ? { pool: pool.name, poolBytes: pool.totalBytes } : {}
      reportNode(tx, nodeId, { seenAt: now, skewMs, ...storage })
      for (const s of news) this.changed(tx, nodeId, s.id, s.power)
    })
  }

  private changed(tx: Tx, nodeId: string, workloadId: string, power: Power) {
    const workload = workloadById(tx, workloadId)
    // A node may report only what stands on it.
    if (workload?.nodeId !== nodeId)
      return log.warning('a node reported a workload that is not on it', { nodeId, workloadId })
    this.power.set(workloadId, power)
    // While a job works on it its state is changing, and the report is a moment old.
    notePower(tx, workload, power, isHeldByJob(tx, workloadId))
  }

  private inventory(tx: Tx, nodeId: string, found: Inventory) {
    const expected = workloadsOn(tx, nodeId)
    const busy = new Set(expected.filter((s) => isHeldByJob(tx, s.id)).map((s) => s.id))
    const differences = compare(expected, found, busy)
    reportNode(tx, nodeId, { differences, inventoryAt: this.time.now() })
  }
}

/**
 * Compares what should be on a node with what it found. Workloads that a job works on are left out: they are changing.
 * Nothing is matched by name, and nothing is repaired by itself: an orphan may be the only copy of somebody's data.
 */
export function compare(expected: readonly Workload[], found: Inventory, busy: ReadonlySet<string>): Difference[] {
  const vms = new Map(found.vms.map((vm) => [vm.workload, vm.power]))
  const volumes = Map.groupBy(found.volumes, (volume) => volume.workload)
  const known = new Set(expected.map((w) => w.id))
  const out: Difference[] = []
  for (const { id, hostname, lifecycle, suspendedAt, diskGeneration, spareDiskGb } of expected) {
    if (busy.has(id) || lifecycle === 'terminated') continue
    const power = vms.get(id)
    // Only an installed workload must have a machine and a disk.
    if (lifecycle === 'active') {
      if (!volumes.get(id)?.some(({ generation }) => generation === diskGeneration))
        out.push({ kind: 'missing_volume', workloadId: id, words: `The disk of ${hostname} is not on this node.` })
      if (power === undefined)
        out.push({ kind: 'missing_vm', workloadId: id, words: `${hostname} is not defined on this node.` })
    }
    // While spare space is held, a job that deletes the second disk is still open.
    const changing = spareDiskGb > 0 || lifecycle === 'provisioning'
    const unused = changing ? 0 : (volumes.get(id) ?? []).filter((v) => v.generation !== diskGeneration).length
    if (unused > 0)
      out.push({
        kind: 'unused_volume',
        workloadId: id,
        words: `A disk that ${hostname} does not use is on this node.`,
      })
    if (suspendedAt !== null && power === 'running')
      out.push({ kind: 'power', workloadId: id, words: `${hostname} is suspended and runs.` })
  }
  for (const [id] of vms)
    if (!known.has(id))
      out.push({
        kind: 'orphan_vm',
        workloadId: id,
        words: `The machine ${id} carries our mark, but nothing of this controller stands here under that id.`,
      })
  for (const id of volumes.keys())
    if (!known.has(id) && !vms.has(id))
      out.push({
        kind: 'orphan_volume',
        workloadId: id,
        words: `The disk of ${id} carries our mark, but nothing of this controller stands here under that id.`,
      })
  for (const name of found.foreign)
    out.push({
      kind: 'foreign',
      workloadId: null,
      words: `The machine ${name} is not Berth's. It uses memory and disk that is not counted here.`,
    })
  return out
}
