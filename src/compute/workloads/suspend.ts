// A suspension is recorded at once, also while a job is at work or the node is away: an overdue customer does not stay
// online because a node reboots. Its job replaces the open one, comes to its end and is never undone.
import type { Static, TSchema } from 'typebox'
import { changeWorkload, type Workload } from '../../fleet/workloads/queries.ts'
import { fields, line, operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { NewJob } from '../../kernel/jobs/start.ts'
import type { ActingKind } from './acting.ts'

type Deed = Pick<NewJob, 'by' | 'now' | 'parentId'>
type Told = { now: number } & ({ type: 'suspended'; reason: string } | { type: 'unsuspended' })

/** The part of a kind: what its nodes are told, and its event. */
export type Suspension<Row> = {
  /** Stops it, whatever works on it. Answers the job's id; null where there is nothing to stop. */
  keepOff(tx: Tx, target: Row, about: Deed & Pick<NewJob, 'title'>): string | null
  /**
   * Starts one that runs again when it is unsuspended, or goes on with what its suspension stopped. Answers the job's
   * id; null where there is nothing to start: then no job that stops it is left.
   */
  restore(tx: Tx, target: Row, about: Deed & Pick<NewJob, 'title'>): string | null
  /** Emits the event, once the change is recorded. */
  tell(tx: Tx, target: Row, told: Told): void
}

/** Both for a kind: by an operation, or for another reason that the kind has. */
export function suspensionOf<Row extends Workload>(
  { states, nameOf }: ActingKind<Row, 'suspend' | 'unsuspend'> & { nameOf(row: Row): string },
  own: Suspension<Row>,
) {
  return {
    tell: own.tell,
    /** Answers the job's id; null where there is nothing to stop. Throws what its state refuses. */
    suspend(tx: Tx, target: Row, { reason, ...deed }: Deed & { reason: string }): string | null {
      const { by, now } = deed
      states.mustAllowFor(tx, by, target, 'suspend')
      const jobId = own.keepOff(tx, target, { ...deed, title: `Suspend ${nameOf(target)}` })
      changeWorkload(tx, target.id, { suspendedAt: now, suspendReason: reason })
      own.tell(tx, target, { type: 'suspended', reason, now })
      return jobId
    },
    /** Answers the job's id; null where there is nothing to start. Throws what its state refuses. */
    unsuspend(tx: Tx, target: Row, deed: Deed): string | null {
      const { by, now } = deed
      states.mustAllowFor(tx, by, target, 'unsuspend')
      const jobId = own.restore(tx, target, { ...deed, title: `Unsuspend ${nameOf(target)}` })
      changeWorkload(tx, target.id, { suspendedAt: null, suspendReason: null })
      own.tell(tx, target, { type: 'unsuspended', now })
      return jobId
    },
  }
}

type Operations<Row, A extends TSchema> = {
  /** The path of one of both, such as `/servers/{id}/actions/suspend`. */
  path(action: 'suspend' | 'unsuspend'): string
  summaries: { suspend: string; unsuspend: string }
  answer: { schema: A; of(id: string, jobId: string | null): Static<A> }
  /** Takes over a suspension that the kind has made by itself, with a new reason; false: there is none. */
  takeOver?(tx: Tx, target: Row, why: { reason: string; now: number }): boolean
  unsuspended?(tx: Tx, target: Row): void
}

/** The two operations of a kind, and what each does: `ask`, for who does it to many. */
export function suspending<Row extends Workload, A extends TSchema>(
  { prefix, resource, states }: ActingKind<Row, 'suspend' | 'unsuspend'>,
  { suspend, unsuspend }: ReturnType<typeof suspensionOf<Row>>,
  { path, summaries, answer, takeOver, unsuspended }: Operations<Row, A>,
) {
  const both = {
    method: 'POST',
    access: { staff: ['servers:suspend'], reseller: ['reseller:servers'] },
    allowedInSupportSession: true,
    on: resource,
    response: answer.schema,
    status: 202,
    idempotent: true,
  } as const
  const ask = {
    suspend: (tx: Tx, target: Row, deed: Deed & { reason: string }): string | null =>
      takeOver?.(tx, target, deed) ? null : suspend(tx, target, deed),
    unsuspend(tx: Tx, target: Row, deed: Deed): string | null {
      const jobId = unsuspend(tx, target, deed)
      unsuspended?.(tx, target)
      return jobId
    },
  }
  return {
    ask,
    suspend: operation({
      ...both,
      id: `${prefix}.suspend`,
      path: path('suspend'),
      summary: summaries.suspend,
      body: fields({ reason: line(500) }),
      refuses: states.refusalsOf('suspend'),
      example: { reason: 'Invoice 2041 is overdue' },
      run: ({ tx, actor, target, body: { reason }, clock }) =>
        answer.of(target.id, ask.suspend(tx, target, { by: actor, reason, now: clock() })),
    }),
    unsuspend: operation({
      ...both,
      id: `${prefix}.unsuspend`,
      path: path('unsuspend'),
      summary: summaries.unsuspend,
      refuses: states.refusalsOf('unsuspend'),
      run: ({ tx, actor, target, clock }) =>
        answer.of(target.id, ask.unsuspend(tx, target, { by: actor, now: clock() })),
    }),
  }
}
