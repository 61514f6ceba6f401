// The way of a job back: every step that was started is undone, the last one first.
import { changeMade, type Tx, write } from '../../db/open.ts'
import { CommandFailed, type Failure } from '../failures.ts'
import type { Saga, Step } from '../saga.ts'
import { requestCancel } from '../start.ts'
import type { Job } from '../tables.ts'
import { again, causeOf, type Execution, type Going, isElsewhere, isInterruption } from './execution.ts'

export class Backward {
  constructor(private execution: Execution) {}

  /**
   * Answers the nodes for which the rest has to wait; none when all is undone. Behind an undo that waits for its node,
   * only commands to other nodes are undone: a server that moved is brought back where it was, whatever has become of
   * the node to which it went.
   */
  async run(going: Going, saga: Saga, error: Failure | undefined): Promise<ReadonlySet<string>> {
    const { job } = going
    const left = new Set<string>()
    for (const step of saga.steps.toReversed()) {
      const at = going.noted[step.name]
      if (!at || at.state === 'undone') continue
      if (left.size && step.kind !== 'command') continue
      let isLeft = false
      for (let tries = 1; ; tries++) {
        this.execution.mustGoOn()
        try {
          const awayNode = await this.undoStep(going, step, at.output, { tries, error, left })
          isLeft = awayNode !== undefined
          if (awayNode !== undefined) left.add(awayNode)
          await this.execution.forgetTries(going, tries)
          break
        } catch (cause) {
          if (isInterruption(cause)) throw cause
          // A stop fails what is under way; the next start asks the node again.
          this.execution.mustGoOn()
          await this.execution.tryLater(going, step, this.execution.errorFrom(cause, job, step), tries, 'back')
        }
      }
      if (isLeft) continue
      going.noted[step.name] = { ...at, state: 'undone' }
      this.execution.failpoint(`${job.kind}/${step.name}:undone`)
    }
    return left
  }

  /** Answers the node for which this undo has to wait. `left`: the nodes for which undos of later steps wait. */
  private async undoStep(
    going: Going,
    step: Step,
    output: unknown,
    { tries, error, left }: { tries: number; error: Failure | undefined; left: ReadonlySet<string> },
  ): Promise<string | undefined> {
    const { job } = going
    const ctx = this.execution.ctx(job, going.noted, error)
    if (step.kind === 'record') {
      write(this.execution.db, (tx) => {
        step.undo?.(tx, ctx)
        changeMade(tx, causeOf(job))
        this.execution.notes.note(tx, job.id, step.name, 'undone', output)
      })
      return undefined
    }
    if (step.kind === 'command') {
      const nodeCommand = step.undo?.(ctx, this.execution.source)
      if (nodeCommand) {
        const { nodeId } = nodeCommand
        if (left.has(nodeId)) return nodeId
        const waitsNoLonger =
          left.size > 0 ||
          job.undoNodeId !== null ||
          isElsewhere(job, nodeId) ||
          error?.code === 'cancelled' ||
          error?.code === 'node_unreachable'
        if (waitsNoLonger && this.execution.nodes.state(nodeId) === 'away') return nodeId
        this.sayUndo(job, step, tries)
        try {
          await this.execution.sendOrGone(going, `${job.id}/${step.name}/undo${again(job, tries)}`, nodeCommand, true)
        } catch (cause) {
          if (cause instanceof CommandFailed && cause.failure === 'node_unreachable') return nodeId
          throw cause
        }
        this.execution.failpoint(`${job.kind}/${step.name}:undo answered`)
      }
    } else if (step.kind === 'external') {
      if (step.undo) {
        this.sayUndo(job, step, tries)
        await this.execution.call(going, (signal) => step.undo!(ctx, { key: `${job.id}/${step.name}/undo`, signal }))
        this.execution.failpoint(`${job.kind}/${step.name}:undo answered`)
      }
    } else if (this.execution.hasOpenChildren(job.id)) {
      write(this.execution.db, (tx) => this.cancelChildren(tx, job, error))
      this.execution.park(job)
    }
    this.execution.mustGoOn()
    write(this.execution.db, (tx) => this.execution.notes.note(tx, job.id, step.name, 'undone', output))
    return undefined
  }

  private cancelChildren(tx: Tx, job: Job, error: Failure | undefined) {
    const by = { type: job.startedByType, id: job.startedById, name: job.startedByName }
    for (const id of this.execution.statements.childrenBeforePivot.all(job.id).map((child) => child.id))
      requestCancel(
        tx,
        id,
        by,
        `“${job.title}” ended: ${this.execution.explained(error)?.cause ?? ''}`.trim(),
        this.execution.clock(),
      )
  }

  private sayUndo(job: Job, step: Step, tries: number) {
    if (tries === 1) this.execution.say(job.id, 'info', `Rolling back: ${step.words}`)
  }
}
