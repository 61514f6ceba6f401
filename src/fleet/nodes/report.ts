// Taking in the reports of agents: facts, heartbeats, power changes, and the inventory, which is compared with what
// should be.
import { Value } from 'typebox/value'
import type { ContainerEnd } from '../../../agent/protocol/gpu.ts'
import { type MonotonicClock, SKEW_SHOWN_MS } from '../../../agent/protocol/monotonic-clock.ts'
import {
  type Addresses,
  type Crash,
  Facts,
  type Heartbeat,
  type Inventory,
  type Metrics,
  MOST_WORKLOADS,
  PoolCapacity,
  type Power,
} from '../../../agent/protocol/wire.ts'
import { minute, second } from '../../kernel/db/clock.ts'
import { isDatabaseError } from '../../kernel/db/health.ts'
import { type Db, isInTransaction, savepoint, type Tx, write, writeUnflushed } from '../../kernel/db/open.ts'
import { hasEndedSince, isHeldByJob } from '../../kernel/jobs/queries.ts'
import { log } from '../../kernel/log.ts'
import { Budget } from '../../kernel/nodes/budget.ts'
import type { Hub, Report } from '../../kernel/nodes/hub.ts'
import type { Offence } from '../../kernel/nodes/offences.ts'
import { awaitNoLonger } from '../../network/ip-pools/awaited.ts'
import { keepCards } from '../gpus/queries.ts'
import type { Difference, Node } from '../node-records/model.ts'
import { bridgeOf, connectedBefore, guestsOn, nodeById, reportNode } from '../node-records/queries.ts'
import { keepPools, nodesSharing } from '../storage-pools/queries.ts'
import { type ReportedDay, WaitingTraffic } from '../traffic-records/reports.ts'
import { volumesOn } from '../volume-records/queries.ts'
import { noteCrash } from '../workloads/crashes.ts'
import type { DeclaredKind } from '../workloads/kind.ts'
import { notePower, workloadById } from '../workloads/queries.ts'
import { Elsewhere } from '../workloads/stays/elsewhere.ts'
import { type OnNode, roleOn, stayedOnDay, stayVolumesOn, workloadsOn } from '../workloads/stays/queries.ts'
import { AddressParts, type NamedAddresses, storeAddresses } from './addresses/report.ts'

/** How stale `seen_at` may get on disk: a write per heartbeat of each of 500 nodes would be most of all writes. */
const SEEN_EVERY_MS = minute
/** An agent gathers a heartbeat for a moment before it sends it. */
const HEARTBEAT_AGE_MS = second
/** A change of free space by this share of the storage is stored at once. */
const SPACE_STEP = 0.005
/** Reports may use half of each such window. */
const WINDOW_MS = 50
/** After a write that failed as a whole, e.g. on a full disk. */
const RETRY_MS = 2 * second
/** So often the reports of one node are written; between two turns its later words replace its earlier ones. */
const TURNS = { perSecond: 4, burst: 12 }

/** A power as a node saw it; `at` is when it looked, at the earliest, in ms. `end`: why a container ended. */
type Seen = { power: Power; at: number; end?: ContainerEnd | undefined }
/** The last report of each kind since the node's last turn: it never grows beyond one of each. */
type Pending = {
  columns: Partial<Node>
  pools: readonly PoolCapacity[] | undefined
  inventory: Inventory | undefined
  addresses: NamedAddresses | undefined
  power: Map<string, Seen>
  /** By workload and time: a node repeats those of a day whenever it connects. */
  crashes: Map<string, Crash>
  traffic: WaitingTraffic
}
const nothing = (): Pending => ({
  columns: {},
  pools: undefined,
  inventory: undefined,
  addresses: undefined,
  power: new Map(),
  crashes: new Map(),
  traffic: new WaitingTraffic(),
})
/** The heartbeat as pages show it, with the time of its arrival. */
export type Beat = Omit<Heartbeat, 'type' | 'workloads'>
type Silent = NonNullable<Heartbeat['silent']>

/** Told after the transaction in which it was found. */
export type Finding = { nodeId: string; offence: Offence; details: object }

type Storing = {
  tx: Tx
  nodeId: string
  pending: Pending
  /** Changes of memory that follow the commit. */
  stored: (() => void)[]
  findings: Finding[]
}

