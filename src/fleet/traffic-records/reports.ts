// Reports of traffic, taken in with the other reports of a node; what becomes of them decides the feature of traffic.
import { MOST_TRAFFIC_DAYS, type Traffic } from '../../../agent/protocol/wire.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { Workload } from '../workloads/queries.ts'

/** One day of one workload, as one meter on a node has added it up. */
export type ReportedDay = Omit<Traffic['days'][number], 'workload'> & {
  meter: string
  workload: Workload
  /** The node whose meter it is. */
  nodeId: string
}

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    /** Stores a day in which the workload stayed on the node that reports it; sums only grow. */
    takeTraffic?(tx: Tx, day: ReportedDay, now: number): void
  }
}

/**
 * Days that wait for the turn of their node, and are stored in one go; the node sends again what finds no place. An
 * agent sends one report and waits until it is stored.
 */
const MOST_DAYS_WAITING = 2 * MOST_TRAFFIC_DAYS

/** The reports of traffic since a node's last turn: sums are cumulative, so the last of each day stands for all. */
export class WaitingTraffic {
  readonly days = new Map<string, Traffic['days'][number] & { meter: string }>()
  /** Undefined: nothing waits. */
  seq: number | undefined

  add({ meter, seq, days }: Traffic) {
    if (this.days.size + days.length > MOST_DAYS_WAITING) return
    for (const day of days) this.days.set(`${day.workload} ${day.day} ${meter}`, { ...day, meter })
    this.seq = seq
  }

  /** Both together: `later` replaces the sums of this one. */
  before(later: WaitingTraffic): WaitingTraffic {
    const both = new WaitingTraffic()
    for (const [key, day] of [...this.days, ...later.days]) both.days.set(key, day)
    both.seq = later.seq ?? this.seq
    return both
  }
}
