// Compares the finished minutes of metrics with thresholds. Everything it needs is in memory; only an alert that fires
// or recovers is written. A minute of which nothing is known counts for neither.

import { monthOf, wholeMonth } from '../../billing/usage/period.ts'
import { trafficByOwner } from '../../fleet/traffic-records/queries.ts'
import { endedAmong, powersOf } from '../../fleet/workloads/reports.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { day, minute } from '../../kernel/db/clock.ts'
import { type Db, write } from '../../kernel/db/open.ts'
import { isHeldByJob } from '../../kernel/jobs/queries.ts'
import { indexOf } from '../metrics/series.ts'
import { RECOVERS_BELOW } from './kinds.ts'
import { type Alert, alertsOf, deleteAlert, everyAlert, quietAlert } from './queries.ts'
import { tell } from './tell.ts'

/** Alerts that are compared before others are served: some milliseconds. */
const AT_ONCE = 2000
/** Alerts that are written in one transaction. */
const WRITTEN_AT_ONCE = 50
/** Nodes report traffic each five minutes. */
const TRAFFIC_EVERY_MINUTES = 5
/** After a pause of the process, so many minutes are made up for. */
const MOST_MINUTES = 15
const BYTES_PER_MIB = 1024 * 1024
const BITS_PER_MBIT = 1e6
const BYTES_PER_GB = 1e9

const [CPU, MEMORY] = [indexOf('cpuPercent'), indexOf('memoryMb')]
const [READ, WRITTEN] = [indexOf('diskReadBytesPerSecond'), indexOf('diskWrittenBytesPerSecond')]
const [RX, TX] = [indexOf('rxBytesPerSecond'), indexOf('txBytesPerSecond')]

/** Minutes in a row above the threshold, and below the value at which it recovers. */
type Watched = { alert: Alert; above: number; below: number }
type Context = Pick<AppContext, 'metrics' | 'nodes' | 'clock'>

export class AlertWatch {
  private watched: Map<string, Watched[]> | undefined
  private dirty = new Set<string>()
  private minute = 0

  constructor(private db: Db) {}

  /** The alerts of this server are read again before they are compared next. */
  changed = (workloadId: string) => void this.dirty.add(workloadId)

  /** Compares the minutes that were finished since the last turn. */
  async turn(app: AppContext) {
    const last = Math.floor(app.clock() / minute) - 2
    const first = Math.max(this.minute + 1, last - MOST_MINUTES + 1)
    if (this.minute === 0) this.minute = last - 1
    this.load()
    for (let n = Math.max(first, this.minute + 1); n <= last; n++) {
      this.minute = n
      await this.compare(app, n)
    }
  }

  private load() {
    if (!this.watched) {
      this.watched = new Map()
      for (const [id, alerts] of Map.groupBy(everyAlert(this.db), ({ workloadId }) => workloadId))
        this.watched.set(id, alerts.map(begun))
      this.dirty.clear()
    }
    for (const id of this.dirty) {
      const before = new Map((this.watched.get(id) ?? []).map((one) => [one.alert.id, one]))
      // A change of the threshold begins the count anew.
      const now = alertsOf(this.db, id).map((alert) => {
        const known = before.get(alert.id)
        const isSame = known?.alert.threshold === alert.threshold && known?.alert.minutes === alert.minutes
        return isSame ? { ...known!, alert } : begun(alert)
      })
      if (now.length) this.watched.set(id, now)
      else this.watched.delete(id)
    }
    this.dirty.clear()
  }

  private async compare(app: AppContext, n: number) {
    const all = [...this.watched!.values()].flat()
    for (let i = 0; i < all.length; i += AT_ONCE) {
      const due = this.dueIn(app, this.living(all.slice(i, i + AT_ONCE)), n)
      for (let k = 0; k < due.length; k += WRITTEN_AT_ONCE) this.write(app, due.slice(k, k + WRITTEN_AT_ONCE))
      await Bun.sleep(0)
    }
  }

  /**
   * The alerts whose server is not terminated. Those of a terminated one do not fire, count again from 0 when it is
   * brought back, and are deleted as soon as nothing brings it back.
   */
  private living(part: readonly Watched[]): readonly Watched[] {
    const ended = new Map(
      endedAmong(
        this.db,
        part.map(({ alert }) => alert.workloadId),
      ).map(({ id, purgeAt }) => [id, purgeAt]),
    )
    if (!ended.size) return part
    const over = part.filter(({ alert }) => ended.has(alert.workloadId))
    const gone = over.filter(({ alert }) => ended.get(alert.workloadId) === null)
    const firing = over.filter((one) => one.alert.firedAt !== null && !gone.includes(one))
    if (gone.length || firing.length)
      write(this.db, (tx) => {
        for (const { alert } of gone) deleteAlert(tx, alert.id)
        for (const { alert } of firing) quietAlert(tx, alert.id)
      })
    for (const { alert } of gone) this.watched!.delete(alert.workloadId)
    for (const one of over) Object.assign(one, { alert: { ...one.alert, firedAt: null }, above: 0, below: 0 })
    return part.filter(({ alert }) => !ended.has(alert.workloadId))
  }

