// A lamp: the smallest thing that has an owner, a state and a job.
import { Type as t } from 'typebox'
import { namedSchema, type Resource, time } from '../../../src/kernel/api/operation.ts'
import { iso } from '../../../src/kernel/db/clock.ts'
import { rowBy } from '../../../src/kernel/db/rows.ts'
import { lamps } from './tables.ts'

type Lamp = typeof lamps.$inferSelect
const lampById = rowBy(lamps, lamps.id)

/** Staff see every lamp, a customer its own. */
export const lamp: Resource<Lamp> = {
  name: 'lamp',
  notFound: 'lamp_not_found',
  find(tx, actor, id) {
    const row = lampById(tx, id)
    return row && (actor.kind === 'staff' || row.ownerId === actor.accountId) ? row : undefined
  },
}

export const lampSchema = namedSchema('Lamp', {
  id: t.String(),
  name: t.String(),
  state: t.Enum(['off', 'warming', 'on']),
  watts: t.Integer(),
  createdAt: time,
})
export const showLamp = ({ id, name, state, createdAt }: Lamp) => ({
  id,
  name,
  state,
  watts: 60,
  createdAt: iso(createdAt),
})
