// Which queued jobs may begin: each lane of each node has a limit, and a lock has one job at a time. A job of two nodes
// needs a place in the lanes of both. Memory only: the tables say the same, and a start reads them again.
import type { Lane } from '../tables.ts'

/** How many jobs of a lane go at once on one node, and among the jobs without a node. */
export const AT_ONCE: Record<Lane, number> = {
  // They wait for guests, not for the node: a shut down may take 90 seconds.
  interactive: 32,
  // Long work at once on one node: more would only fight for its disk.
  build: 4,
  bulk: 4,
}

/** `holds`: the lock. */
export type Queued = {
  id: string
  nodeId: string | null
  otherNodeId: string | null
  lane: Lane
  holds: string | null
}
type Placed = Pick<Queued, 'nodeId' | 'otherNodeId' | 'lane'>

type Ready = (nodeId: string) => boolean

/**
 * The nodes in which a job needs a place, in the order in which it takes them. All jobs take them in the same order, so
 * no two jobs ever wait for the place that the other has.
 */
const nodesOf = ({ nodeId, otherNodeId }: Placed): readonly (string | null)[] =>
  otherNodeId === null ? [nodeId] : [nodeId, otherNodeId].sort()
const keyOf = (nodeId: string | null, lane: Lane) => `${nodeId ?? ''}/${lane}`
const keysOf = (job: Placed) => nodesOf(job).map((nodeId) => keyOf(nodeId, job.lane))

type Queue = { nodeId: string | null; lane: Lane; jobs: Queued[] }

export class Lanes {
  private queues = new Map<string, Queue>()
  private load = new Map<string, number>()
  private locks = new Map<string, string>()
  private behind = new Map<string, Queued[]>()
  private dropped = new Set<string>()
  private waiting = new Set<string>()
  /** Jobs that have their first place and stand in the queue of their second. */
  private half = new Set<string>()

  /** The job waits here for its turn. */
  has = (id: string) => this.waiting.has(id)

  add(job: Queued) {
    this.waiting.add(job.id)
    this.queue(nodesOf(job)[0]!, job.lane).push(job)
  }

  private queue(nodeId: string | null, lane: Lane): Queued[] {
    const key = keyOf(nodeId, lane)
    let queue = this.queues.get(key)
    if (!queue) this.queues.set(key, (queue = { nodeId, lane, jobs: [] }))
    return queue.jobs
  }

  /** Takes a job out of its queue, wherever it stands in it. */
  drop(id: string) {
    this.waiting.delete(id)
    this.dropped.add(id)
  }

  /**
   * The jobs that may begin now, each with its lock and its places taken; in the order they came within a lane.
   * `ready`: whether the jobs of this node may begin at all.
   */
  *next(ready: Ready): Generator<string> {
    if (this.half.size) this.giveBackHalf(ready)
    // A job that takes its first place moves on to a queue that may have been passed.
    let moved = true
    while (moved) {
      moved = false
      for (const [key, queue] of this.queues) {
        if (queue.nodeId !== null && !ready(queue.nodeId)) continue
        // Those whose other node is away stay where they are, and let others pass.
        const passed: Queued[] = []
        while (queue.jobs.length && (this.load.get(key) ?? 0) < AT_ONCE[queue.lane]) {
          const job = queue.jobs.shift()!
          if (this.dropped.delete(job.id)) {
            this.forgetHalf(job)
            continue
          }
          const [first, second] = nodesOf(job)
          if (second !== undefined && !this.half.has(job.id)) {
            const other = second === queue.nodeId ? first! : second
            if (!ready(other!)) passed.push(job)
            else {
              this.half.add(job.id)
              this.change(key, 1)
              this.queue(second, job.lane).push(job)
              moved = true
            }
            continue
          }
          if (job.holds !== null && this.locks.has(job.holds)) {
            this.forgetHalf(job)
            const behind = this.behind.get(job.holds)
            if (behind) behind.push(job)
            else this.behind.set(job.holds, [job])
            continue
          }
          this.lock(job.holds, job.id)
          this.half.delete(job.id)
          this.change(key, 1)
          this.waiting.delete(job.id)
          yield job.id
        }
        queue.jobs.unshift(...passed)
        if (!queue.jobs.length) this.queues.delete(key)
      }
    }
  }

  /** While a node of a job is away, others have its place on the first of them. */
  private giveBackHalf(ready: Ready) {
    const isStuck = (job: Queued) => this.half.has(job.id) && nodesOf(job).some((nodeId) => !ready(nodeId!))
    for (const queue of [...this.queues.values()]) {
      const back = queue.jobs.filter(isStuck)
      if (!back.length) continue
      queue.jobs = queue.jobs.filter((job) => !back.includes(job))
      for (const job of back.toReversed()) {
        this.forgetHalf(job)
        this.queue(nodesOf(job)[0]!, job.lane).unshift(job)
      }
    }
  }

  private forgetHalf(job: Queued) {
    if (this.half.delete(job.id)) this.change(keysOf(job)[0]!, -1)
  }

  /** The lock belongs to this job until `unlock`, also while the rest of its undo waits for a node. */
  lock(holds: string | null, id: string) {
    if (holds !== null) this.locks.set(holds, id)
  }
  /** Frees the lock if this job has it. The jobs behind it stand first in their lanes again. */
  unlock(holds: string | null, id: string) {
    if (holds === null || this.locks.get(holds) !== id) return
    this.locks.delete(holds)
    const behind = this.behind.get(holds)
    this.behind.delete(holds)
    for (const job of behind?.toReversed() ?? []) this.queue(nodesOf(job)[0]!, job.lane).unshift(job)
  }

  /** A place in the lane of each node of the job. */
  take(job: Placed) {
    for (const key of keysOf(job)) this.change(key, 1)
  }
  give(job: Placed) {
    for (const key of keysOf(job)) this.change(key, -1)
  }

  private change(key: string, by: 1 | -1) {
    const load = (this.load.get(key) ?? 0) + by
    if (load) this.load.set(key, load)
    else this.load.delete(key)
  }
}
