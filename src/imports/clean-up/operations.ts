import { type Static, Type as t } from 'typebox'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { cleanUpStates, cleanUpsOf, putCleanUp } from '../import-records/clean-ups/queries.ts'
import { importAccess, importRecord } from '../import-records/model.ts'
import { titleOf } from '../import-records/states.ts'
import { nodeName } from '../source-access/logins.ts'
import { commandsFor } from './by-hand.ts'

const cleanUpsResponse = namedSchema('ImportCleanUps', {
  isDone: described(t.Boolean(), 'Nothing of the import is left on the hypervisors, as far as anybody knows.'),
  hypervisors: t.Array(
    t.Object({
      hypervisorId: t.String(),
      name: t.String(),
      address: described(nullable(t.String()), 'Null: it is a node.'),
      state: described(t.Enum([...cleanUpStates]), 'given_up: it was tried for a week; a person removes the rest.'),
      definitionsLeft: t.Integer(),
      definitionsRemoved: t.Integer(),
      keysOf: described(t.Array(t.String()), 'The nodes whose keys are removed there.'),
      keysRemoved: t.Integer(),
      words: described(nullable(t.String()), 'Why it has not ended.'),
      since: time,
      nextTryAt: nullable(time),
      endedAt: nullable(time),
      commands: described(t.Array(t.String()), 'To run there as root instead; safe to run twice.'),
    }),
  ),
})

const showCleanUps = (tx: Db, importId: string): Static<typeof cleanUpsResponse> => {
  const rows = cleanUpsOf(tx, importId)
  return {
    isDone: rows.every(({ state }) => state === 'done'),
    hypervisors: rows.map((row) => ({
      ...{ hypervisorId: row.hypervisorId, name: row.name, address: row.host?.address ?? null, state: row.state },
      ...{ definitionsLeft: row.domains.length, definitionsRemoved: row.definitionsRemoved },
      keysOf: row.hasKeys ? row.nodeIds.map((id) => nodeName(tx, id)) : [],
      ...{ keysRemoved: row.keysRemoved, words: row.words, since: iso(row.since) },
      nextTryAt: row.state === 'waiting' ? iso(row.nextAt) : null,
      endedAt: isoOrNull(row.endedAt),
      commands: commandsFor(row),
    })),
  }
}

export const getCleanUps = operation({
  id: 'imports.clean-ups',
  method: 'GET',
  path: '/admin/migrations/{id}/clean-up',
  summary: 'What a finished import removes from source hypervisors: kept definitions, and the keys of nodes',
  access: importAccess,
  on: importRecord,
  response: cleanUpsResponse,
  run: ({ tx, target }) => showCleanUps(tx, target.id),
})

export const cleanUpAgain = operation({
  id: 'imports.clean-up',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/clean-up',
  summary: 'Try again now to remove from source hypervisors what could not be removed',
  past: 'Started a clean-up of source hypervisors',
  access: importAccess,
  on: importRecord,
  response: cleanUpsResponse,
  status: 202,
  refuses: ['already_done'],
  run({ tx, target, clock }) {
    const left = cleanUpsOf(tx, target.id).filter(({ state }) => state !== 'done')
    if (!left.length)
      throw new ApiError('already_done', `Nothing of ${titleOf(target)} is left to remove on its hypervisors.`)
    const now = clock()
    for (const row of left) putCleanUp(tx, { ...row, state: 'waiting', tries: 0, since: now, nextAt: now })
    return showCleanUps(tx, target.id)
  },
})
