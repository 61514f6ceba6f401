// The choices in the plan of a node and the drain that begins by itself, as people read them.
import { type Static, Type as t } from 'typebox'
import { nodeById } from '../../../fleet/node-records/queries.ts'
import { described, namedSchema, nullable, time } from '../../../kernel/api/operation.ts'
import { isoOrNull } from '../../../kernel/db/clock.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { aNode } from '../../transfers/model.ts'
import type { DrainChoice, DrainPlan } from '../queries.ts'
import { chosenModes, onFailures } from '../tables.ts'

export const choiceResponse = namedSchema('DrainChoice', {
  mode: described(nullable(t.Enum([...chosenModes])), 'Null: with its memory where nothing speaks against it.'),
  node: described(nullable(aNode), 'Null: placement chooses.'),
  leave: described(t.Boolean(), 'It stays where it is.'),
  place: described(nullable(t.Integer()), 'Those with a place move first, in its order.'),
  by: t.String(),
})
export const showChoice = (
  tx: Db,
  { mode, toNodeId, leaves, place, setBy }: DrainChoice,
): Static<typeof choiceResponse> => ({
  mode,
  node: toNodeId === null ? null : { id: toNodeId, name: nodeById(tx, toNodeId)?.name ?? '' },
  leave: leaves,
  place,
  by: setBy,
})

export const scheduledResponse = namedSchema('ScheduledDrain', {
  startsAt: described(nullable(time), 'Null: its time has passed, and it did not begin.'),
  by: t.Object({ id: t.String(), name: t.String() }),
  atOnce: described(nullable(t.Integer()), 'Null: the setting.'),
  maxMbps: nullable(t.Integer()),
  onFailure: t.Enum([...onFailures]),
  reason: t.String(),
  error: described(nullable(t.String()), 'Why it did not begin.'),
})
export type Scheduled = Static<typeof scheduledResponse>
export const showScheduled = (plan: DrainPlan | undefined): Scheduled | null =>
  plan
    ? {
        startsAt: isoOrNull(plan.startsAt),
        by: plan.setBy,
        atOnce: plan.asked.atOnce ?? null,
        maxMbps: plan.asked.maxMbps ?? null,
        onFailure: plan.asked.onFailure ?? 'continue',
        reason: plan.asked.reason ?? '',
        error: plan.error,
      }
    : null
