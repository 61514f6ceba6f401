// The protection of a workload against its loss by mistake: while it is on, nobody deletes its data but its provider.
import { type Static, type TSchema, Type as t } from 'typebox'
import type { Workload } from '../../fleet/workloads/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { fields, operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { ActingKind } from './acting.ts'

/** Its state table says which actions it refuses, as an obstacle of the kind. */
export const protecting = <Row extends Workload, A extends TSchema>(
  { prefix, path, resource, states }: ActingKind<Row, 'protect'>,
  own: {
    summary: string
    change(tx: Tx, id: string, isProtected: boolean): void
    answer: { schema: A; of(id: string, isProtected: boolean): Static<A> }
  },
) =>
  operation({
    id: `${prefix}.protection`,
    method: 'PUT',
    path: `${path}/protection`,
    summary: own.summary,
    past: 'Changed the protection',
    access: everybody('servers:settings'),
    on: resource,
    body: fields({ protected: t.Boolean() }),
    response: own.answer.schema,
    refuses: states.refusalsOf('protect'),
    example: { protected: true },
    run({ tx, actor, target, body }) {
      states.mustAllowFor(tx, actor, target, 'protect')
      own.change(tx, target.id, body.protected)
      return own.answer.of(target.id, body.protected)
    },
  })
