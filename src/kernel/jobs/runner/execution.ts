// Shared by the way forward and the way back of a job.
import type { NodeCommand } from '../../../../agent/protocol/wire.ts'
import { ApiError } from '../../api/errors.ts'
import type { Cause } from '../../audit/cause.ts'
import type { Secrets } from '../../crypto/secrets.ts'
import { type Clock, minute, second } from '../../db/clock.ts'
import { isDatabaseError } from '../../db/health.ts'
import { type Db, type Tx, write } from '../../db/open.ts'
import type { Services } from '../../register.ts'
import {
  CommandFailed,
  type ExplainedFailure,
  ExternalFailed,
  type Failure,
  type FailureWords,
  InjectedCrash,
  kernelFailures,
  Parked,
  plainCause,
  Stopped,
} from '../failures.ts'
import { JobLog } from '../log.ts'
import type { CommandSource, Ctx, Saga, Step } from '../saga.ts'
import type { Job } from '../tables.ts'
import { scrubbed, withUnstored } from '../unstored.ts'
import { Lanes } from './lanes.ts'
import { type Noted, Notes } from './notes.ts'

const LONGEST_PAUSE_MS = 10 * minute

/** `gone`: removed or lost, so nothing is left there to do. */
export type NodeState = 'connected' | 'away' | 'gone'
export type Nodes = {
  /** Resolves with the command's output, however long the node is away. Rejects with `CommandFailed`. */
  send(key: string, nodeCommand: NodeCommand): Promise<unknown>
  /** The command's promise rejects with this error at once, and its answer counts no more. */
  drop(key: string, error: CommandFailed): void
  state(nodeId: string): NodeState
  /** When the node went away, in ms, if that was since this controller started. */
  awaySince(nodeId: string): number | undefined
}
/** A line for the journal, beside the job's own log: the operator may have no panel open. */
export type Tell = (level: 'warning' | 'error', message: string, about: Readonly<Record<string, unknown>>) => void
/** Moments at which tests inject a crash. */
export type Failpoints = (moment: string) => void

/** The command for which a job waits. `unsent`: it is sent when its node is there, because nothing takes it back. */
type InFlight = { key: string; nodeId: string; abandonable: boolean; unsent: boolean }

/** A job at work. */
export type Going = {
  job: Job
  promise: Promise<void>
  /** How far each step is, by its name; the rows say the same as soon as `carried` is written. */
  noted: Record<string, Noted>
  /** Notes of the job that its next transaction takes along. */
  carried: ((tx: Tx) => void)[]
  /** Why it must stop before its next step. */
  stop: Failure | undefined
  /** Has it a place in its lane? While it waits for a node that is away, others have it. */
  place: boolean
  inFlight: InFlight | undefined
  /** The row may say since when it waits for a node. */
  waited: boolean
  /** Ends the pause before the next try, or the wait for a node before a pivot. */
  wake: (() => void) | undefined
  abort: AbortController | undefined
}
export type Options = {
  db: Db
  sagas: readonly Saga[]
  /** Causes in words; left out: those of the kernel. */
  failures?: FailureWords
  nodes: Nodes
  clock: Clock
  /** Needed where a command takes a secret from the database. */
  secrets?: Secrets | undefined
  /** Needed where a step has a remedy; a function, because they are made after the runner. */
  services?: (() => Services) | undefined
  failpoints?: Failpoints | undefined
  /** How long until something that failed is tried again, for the nth time. */
  pauseMs?: ((tries: number) => number) | undefined
  tell?: Tell | undefined
}

/** The job as the cause of what its steps change. */
export const causeOf = ({ id, kind, startedByName }: Job): Cause => ({ action: kind, by: startedByName, jobId: id })

/** Where a job stands, for its row. */
export type At = { stepN: number; stepName: string; progress: number }

/** The state of the runner in memory, and the operations that steps in both directions use. */
export class Execution {
  readonly db: Db
  readonly nodes: Nodes
  readonly clock: Clock
  readonly failures: FailureWords
  readonly failpoint: Failpoints
  readonly pauseMs: (tries: number) => number
  readonly tell: Tell
  readonly source: CommandSource
  readonly log: JobLog
  readonly lanes = new Lanes()
  readonly notes: Notes
  readonly going = new Map<string, Going>()
  /** Jobs that wait for their children. */
  readonly parked = new Set<string>()
  stopping = false
  private servicesOf: Options['services']

  get services(): Services {
    if (!this.servicesOf) throw new Error('this runner has no services')
    return this.servicesOf()
  }

