// Which queued jobs may begin: each lane of each node has a limit, and a lock has one job at a time. Memory only: the
// tables say the same, and a start reads them again.
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
export type Queued = { id: string; nodeId: string | null; lane: Lane; holds: string | null }

const keyOf = ({ nodeId, lane }: Pick<Queued, 'nodeId' | 'lane'>) => `${nodeId ?? ''}/${lane}`

export class Lanes {
  private queues = new Map<string, Queued[]>()
  private load = new Map<string, number>()
  private locks = new Map<string, string>()
  private behind = new Map<string, Queued[]>()
  private dropped = new Set<string>()
  private waiting = new Set<string>()

  /** The job waits here for its turn. */
  has = (id: string) => this.waiting.has(id)

  add(job: Queued) {
    this.waiting.add(job.id)
    const queue = this.queues.get(keyOf(job))
    if (queue) queue.push(job)
    else this.queues.set(keyOf(job), [job])
  }

  /** Takes a job out of its queue, wherever it stands in it. */
  drop(id: string) {
    this.waiting.delete(id)
    this.dropped.add(id)
  }

  /**
   * The jobs that may begin now, each with its lock and its place taken; in the order they came within a lane.
   * `ready`: whether the jobs of this node may begin at all.
   */
  *next(ready: (nodeId: string) => boolean): Generator<string> {
    for (const [key, queue] of this.queues) {
      const { nodeId, lane } = queue[0]!
      if (nodeId !== null && !ready(nodeId)) continue
      while (queue.length && (this.load.get(key) ?? 0) < AT_ONCE[lane]) {
        const job = queue.shift()!
        if (this.dropped.delete(job.id)) continue
        if (job.holds !== null && this.locks.has(job.holds)) {
          const behind = this.behind.get(job.holds)
          if (behind) behind.push(job)
          else this.behind.set(job.holds, [job])
          continue
        }
        this.lock(job.holds, job.id)
        this.take(job)
        this.waiting.delete(job.id)
        yield job.id
      }
      if (!queue.length) this.queues.delete(key)
    }
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
    for (const job of behind?.toReversed() ?? []) {
      const queue = this.queues.get(keyOf(job))
      if (queue) queue.unshift(job)
      else this.queues.set(keyOf(job), [job])
    }
  }

  /** One place in the lane of the job's node. */
  take(job: Pick<Queued, 'nodeId' | 'lane'>) {
    this.load.set(keyOf(job), (this.load.get(keyOf(job)) ?? 0) + 1)
  }
  give(job: Pick<Queued, 'nodeId' | 'lane'>) {
    const left = this.load.get(keyOf(job))! - 1
    if (left) this.load.set(keyOf(job), left)
    else this.load.delete(keyOf(job))
  }
}