/**
 * Notes nodes as disconnected that were connected before a restart and did not come back within the grace period: the
 * next restart waits for them no more. When each was last seen stays as it is stored.
 */
export function noteNotBack(db: Db, hub: Pick<Hub, 'connected' | 'isReconnecting'>) {
  const notBack = connectedBefore(db).filter((nodeId) => !hub.connected(nodeId) && !hub.isReconnecting(nodeId))
  if (notBack.length)
    write(db, (tx) => {
      for (const nodeId of notBack) reportNode(tx, nodeId, { connectedAt: null })
    })
}

export class Reports {
  private beats = new Map<string, Beat>()
  private disks = new Map<string, Inventory['volumes']>()
  /** The power of each workload as its home told it and it is stored: an unchanged heartbeat costs no query. */
  private power = new Map<string, { nodeId: string; power: Power }>()
  /** When `seen_at` of each node was last stored. */
  private seenAt = new Map<string, number>()
  /** The storage pools of each node as they are stored. */
  private pools = new Map<string, readonly PoolCapacity[]>()
  /** Nodes whose clock is further off than is shown, so that a clock that is set right is noted at once. */
  private skewed = new Set<string>()
  private waiting = new Map<string, Pending>()
  private turns = new Map<string, Budget>()
  private addressParts = new AddressParts()
  private pause: Timer | undefined
  private spentMs = 0
  private stopped = false

  constructor(
    private db: Db,
    private time: MonotonicClock,
    private found: (finding: Finding) => void = () => {},
    private takeTraffic: (tx: Tx, day: ReportedDay, now: number) => void = () => {},
    /** Told after the transaction that stored a node's traffic up to this number. */
    private trafficStored: (nodeId: string, seq: number) => void = () => {},
    private takeMetrics: (nodeId: string, frame: Metrics) => void = () => {},
    /** The kinds of workloads; some are told what nodes report of theirs. */
    private kinds: ReadonlyMap<string, DeclaredKind> = new Map(),
  ) {
    this.elsewhere = new Elsewhere(db)
  }

  /** Workloads that run on another node than their home. */
  readonly elsewhere: Elsewhere
  /** Counts up when `lastSeen` of a node is another, or what it does not answer. */
  contactVersion = 0

  /** As the last inventory of the node names them. */
  disksOn = (nodeId: string): Inventory['volumes'] | undefined => this.disks.get(nodeId)

  heartbeat = (nodeId: string): Beat | undefined => this.beats.get(nodeId)

  /** When the node was last connected, in ms, at most a minute less. */
  lastSeen(nodeId: string): number | undefined {
    let seenAt = this.seenAt.get(nodeId)
    if (seenAt === undefined) {
      seenAt = nodeById(this.db, nodeId)?.seenAt
      if (seenAt !== undefined) this.seenAt.set(nodeId, seenAt)
    }
    return seenAt
  }

  take(nodeId: string, report: Report) {
    if (report.type === 'heartbeat') return this.beat(nodeId, report)
    if (report.type === 'metrics') return this.takeMetrics(nodeId, report)
    if (report.type === 'addresses') return this.takeAddresses(nodeId, report)
    this.keep(nodeId, (pending) => {
      if (report.type === 'facts') {
        const { facts } = report
        Object.assign(pending.columns, { facts, memoryMb: facts.memoryMb, threads: facts.cpu.threads })
      } else if (report.type === 'inventory') pending.inventory = report
      else if (report.type === 'crash') addCrash(pending, report)
      else if (report.type === 'traffic') pending.traffic.add(report)
      else addPower(pending, report.workload, { power: report.power, at: this.time.now(), end: report.end })
    })
  }

  private takeAddresses(nodeId: string, part: Addresses) {
    const named = this.addressParts.add(nodeId, part)
    if (named) this.keep(nodeId, (pending) => void (pending.addresses = { named, at: this.time.now() }))
  }

  connected(nodeId: string) {
    const now = this.time.now()
    this.keep(nodeId, ({ columns }) => Object.assign(columns, { connectedAt: now, seenAt: now }))
  }
  disconnected(nodeId: string) {
    const now = this.time.now()
    this.addressParts.forget(nodeId)
    this.keep(nodeId, ({ columns }) => Object.assign(columns, { connectedAt: null, seenAt: now }))
  }

