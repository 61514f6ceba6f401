// A kind of workload, as the shared actions see it. Each of them makes the operation of one kind: the kind gives its
// words, paths and responses, and does what only its own nodes can do.
import type { Static, TSchema } from 'typebox'
import type { WorkloadKind } from '../../fleet/workloads/kind.ts'
import type { Workload } from '../../fleet/workloads/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import type { Code } from '../../kernel/api/errors.ts'
import { line, type ReadContext, type Resource } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'

/** The name of a workload, as its owner calls it. */
export const displayName = line(64)

/** The rows of these actions in the state table of a kind. */
type Decided<Row, Action extends string> = {
  mustAllowFor(tx: Db, actor: Actor, target: Row, action: Action): void
  refusalsOf(...actions: Action[]): Code[]
}

/** `Action`: the rows of its state table that an action asks. */
export type ActingKind<Row extends Workload, Action extends string = never> = {
  kind: WorkloadKind
  /** The start of the names of its operations, as in `servers.rename`. */
  prefix: string
  /** The path of one. */
  path: `/${string}/{id}`
  resource: Resource<Row>
  states: Decided<Row, Action>
}

/** The response of an operation, and how it is made once the change is recorded. */
export type Answer<A extends TSchema> = { schema: A; of(call: ReadContext, id: string): Static<A> }
