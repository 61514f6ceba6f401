// Labels of a workload: staff have their own, which nobody else reads.
import { type Static, type TSchema, Type as t } from 'typebox'
import { addLabel, labelsOf, removeLabel } from '../../fleet/labels/queries.ts'
import type { Workload } from '../../fleet/workloads/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, line, operation } from '../../kernel/api/operation.ts'
import type { ActingKind } from './acting.ts'

const MOST = 20
const labels = (words: string) => t.Optional(described(t.Array(line(40), { maxItems: MOST }), words))

/** Its right and its row in the state table are those of a renaming. */
export const labelling = <Row extends Workload, A extends TSchema>(
  { kind, prefix, path, resource, states }: ActingKind<Row, 'rename'>,
  own: { answer: { schema: A; of(id: string, labels: string[]): Static<A> } },
) =>
  operation({
    id: `${prefix}.label`,
    method: 'POST',
    path: `${path}/labels`,
    summary: `Change the labels of a ${kind.words.one}: free words; staff set their own, which only staff read`,
    access: everybody('servers:settings'),
    on: resource,
    body: fields({
      labels: labels('These replace the present ones.'),
      add: labels('These are added.'),
      remove: labels('These are removed.'),
    }),
    response: own.answer.schema,
    status: 200,
    refuses: [...states.refusalsOf('rename'), 'limit_reached'],
    example: { add: ['production'] },
    run({ tx, actor, target, body }) {
      states.mustAllowFor(tx, actor, target, 'rename')
      const side = actor.kind === 'staff' ? 'staff' : 'owner'
      const gone = [...(body.labels ? labelsOf(tx, target.id, side) : []), ...(body.remove ?? [])]
      for (const label of gone) removeLabel(tx, target.id, side, label)
      for (const label of [...(body.labels ?? []), ...(body.add ?? [])]) addLabel(tx, target.id, side, label.trim())
      const now = labelsOf(tx, target.id, side)
      if (now.length > MOST)
        throw new ApiError('limit_reached', `A ${kind.words.one} has ${MOST} labels at most. Remove some first.`)
      return own.answer.of(target.id, now)
    },
  })
