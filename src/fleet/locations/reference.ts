// The location of a record, in the one form that every response and every event has.
import { Type as t } from 'typebox'
import { namedSchema } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { locationById } from './queries.ts'

/** The schema of every field `location` that a response or an event has. */
export const locationReferred = namedSchema('LocationReference', { id: t.String(), name: t.String() })
/** The location of a row, as that schema has it. */
export const locationOf = (tx: Db, { locationId }: { locationId: string }) => ({
  id: locationId,
  name: locationById(tx, locationId)?.name ?? '',
})