  /** `nodeIsAway` is called when a command is about to wait for a node that is away. */
  constructor(
    {
      db,
      nodes,
      clock,
      secrets,
      services,
      failures = kernelFailures,
      failpoints = () => {},
      pauseMs,
      tell = () => {},
    }: Options,
    private nodeIsAway: () => void,
  ) {
    this.servicesOf = services
    this.db = db
    this.nodes = nodes
    this.clock = clock
    this.failures = failures
    this.failpoint = failpoints
    this.pauseMs = pauseMs ?? ((tries) => Math.min(5 * second * 2 ** Math.min(tries - 1, 10), LONGEST_PAUSE_MS))
    this.tell = tell
    this.source = {
      db,
      get secrets() {
        if (!secrets) throw new Error('this runner has no secrets')
        return secrets
      },
    }
    this.log = new JobLog(db)
    this.notes = new Notes(
      db,
      () => this.going.size,
      () => this.log.flush(),
    )
  }

  /** For work that is repeated soon: an error of the database is in the journal already. */
  quietly(words: string, work: () => void) {
    try {
      work()
    } catch (error) {
      if (!isDatabaseError(error)) this.tell('error', `${words} failed`, { error })
    }
  }

  place(going: Going, wanted: boolean) {
    if (going.place === wanted) return
    going.place = wanted
    if (wanted) this.lanes.take(going.job)
    else this.lanes.give(going.job)
  }

  /**
   * Writes the notes that the job carries and runs `work`, in one transaction with the notes of other jobs. Resolves
   * with what `work` answered when it is on disk. `ends`: it ends the job.
   */
  async together<T>(going: Going, work: (tx: Tx) => T, ends = false): Promise<T> {
    const made = await this.notes.together((tx) => {
      for (const note of going.carried) note(tx)
      return work(tx)
    }, ends)
    going.carried = []
    return made
  }

  /** Writes what the job carries along, if the transaction that should have taken it did not come about. */
  async writeCarried(going: Going) {
    if (going.carried.length) await this.together(going, () => {})
  }

  /** A transaction of its own for what the job carries along and `work`. */
  writeWith<T>(going: Going, work: (tx: Tx) => T): T {
    const made = write(this.db, ((tx: Tx) => {
      for (const note of going.carried) note(tx)
      return work(tx)
    }) as (tx: Tx) => never)
    going.carried = []
    return made
  }

  /** `mustEnd`: a node that is gone counts as done, because nothing is left there to clean up. */
  async sendOrGone(
    going: Going,
    key: string,
    nodeCommand: NodeCommand,
    mustEnd: boolean,
    abandonable = false,
  ): Promise<unknown> {
    going.inFlight = { key, nodeId: nodeCommand.nodeId, abandonable, unsent: false }
    if (this.nodes.state(nodeCommand.nodeId) === 'away') this.nodeIsAway()
    try {
      const output = await this.nodes.send(key, nodeCommand)
      this.hasWaited(going)
      return output
    } catch (error) {
      if (!mustEnd || !(error instanceof CommandFailed) || error.failure !== 'node_removed') throw error
      this.say(going.job.id, 'warning', 'The node was removed, so nothing is done there.')
      return null
    } finally {
      going.inFlight = undefined
      if (!this.stopping) this.place(going, true)
    }
  }

  /**
   * Waits while the node is away, with nothing sent to it. Returns when it is there or gone, or when the job must stop.
   * `at`: the step that waits, for the row of the job.
   */
  async waitFor(going: Going, nodeId: string, at: At) {
    if (this.nodes.state(nodeId) !== 'away') return
    await this.together(going, () => this.statements.at.run(at.stepN, at.stepName, at.progress, going.job.id))
    try {
      while (this.nodes.state(nodeId) === 'away' && !going.stop) {
        this.mustGoOn()
        going.inFlight = { key: '', nodeId, abandonable: true, unsent: true }
        this.nodeIsAway()
        await new Promise<void>((resolve) => {
          going.wake = resolve
        })
      }
      this.mustGoOn()
      if (!going.stop) this.hasWaited(going)
    } finally {
      going.wake = undefined
      going.inFlight = undefined
      if (!this.stopping) this.place(going, true)
    }
  }

  private hasWaited(going: Going) {
    if (going.waited && !this.stopping) this.notes.set(going.job.id, { waitingSince: null })
    going.waited = false
  }

  async call<T>(going: Going, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    going.abort = new AbortController()
    try {
      return await work(going.abort.signal)
    } finally {
      going.abort = undefined
    }
  }

