// The end of a workload: it is recorded at once, and its job takes from the node what the kind does not keep.
import type { Static, TSchema } from 'typebox'
import { type Workload, workloadsToPurge } from '../../fleet/workloads/queries.ts'
import type { Code } from '../../kernel/api/errors.ts'
import { type Call, type Operation, operation, type Resource } from '../../kernel/api/operation.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import type { ActingKind } from './acting.ts'

type Own<Row, A extends TSchema> = Pick<Operation, 'access' | 'query'> & {
  /** The last part of its name, as in `servers.terminate`. */
  name: string
  path: `/${string}/{id}`
  summary: string
  past?: string
  /** Those whose end waits can be ended at once too, where the caller may. */
  on: Resource<Row>
  /** Codes beside those of its row in the state table. */
  refuses?: readonly Code[]
  answer: { schema: A; of(id: string, jobId: string | null): Static<A> }
  /** Answers the job's id; null where the node has nothing to do. Throws what its state refuses. */
  end(call: Call<Row, unknown, undefined, 'DELETE'>): string | null
}

/** `action`: its row in the state table. */
export const deleting = <Row extends Workload, Action extends string, A extends TSchema>(
  { prefix, states }: Pick<ActingKind<Row, Action>, 'prefix' | 'states'>,
  action: Action,
  { name, path, summary, past, access, query, on, refuses = [], answer, end }: Own<Row, A>,
) =>
  operation({
    id: `${prefix}.${name}`,
    destroys: ['servers', 'disks', 'addresses'],
    method: 'DELETE',
    path,
    summary,
    ...(past && { past }),
    access,
    requiresRecentAuth: true,
    on,
    ...(query && { query }),
    response: answer.schema,
    status: 202,
    idempotent: true,
    refuses: [...states.refusalsOf(action), ...refuses],
    run: (call) => answer.of(call.target.id, end(call)),
  })

/** So many ends fall due in one transaction each; the next turn takes more. */
const ENDED_AT_ONCE = 100
type Ending<Row> = { kind: string; now: number; load(tx: Tx, id: string): Row; end(tx: Tx, target: Row): void }
/** Ends what was terminated and is not to be brought back any more, each in a transaction of its own. */
export function endDue<Row extends Pick<Workload, 'purgeAt' | 'purgeHeld'>>(
  db: Db,
  { kind, now, load, end }: Ending<Row>,
) {
  for (const { id } of workloadsToPurge(db, kind, now, ENDED_AT_ONCE))
    write(db, (tx) => {
      const target = load(tx, id)
      // Between the two reads it may have been brought back.
      if (target.purgeAt !== null && target.purgeAt <= now && !target.purgeHeld) end(tx, target)
    })
}