  private dueIn(app: Context, part: readonly Watched[], n: number): Watched[] {
    const ofKind = (kind: Alert['kind']) => part.filter(({ alert }) => alert.kind === kind)
    const powers = this.powers(app, ofKind('down'))
    const traffic = n % TRAFFIC_EVERY_MINUTES ? undefined : this.traffic(app, ofKind('traffic'))
    const due = []
    for (const one of part) {
      const { alert } = one
      const value =
        alert.kind === 'down'
          ? powers.get(alert.workloadId)
          : alert.kind === 'traffic'
            ? traffic?.get(alert.workloadId)
            : measured(app, alert, n * minute)
      if (value === undefined && alert.kind === 'traffic') continue
      count(one, value)
      const isFiring = alert.firedAt !== null
      const needed = alert.kind === 'traffic' ? 1 : alert.minutes
      if (isFiring ? one.below >= needed : one.above >= needed) due.push(one)
    }
    return due
  }

  /** 1: off. 0: running. Nothing is known while the node is away, a job works on it, or it is not in use. */
  private powers({ nodes }: Context, part: readonly Watched[]): Map<string, number> {
    const found = new Map<string, number>()
    if (!part.length) return found
    for (const { id, nodeId, lifecycle, suspendedAt, power } of powersOf(
      this.db,
      part.map(({ alert }) => alert.workloadId),
    )) {
      if (lifecycle !== 'active' || suspendedAt !== null || !nodes.connected(nodeId) || power === null) continue
      if (power === 'running') found.set(id, 0)
      else if (!isHeldByJob(this.db, id)) found.set(id, 1)
    }
    return found
  }

  /** GB of the month so far. */
  private traffic({ clock }: Context, part: readonly Watched[]): Map<string, number> {
    const ids = part.map(({ alert }) => alert.workloadId)
    const used = new Map(ids.map((id) => [id, 0]))
    if (!ids.length) return used
    const { from, to } = wholeMonth(monthOf(clock()))
    for (const { workloadId, rxBytes, txBytes } of trafficByOwner(this.db, ids, from / day, to / day))
      used.set(workloadId, used.get(workloadId)! + (rxBytes + txBytes) / BYTES_PER_GB)
    return used
  }

  private write(app: AppContext, due: readonly Watched[]) {
    const now = app.clock()
    write(this.db, (tx) => {
      for (const { alert } of due) tell(tx, app, alert, alert.firedAt === null, now)
    })
    for (const one of due) {
      one.alert = { ...one.alert, firedAt: one.alert.firedAt === null ? now : null }
      Object.assign(one, { above: 0, below: 0 })
    }
  }
}

const begun = (alert: Alert): Watched => ({ alert, above: 0, below: 0 })

/** The value of a minute in the unit of the threshold; undefined: it was not measured. */
function measured({ metrics: { recent } }: Context, { workloadId: id, kind }: Alert, at: number): number | undefined {
  const of = (index: number) => recent.minute(id, at, index)
  const both = (a: number, b: number, together: (a: number, b: number) => number) => {
    const [first, second] = [of(a), of(b)]
    return first === undefined || second === undefined ? undefined : together(first, second)
  }
  if (kind === 'cpu') {
    const stored = of(CPU)
    return stored === undefined ? undefined : stored / 100
  }
  if (kind === 'memory') {
    const [used, all] = [of(MEMORY), recent.memoryMb(id)]
    return used === undefined || !all ? undefined : (used / all) * 100
  }
  if (kind === 'disk_io') return both(READ, WRITTEN, (a, b) => (a + b) / BYTES_PER_MIB)
  return both(RX, TX, (a, b) => (Math.max(a, b) * 8) / BITS_PER_MBIT)
}

function count(one: Watched, value: number | undefined) {
  const limit = one.alert.threshold ?? 0.5
  const isAbove = value !== undefined && (one.alert.threshold === null ? value > 0 : value >= limit)
  // The traffic of a month only grows: it falls with the next month alone.
  const share = one.alert.kind === 'traffic' ? 1 : RECOVERS_BELOW
  const isBelow = value !== undefined && !isAbove && value < limit * share
  one.above = isAbove ? one.above + 1 : 0
  one.below = isBelow ? one.below + 1 : 0
}
