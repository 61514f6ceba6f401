// Workloads that run on another node than their home. After a restore of the database that node may be right: they may
// have moved since the copy was made, and their only disk is there. So nothing starts them a second time meanwhile. A
// node may lie; so it counts only where the record of the home is older than the restore. Memory alone: each heartbeat
// tells it again.
import type { Power } from '../../../../agent/protocol/wire.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { epochOf } from '../../../kernel/nodes/epoch.ts'
import { isGoneNode } from '../../node-records/queries.ts'
import { homeOf } from './queries.ts'

/** One of them, and the node that runs it. */
export type Stray = { workloadId: string; nodeId: string }
/** So many are kept of one node. */
const MOST_OF_A_NODE = 5000

const isOn = (power: Power) => power === 'running' || power === 'paused'

export class Elsewhere {
  private nodes = new Map<string, Set<string>>()
  constructor(private db: Db) {}

  /** A node that is not its home, and to which no job brings it, tells the power of a workload. */
  note(nodeId: string, workloadId: string, power: Power) {
    const found = this.nodes.get(nodeId) ?? new Set()
    if (!isOn(power)) found.delete(workloadId)
    else if (found.size < MOST_OF_A_NODE) found.add(workloadId)
    this.nodes.set(nodeId, found)
  }

  /** All that a node runs: what it does not name any more is not there any more. */
  heard(nodeId: string, workloads: readonly { id: string; power: Power }[]) {
    const found = this.nodes.get(nodeId)
    if (!found?.size) return
    const on = new Set(workloads.filter(({ power }) => isOn(power)).map(({ id }) => id))
    for (const id of found) if (!on.has(id)) found.delete(id)
  }

  /** The node that runs the workload in place of its home; undefined: none, or the record is newer than the restore. */
  nodeOf(workloadId: string): string | undefined {
    for (const [nodeId, found] of this.nodes)
      if (found.has(workloadId) && !isGoneNode(this.db, nodeId) && this.isDoubtful(workloadId, nodeId)) return nodeId
    return undefined
  }

  /** More than one node may run a workload. */
  all(): Stray[] {
    return [...this.nodes].flatMap(([nodeId, found]) =>
      isGoneNode(this.db, nodeId)
        ? []
        : [...found].filter((id) => this.isDoubtful(id, nodeId)).map((workloadId) => ({ workloadId, nodeId })),
    )
  }

  private isDoubtful(workloadId: string, nodeId: string): boolean {
    const home = homeOf(this.db, workloadId)
    return home !== undefined && home.nodeId !== nodeId && home.since < epochOf(this.db)
  }
}