  /**
   * Reports are written as they come, for at most half of the time and for one node at most a few times a second: after
   * a restart every node reports at once, and people go on working meanwhile. The rest is written together.
   */
  private keep(nodeId: string, add: (pending: Pending) => void) {
    const pending = this.waiting.get(nodeId) ?? nothing()
    add(pending)
    this.waiting.set(nodeId, pending)
    if (this.stopped) return
    this.pause ??= setTimeout(() => this.goOn(), WINDOW_MS)
    if (this.spentMs < WINDOW_MS / 2) this.write()
  }

  /** Are there reports that are not stored yet? */
  get isBehind(): boolean {
    return this.waiting.size > 0
  }

  private goOn() {
    this.spentMs = 0
    this.pause = this.waiting.size ? setTimeout(() => this.goOn(), WINDOW_MS) : undefined
    if (this.waiting.size) this.write()
  }

  private hasTurn(nodeId: string): boolean {
    let turns = this.turns.get(nodeId)
    if (!turns) this.turns.set(nodeId, (turns = new Budget(TURNS.perSecond, TURNS.burst, () => performance.now())))
    return turns.take(1)
  }

  /** One savepoint per node: what the database refuses of one costs no other. Memory changes after the commit. */
  private write() {
    const began = performance.now()
    const due = this.waiting.keys().filter((nodeId) => this.hasTurn(nodeId))
    const batch = new Map<string, Pending>()
    const stored: (() => void)[] = []
    const findings: Finding[] = []
    let nodeId = due.next().value
    if (nodeId === undefined) return
    // A node repeats what it is at each connect. Its traffic and crashes it forgets once they are stored.
    const isRepeated = !this.waiting.values().some(({ crashes, traffic }) => crashes.size || traffic.seq !== undefined)
    const put = isRepeated ? writeUnflushed : write<void>
    try {
      put(this.db, (tx) => {
        for (; nodeId !== undefined; nodeId = due.next().value) {
          const pending = this.waiting.get(nodeId)!
          this.waiting.delete(nodeId)
          batch.set(nodeId, pending)
          this.store({ tx, nodeId, pending, stored, findings })
          if (performance.now() - began >= WINDOW_MS / 2) break
        }
      })
      for (const change of stored) change()
    } catch (error) {
      // The journal says once why the database cannot be written.
      if (!isDatabaseError(error)) log.error('reports of nodes could not be kept and wait', { error })
      this.putBack(batch)
    }
    this.spentMs += performance.now() - began
    for (const finding of findings) this.found(finding)
  }

  private putBack(batch: ReadonlyMap<string, Pending>) {
    for (const [nodeId, before] of batch) {
      const later = this.waiting.get(nodeId) ?? nothing()
      this.waiting.set(nodeId, {
        columns: { ...before.columns, ...later.columns },
        pools: later.pools ?? before.pools,
        inventory: later.inventory ?? before.inventory,
        addresses: later.addresses ?? before.addresses,
        power: new Map([...before.power, ...later.power]),
        crashes: new Map([...before.crashes, ...later.crashes]),
        traffic: before.traffic.before(later.traffic),
      })
    }
    clearTimeout(this.pause)
    this.pause = this.stopped ? undefined : setTimeout(() => this.goOn(), RETRY_MS)
    this.spentMs = WINDOW_MS
  }

  private store({ tx, nodeId, pending, stored, findings }: Storing) {
    try {
      const changes = savepoint(tx, () => this.storeIn(tx, nodeId, pending, findings))
      stored.push(...changes)
    } catch (error) {
      if (isDatabaseError(error) || !isInTransaction(tx)) throw error
      log.error('the reports of a node could not be stored', { nodeId, error })
      findings.push({ nodeId, offence: 'not_storable', details: {} })
    }
  }

