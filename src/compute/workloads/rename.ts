import type { TSchema } from 'typebox'
import { changeWorkload, type Workload } from '../../fleet/workloads/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { fields, operation } from '../../kernel/api/operation.ts'
import { type ActingKind, type Answer, displayName } from './acting.ts'

/** Renames a workload; its hostname stays. `path`: what the path has behind that of the workload. */
export const renaming = <Row extends Workload, A extends TSchema>(
  { prefix, path, resource, states }: ActingKind<Row, 'rename'>,
  own: { path: '' | '/name'; summary: string; example: string; answer: Answer<A> },
) =>
  operation({
    id: `${prefix}.rename`,
    method: 'PATCH',
    path: `${path}${own.path}`,
    summary: own.summary,
    access: everybody('servers:settings'),
    allowedInSupportSession: true,
    on: resource,
    body: fields({ name: displayName }),
    response: own.answer.schema,
    refuses: states.refusalsOf('rename'),
    example: { name: own.example },
    run(call) {
      const { tx, actor, target, body } = call
      states.mustAllowFor(tx, actor, target, 'rename')
      changeWorkload(tx, target.id, { name: body.name })
      return own.answer.of(call, target.id)
    },
  })
