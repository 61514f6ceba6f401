// Jobs whose node is away: they wait for it up to 15 minutes, or as long as they say, then they fail or leave the rest
// of their undo for later.
import { minute } from '../../db/clock.ts'
import { write } from '../../db/open.ts'
import { CommandFailed, type Failure } from '../failures.ts'
import type { Job } from '../tables.ts'
import { type Execution, type Going, isElsewhere } from './execution.ts'
import type { OpenJob } from './notes.ts'

/** A job that says nothing else waits this long for a node that is away, then fails with `node_unreachable`. */
export const AWAY_MS = 15 * minute
/** Nodes get this long to connect again after a start, before a wait that began earlier may end. */
export const RECONNECT_MS = 2 * minute

/** The operations of the runner that the sweep calls. */
type Beginning = {
  begin(job: Job, place: boolean, stop?: Failure): void
  isInterrupted(id: string): boolean
  /** Past its pivot, or in doubt about it. `noted`: how far each step is. */
  mustGoForward(job: Job, noted: Going['noted']): boolean
  /** How long this job waits for a node, in ms. */
  awayMs(going: Going): number
}

export class Away {
  private startedAt: number

  constructor(
    private execution: Execution,
    private beginning: Beginning,
  ) {
    this.startedAt = execution.clock()
  }

  /**
   * Ends what waited too long for a node that is away, frees its place for others meanwhile, and carries on what waited
   * for a node that is back or gone. Called every few seconds. A wait stands in the table, so that a restart does not
   * begin it anew.
   */
  sweep() {
    if (this.execution.stopping) return
    const now = this.execution.clock()
    const waits: [since: number | null, id: string][] = []
    for (const job of this.execution.statements.open.all()) {
      const going = this.execution.going.get(job.id)
      const nodeId = going ? going.inFlight?.nodeId : job.state === 'queued' ? this.awayNodeOf(job) : undefined
      const state = nodeId ? this.execution.nodes.state(nodeId) : 'connected'
      if (going) this.execution.place(going, state !== 'away')
      if (state !== 'away') {
        if (going?.inFlight?.unsent) going.wake?.()
        // A job between two commands may still be about to send to the same node: its answer ends the wait.
        if (job.waitingSince !== null && nodeId) waits.push([null, job.id])
        continue
      }
      const since = job.waitingSince ?? Math.max(this.execution.nodes.awaySince(nodeId!) ?? now, job.createdAt)
      if (job.waitingSince === null) waits.push([since, job.id])
      if (going) going.waited = true
      const limit = going ? this.beginning.awayMs(going) : AWAY_MS
      if (now >= Math.max(since + limit, this.startedAt + RECONNECT_MS)) this.giveUpOn(job.id, going, limit)
    }
    if (waits.length)
      write(this.execution.db, () => {
        for (const [since, id] of waits) this.execution.statements.waits.run(since, id)
      })
    for (const { job, inFlight } of this.execution.going.values()) {
      if (!inFlight || inFlight.unsent) continue
      const { key, nodeId } = inFlight
      const state = this.execution.nodes.state(nodeId)
      const isUndone = job.state === 'undoing' || job.undoNodeId !== null
      if (state === 'gone') this.execution.nodes.drop(key, removed())
      // It answers the same when it is back.
      else if (state === 'away' && isUndone && isElsewhere(job, nodeId))
        this.execution.nodes.drop(key, new CommandFailed('node_unreachable', unreachable(AWAY_MS).message))
    }
    for (const { id, undoNodeId } of this.execution.statements.pendingUndos.all())
      if (
        !this.execution.going.has(id) &&
        !this.beginning.isInterrupted(id) &&
        this.execution.nodes.state(undoNodeId) !== 'away'
      )
        this.beginning.begin(this.execution.statements.job.get({ id })!, false)
  }

  /** The node for which a queued job waits, or else one of its nodes. */
  private awayNodeOf({ nodeId, otherNodeId }: OpenJob): string | null {
    return otherNodeId !== null && this.execution.nodes.state(otherNodeId) === 'away' ? otherNodeId : nodeId
  }

  /** A job that is being undone, or goes on for ever, keeps its error; only the one that may fail fails of this. */
  private giveUpOn(id: string, going: Going | undefined, waitedMs: number) {
    const job = going?.job ?? this.execution.statements.job.get({ id })!
    const error = unreachable(waitedMs)
    if (!going) {
      if (this.beginning.mustGoForward(job, {})) return
      this.execution.lanes.drop(id)
      this.beginning.begin(job, false, error)
    } else if (going.inFlight?.unsent) {
      going.stop ??= error
      going.wake?.()
    } else if (going.inFlight) {
      if (going.job.state !== 'undoing' && this.beginning.mustGoForward(job, going.noted)) return
      if (going.job.state !== 'undoing') going.stop ??= error
      this.execution.nodes.drop(going.inFlight.key, new CommandFailed(error.code, error.message))
    }
  }
}

const unreachable = (waitedMs: number): Failure => ({
  code: 'node_unreachable',
  message:
    `The node has not been connected for ${Math.round(waitedMs / minute)} minutes. ` +
    'What is on it keeps running; try again when it is back.',
})
const removed = () => new CommandFailed('node_removed', 'The node was removed from Berth.')
