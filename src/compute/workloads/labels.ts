// Labels of a workload: staff have their own, which nobody else reads.
import { type Static, type TSchema, Type as t } from 'typebox'
import { addLabel, labelsOf, removeLabel } from '../../fleet/labels/queries.ts'
import type { Workload } from '../../fleet/workloads/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, line, nullable, operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { ActingKind } from './acting.ts'

const MOST = 20
export const labelsField = (words: string) =>
  t.Optional(described(nullable(t.Array(line(40), { maxItems: MOST })), words))

type Labels = string[] | null | undefined
type Change = { labels?: Labels; add?: Labels; remove?: Labels }
/** Changes the labels of this side. Throws `limit_reached` where there would be too many. */
export function changeLabels(
  tx: Tx,
  { kind }: Pick<ActingKind<Workload>, 'kind'>,
  { id }: Pick<Workload, 'id'>,
  side: Parameters<typeof labelsOf>[2],
  change: Change,
): string[] {
  const gone = [...(change.labels ? labelsOf(tx, id, side) : []), ...(change.remove ?? [])]
  for (const label of gone) removeLabel(tx, id, side, label)
  for (const label of [...(change.labels ?? []), ...(change.add ?? [])]) addLabel(tx, id, side, label.trim())
  const now = labelsOf(tx, id, side)
  if (now.length > MOST)
    throw new ApiError('limit_reached', `A ${kind.words.one} has ${MOST} labels at most. Remove some first.`)
  return now
}

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
      labels: labelsField('These replace the present ones.'),
      add: labelsField('These are added.'),
      remove: labelsField('These are removed.'),
    }),
    response: own.answer.schema,
    status: 200,
    refuses: [...states.refusalsOf('rename'), 'limit_reached'],
    example: { add: ['production'] },
    run({ tx, actor, target, body }) {
      states.mustAllowFor(tx, actor, target, 'rename')
      const side = actor.kind === 'staff' ? 'staff' : 'owner'
      return own.answer.of(target.id, changeLabels(tx, { kind }, target, side, body))
    },
  })