  /** Answers the changes of memory that follow the commit. */
  private storeIn(tx: Tx, nodeId: string, pending: Pending, findings: Finding[]): (() => void)[] {
    if (bridgeOf(tx, nodeId) === undefined) return []
    const { columns, pools, inventory, addresses } = pending
    const values = {
      ...columns,
      // Fields that the protocol does not have are not stored.
      ...(columns.facts && { facts: Value.Clean(Facts, columns.facts) as Facts }),
      ...(inventory && {
        differences: withUnknown(
          differencesOn(tx, nodeId, inventory, this.kinds),
          inventory,
          () => nodeById(tx, nodeId)!.differences,
        ),
        inventoryAt: this.time.now(),
      }),
    }
    if (Object.keys(values).length) reportNode(tx, nodeId, values)
    if (addresses && !storeAddresses(tx, this.time.now, nodeId, addresses))
      findings.push({ nodeId, offence: 'too_many_addresses', details: { addresses: addresses.named.length } })
    // An agent from before these reports; where nothing is unknown, there is nothing to hold.
    const hasOrphans = values.differences?.some(({ kind }) => kind.startsWith('orphan'))
    if (inventory && isWhole(inventory) && !hasOrphans && !this.addressParts.isTeller(nodeId)) awaitNoLonger(tx, nodeId)
    if (pools) keepPools(tx, nodeId, pools, this.time.now())
    if (values.facts) keepCards(tx, nodeId, values.facts, this.time.now())
    const changes: (() => void)[] = []
    const { seenAt, skewMs } = columns
    if (seenAt !== undefined)
      changes.push(() => {
        this.seenAt.set(nodeId, seenAt)
        this.contactVersion++
      })
    if (pools) changes.push(() => this.pools.set(nodeId, pools))
    if (inventory) changes.push(() => this.disks.set(nodeId, inventory.volumes))
    if (skewMs !== undefined)
      changes.push(() => void (isSkewed(skewMs) ? this.skewed.add(nodeId) : this.skewed.delete(nodeId)))
    const foreign = new Set<string>()
    // Before the powers: a workload that ended and runs again has both.
    const ended = this.storeCrashes(tx, nodeId, pending.crashes, foreign)
    for (const [workloadId, { power, at, end }] of pending.power) {
      const workload = workloadById(tx, workloadId)
      // The power of a workload is that at its home, whatever a second node has of it.
      const role = workload && roleOn(tx, workload, nodeId)
      if (workload && (role === undefined || role === 'past')) {
        foreign.add(workloadId)
        changes.push(() => this.elsewhere.note(nodeId, workloadId, power))
      }
      if (!workload || role !== 'home') continue
      // The job knows better than what the node saw before its end. If it is still so, the next heartbeat tells it.
      if (hasEndedSince(tx, workloadId, at)) continue
      // While a job works on it its state is changing, and the report is a moment old.
      const busy = isHeldByJob(tx, workloadId)
      notePower(tx, workload, power, busy)
      const { powered } = this.kinds.get(workload.kind) ?? {}
      powered?.(tx, workloadId, power, end, { busy, now: this.time.now() })
      ended.delete(workloadId)
      // A kind that takes it gets it again by each heartbeat until no job works on the workload.
      if (!(busy && powered)) changes.push(() => this.power.set(workloadId, { nodeId, power }))
    }
    for (const [id, busy] of ended) {
      const { kind, power } = workloadById(tx, id)!
      this.kinds.get(kind)?.powered?.(tx, id, power, undefined, { busy, now: this.time.now() })
    }
    const { seq, days } = pending.traffic
    for (const { workload: id, ...day } of days.values()) {
      const workload = workloadById(tx, id)
      if (!workload) continue
      // Each byte passes one node. The former home tells the last of it when the workload is gone from there.
      if (stayedOnDay(tx, id, nodeId, day.day)) this.takeTraffic(tx, { ...day, workload, nodeId }, this.time.now())
      // The clock of its home may be wrong. Any other node tells of a time in which the workload was elsewhere.
      else if (roleOn(tx, workload, nodeId) !== 'home') foreign.add(id)
    }
    if (seq !== undefined) changes.push(() => this.trafficStored(nodeId, seq))
    if (foreign.size)
      findings.push({
        nodeId,
        offence: 'not_its_workload',
        details: { workloads: foreign.size, workloadId: [...foreign][0] },
      })
    return changes
  }