  /** The next step starts counting anew; kept in step with the row, so that keys stay the same after a crash. */
  async forgetTries(going: Going, tries: number) {
    const { job } = going
    if (tries === 1 && job.tries === 0) return
    // While the row says that the step has only started, its key must stay that of this try.
    await this.writeCarried(going)
    job.tries = 0
    this.notes.set(job.id, { tries: 0 })
  }

  /** Says what is wrong where people look for it, and waits. */
  async tryLater(going: Going, step: Step, error: Failure, tries: number, taking: 'forward' | 'back') {
    const { job } = going
    const pause = this.pauseMs(job.tries + tries)
    const seconds = Math.ceil(pause / 1000)
    this.say(job.id, 'error', `${error.message} (trying again in ${seconds} s)`)
    const message =
      taking === 'back'
        ? 'a step of a job could not be undone and is tried again'
        : 'a step of a job failed and is tried again'
    this.tell('warning', message, {
      ...ofJob(job),
      step: step.name,
      code: error.code,
      reason: error.message,
      tries: job.tries + tries,
      againInSeconds: seconds,
    })
    // An undo keeps the reason for which the job failed: people ask for that one.
    const why = taking === 'back' ? {} : { errorCode: error.code, errorMessage: error.message }
    this.notes.set(job.id, { tries: job.tries + tries, ...why })
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pause)
      going.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    going.wake = undefined
    this.mustGoOn()
  }

  /** The failure of a job that somebody has asked to cancel, as its row says. */
  cancelled(id: string): Failure {
    const { cancelReason } = this.statements.job.get({ id })!
    return {
      code: 'cancelled',
      message: `It was cancelled before its end${cancelReason ? `: ${cancelReason}` : ''}.`,
    }
  }

  hasOpenChildren = (id: string) => this.statements.openChildren.get(id) !== null

  park(job: Job): never {
    this.parked.add(job.id)
    throw new Parked()
  }

  errorFrom(cause: unknown, job: Job, step: Step): Failure {
    const wordsOf = ({ message }: Error) => scrubbed(this.db, job.id, message)
    if (cause instanceof CommandFailed) return { code: cause.failure, message: wordsOf(cause) }
    if (cause instanceof ExternalFailed || cause instanceof ApiError)
      return { code: cause.code, message: wordsOf(cause) }
    this.tell('error', 'a step of a job broke', {
      ...ofJob(job),
      step: step.name,
      error: this.withoutUnstored(job, cause),
    })
    return {
      code: 'internal_error',
      message: `Something failed in Berth itself at "${step.words}". The journal has the cause, under ${job.id}.`,
    }
  }

  explained = (error: Failure | undefined): ExplainedFailure | undefined =>
    error && { ...error, cause: plainCause(this.failures, error) }

  /** The error for the journal; of a job with unstored input its text, without that input. */
  private withoutUnstored({ id }: Job, cause: unknown): unknown {
    const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    const left = scrubbed(this.db, id, text)
    return left === text ? cause : left
  }

  mustGoOn() {
    if (this.stopping) throw new Stopped()
  }

  say(jobId: string, level: 'info' | 'warning' | 'error', text: string) {
    this.log.add(jobId, { at: this.clock(), level, text })
  }

  get statements() {
    return this.notes.statements
  }

  /** `noted`: how far each step is, with the outputs that the steps read. `error`: for an undo, what failed. */
  ctx(job: Job, noted: Readonly<Record<string, Noted>>, error?: Failure): Ctx<any, any> {
    const out: Record<string, unknown> = {}
    for (const name in noted) if (noted[name]!.output !== null) out[name] = noted[name]!.output
    return {
      jobId: job.id,
      input: withUnstored(this.db, job.id, job.input),
      out,
      now: this.clock(),
      log: (text, level = 'info') => this.say(job.id, level, text),
      error: this.explained(error),
    }
  }
}

/** The error ends the run of a job and says nothing about the step: one of the database fails no step. */
export const isInterruption = (cause: unknown) =>
  cause instanceof InjectedCrash || cause instanceof Stopped || cause instanceof Parked || isDatabaseError(cause)

/**
 * The node is another one than that of the job, so an undo there never waits for it: it is done when that node is back,
 * and meanwhile the job holds nothing.
 */
export const isElsewhere = (job: Job, nodeId: string) => job.nodeId !== null && job.nodeId !== nodeId

/**
 * Ends the key of a command that is tried again: the node answers a key it has ended from its journal, also with its
 * failure.
 */
export const again = (job: Job, tries: number) => (job.tries + tries > 1 ? `/${job.tries + tries}` : '')

/** The ids in a line of the journal: it is found by any of them. */
export const ofJob = ({ id, kind, subjectId, nodeId }: Job) => ({ jobId: id, kind, subjectId, nodeId })