  /** Answers the workloads whose crashes are new and whose kind takes them, and whether a job works on each. */
  private storeCrashes(tx: Tx, nodeId: string, crashes: Pending['crashes'], foreign: Set<string>) {
    const told = new Map<string, boolean>()
    for (const crash of crashes.values()) {
      const workload = workloadById(tx, crash.workload)
      if (!workload) continue
      const role = roleOn(tx, workload, nodeId)
      if (role === undefined) foreign.add(crash.workload)
      // Where it arrives, its job takes the end. A former home repeats those of its day: they happened.
      if (role === undefined || role === 'arriving') continue
      if (!noteCrash(tx, this.time.now, workload, crash) || role !== 'home') continue
      const { crashed } = this.kinds.get(workload.kind) ?? {}
      if (!crashed) continue
      const busy = isHeldByJob(tx, crash.workload)
      crashed(tx, crash.workload, crash, { busy, now: this.time.now() })
      told.set(crash.workload, busy)
    }
    return told
  }

  /** Reports that still wait are dropped: nodes repeat them at the next start. */
  stop() {
    this.stopped = true
    clearTimeout(this.pause)
    this.waiting.clear()
  }

  private beat(nodeId: string, beat: Heartbeat) {
    const { workloads, cpuPercent, load1, memoryFreeMb, at } = beat
    const now = this.time.now()
    this.elsewhere.heard(nodeId, workloads)
    const before = this.beats.get(nodeId)
    // Silences are told in the time of the node, whose clock may differ. One that lasts keeps the time that it got.
    const here = (since: number) => Math.min(now, now - (at - since))
    const pools = beat.pools.map(knownFieldsOf).map((pool) => {
      const known = before?.pools.find(({ name }) => name === pool.name)?.silentSince
      return pool.silentSince === undefined ? pool : { ...pool, silentSince: known ?? here(pool.silentSince) }
    })
    const silent: Silent = (beat.silent ?? []).map(({ part, since, why }) => {
      const known = before?.silent?.find((other) => other.part === part)
      return { part, since: known?.since ?? here(since), why }
    })
    if (!Bun.deepEquals(silent, before?.silent ?? [])) this.contactVersion++
    this.beats.set(nodeId, { at: now, cpuPercent, load1, memoryFreeMb, pools, silent })
    const isNews = ({ id, power }: { id: string; power: Power }) => {
      const known = this.power.get(id)
      return known?.power !== power || known.nodeId !== nodeId
    }
    const news = workloads.filter(isNews)
    const seenIsStale = now - (this.seenAt.get(nodeId) ?? 0) >= SEEN_EVERY_MS
    const skewMs = at - this.time.wall()
    const hasNewPools = this.hasOtherSpace(nodeId, pools)
    const isKnown = !news.length && isSkewed(skewMs) === this.skewed.has(nodeId) && !hasNewPools
    if (before && !seenIsStale && isKnown) return
    this.keep(nodeId, (pending) => {
      Object.assign(pending.columns, { seenAt: now, skewMs })
      if (hasNewPools) pending.pools = pools
      for (const { id, power, end } of news) addPower(pending, id, { power, at: now - HEARTBEAT_AGE_MS, end })
    })
  }

  /** A disk that something else fills must not take a server that was ordered a minute later. */
  private hasOtherSpace(nodeId: string, pools: readonly PoolCapacity[]): boolean {
    const stored = this.pools.get(nodeId)
    if (stored === undefined) return true
    return stored.length !== pools.length || pools.some((pool) => !stored.some((before) => isNearly(pool, before)))
  }
}

/** A newer agent may send more. */
function knownFieldsOf(pool: PoolCapacity): PoolCapacity {
  const known = Object.keys(PoolCapacity.properties) as (keyof PoolCapacity)[]
  return Object.fromEntries(known.flatMap((name) => (name in pool ? [[name, pool[name]]] : []))) as PoolCapacity
}

/** The same pool, with so nearly the same space that it is not worth a write. */
function isNearly(
  { freeBytes, metadataFreeBytes = 0, ...pool }: PoolCapacity,
  { freeBytes: freeBefore, metadataFreeBytes: metadataBefore = 0, ...before }: PoolCapacity,
): boolean {
  return (
    Math.abs(freeBytes - freeBefore) <= pool.totalBytes * SPACE_STEP &&
    Math.abs(metadataFreeBytes - metadataBefore) <= (pool.metadataTotalBytes ?? 0) * SPACE_STEP &&
    Bun.deepEquals(pool, before)
  )
}

const isSkewed = (skewMs: number) => Math.abs(skewMs) > SKEW_SHOWN_MS

/**
 * The last word counts; a node that names more workloads than the protocol allows loses the rest. A heartbeat that says
 * the same does not say why.
 */
function addPower({ power }: Pending, workloadId: string, seen: Seen) {
  const before = power.get(workloadId)
  if (power.size >= MOST_WORKLOADS && !before) return
  const end = seen.end ?? (before?.power === seen.power ? before.end : undefined)
  power.set(workloadId, { ...seen, end })
}

function addCrash({ crashes }: Pending, crash: Crash) {
  if (crashes.size < MOST_WORKLOADS) crashes.set(`${crash.workload} ${crash.at}`, crash)
}

const ofMachines: ReadonlySet<Difference['kind']> = new Set(['missing_vm', 'orphan_vm', 'power', 'foreign'])
const ofVolumes: ReadonlySet<Difference['kind']> = new Set(['missing_volume', 'orphan_volume', 'unused_volume'])

/** Every part of the node has answered. */
const isWhole = ({ silent = [], silentPools = [] }: Inventory): boolean => !silent.length && !silentPools.length

/**
 * Earlier differences stay while the part of the node that could tell of their end does not answer: no more than a node
 * has workloads, whatever it names one after the other meanwhile.
 */
function withUnknown(found: Difference[], inventory: Inventory, before: () => Difference[]): Difference[] {
  if (isWhole(inventory)) return found
  const { silent = [], silentPools = [] } = inventory
  const isUnknown = ({ kind }: Difference) =>
    (silent.length > 0 && ofMachines.has(kind)) ||
    ((silentPools.length > 0 || silent.includes('containers')) && ofVolumes.has(kind))
  const words = new Set(found.map((one) => one.words))
  const stay = before().filter((one) => isUnknown(one) && !words.has(one.words))
  return [...found, ...stay.slice(0, Math.max(0, MOST_WORKLOADS - found.length))]
}

function differencesOn(
  tx: Tx,
  nodeId: string,
  found: Inventory,
  kinds: ReadonlyMap<string, DeclaredKind>,
): Difference[] {
  const expected = workloadsOn(tx, nodeId)
  const busy = new Set(expected.filter((s) => isHeldByJob(tx, s.id)).map((s) => s.id))
  const volumes = volumesOn(tx, nodeId)
  const others = new Set([...guestsOn(tx, nodeId), ...volumes.map(({ id }) => id), ...stayVolumesOn(tx, nodeId)])
  const isWorkload = ({ workload }: { workload: string }) => !others.has(workload)
  const isElsewhere = inSharedStorage(tx, nodeId, expected)
  const workloads = {
    ...found,
    vms: found.vms.filter(isWorkload),
    volumes: found.volumes.filter((one) => isWorkload(one) && !isElsewhere(one)),
  }
  const isContainer = ({ kind }: OnNode) => kinds.get(kind)?.runsAs === 'container'
  return [
    ...compare(
      expected.filter((w) => !isContainer(w)),
      workloads,
      busy,
    ),
    ...(found.silent?.includes('containers') ? [] : compareContainers(expected.filter(isContainer), found, busy)),
    ...missingVolumes(volumes, found),
  ]
}

/** Answers of a disk whether it belongs to another node, which reaches the same storage. */
function inSharedStorage(tx: Tx, nodeId: string, expected: readonly OnNode[]) {
  const atHome = new Set(expected.filter(({ role }) => role === 'home').map(({ id }) => id))
  const known = new Map<string, ReadonlySet<string>>()
  const idsOn = (id: string) => [
    ...workloadsOn(tx, id).map((one) => one.id),
    ...volumesOn(tx, id).map((one) => one.id),
    ...guestsOn(tx, id),
    ...stayVolumesOn(tx, id),
  ]
  return ({ workload, pool }: Inventory['volumes'][number]): boolean => {
    if (atHome.has(workload)) return false
    const others = known.get(pool) ?? new Set(nodesSharing(tx, { nodeId, pool }).flatMap(idsOn))
    known.set(pool, others)
    return others.has(workload)
  }
}

/** The same for workloads that are containers. An agent that does not report any has none. */
export function compareContainers(
  expected: readonly OnNode[],
  { containers = [], workspaces = [] }: Pick<Inventory, 'containers' | 'workspaces'>,
  busy: ReadonlySet<string>,
): Difference[] {
  const powers = new Map(containers.map(({ workload, power }) => [workload, power]))
  const stored = new Set(workspaces)
  const known = new Set(expected.map(({ id }) => id))
  const out: Difference[] = []
  for (const { id, hostname, role, lifecycle, suspendedAt } of expected) {
    const power = powers.get(id)
    if (busy.has(id)) continue
    if (role !== 'home') out.push(...remains({ id, hostname }, power, stored.has(id)))
    if (role !== 'home' || lifecycle !== 'active') continue
    if (!stored.has(id))
      out.push({ kind: 'missing_volume', workloadId: id, words: `The /workspace of ${hostname} is not on this node.` })
    if (power === undefined)
      out.push({ kind: 'missing_vm', workloadId: id, words: `The container of ${hostname} is not on this node.` })
    if (suspendedAt !== null && power === 'running')
      out.push({ kind: 'power', workloadId: id, words: `${hostname} is suspended and runs.` })
  }
  const ours = 'carries our mark, but nothing of this controller stands here under that id.'
  for (const id of powers.keys())
    if (!known.has(id)) out.push({ kind: 'orphan_vm', workloadId: id, words: `The container ${id} ${ours}` })
  for (const id of stored)
    if (!known.has(id) && !powers.has(id))
      out.push({ kind: 'orphan_volume', workloadId: id, words: `The /workspace of ${id} ${ours}` })
  return out
}

/** Extra volumes that should be there. One that a job works on is changing. */
function missingVolumes(expected: ReturnType<typeof volumesOn>, found: Inventory): Difference[] {
  const there = new Set(found.volumes.map(({ workload }) => workload))
  const silent = new Set(found.silentPools)
  return expected
    .filter(({ id, state, jobId, pool }) => state === 'ready' && jobId === null && !there.has(id) && !silent.has(pool))
    .map(({ id, name }) => ({
      kind: 'missing_volume',
      workloadId: null,
      words: `The extra volume ${name} (${id}) is not on this node.`,
    }))
}

/** On a node where a workload is not at home, and no job works on it: its remains. */
function remains({ id, hostname }: { id: string; hostname: string }, power: Power | undefined, hasDisk: boolean) {
  const out: Difference[] = []
  if (power === 'running' || power === 'paused')
    out.push({ kind: 'power', workloadId: id, words: `${hostname} runs on this node, and another node is its home.` })
  if (hasDisk)
    out.push({
      kind: 'unused_volume',
      workloadId: id,
      words: `A disk of ${hostname} is on this node, and another node is its home.`,
    })
  return out
}

/**
 * Compares what should be on a node with what it found. Workloads that a job works on are left out: they are changing.
 * Nothing is matched by name, and nothing is repaired by itself: an orphan may be the only copy of somebody's data.
 */
export function compare(expected: readonly OnNode[], found: Inventory, busy: ReadonlySet<string>): Difference[] {
  const vms = new Map(found.vms.map((vm) => [vm.workload, vm.power]))
  const volumes = Map.groupBy(found.volumes, (volume) => volume.workload)
  const known = new Set(expected.map((w) => w.id))
  const silentPools = new Set(found.silentPools)
  const vmsAreKnown = !found.silent?.includes('hypervisor')
  const out: Difference[] = []
  for (const { id, hostname, role, lifecycle, suspendedAt, diskGeneration, spareDiskGb, pool } of expected) {
    if (busy.has(id)) continue
    const power = vms.get(id)
    if (role !== 'home') out.push(...remains({ id, hostname }, power, volumes.has(id)))
    if (role !== 'home' || lifecycle === 'terminated') continue
    // Only an installed workload must have a machine and a disk.
    if (lifecycle === 'active') {
      if (!silentPools.has(pool) && !volumes.get(id)?.some(({ generation }) => generation === diskGeneration))
        out.push({ kind: 'missing_volume', workloadId: id, words: `The disk of ${hostname} is not on this node.` })
      if (power === undefined && vmsAreKnown)
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
