// Decisions in bulk: filter, choose, apply. A row that does not take the choice is left as it is and named.
import { Type as t } from 'typebox'
import { accountById } from '../../identity/account-records/queries.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { leaveOutServers, settle } from '../import-records/choices/queries.ts'
import { countsOf, everyRow, type ImportOwner, type Part, type PartRow } from '../import-records/inventory/queries.ts'
import {
  type ImportRecord,
  importAccess,
  importRecord,
  importServerStates,
  ownerChoices,
  ownerConflicts,
} from '../import-records/model.ts'
import { noteMapped } from '../import-records/queries.ts'
import { mustAllow } from '../import-records/states.ts'
import { type Choosing, chooseOne, choosing, type Given } from './choose.ts'

/** Decisions of one call; for more the call is made again. */
const MOST_AT_ONCE = 1000
const MOST_NAMED = 100

const response = namedSchema('ImportRuleResult', {
  matched: described(t.Integer(), 'Rows that the filter selects.'),
  changed: t.Integer(),
  isComplete: described(t.Boolean(), `False: only the first ${MOST_AT_ONCE} were decided. Call it again.`),
  withheld: described(
    t.Array(t.Object({ sourceId: t.String(), name: nullable(t.String()), words: t.String() })),
    `Rows that do not take the choice, the first ${MOST_NAMED}.`,
  ),
})
type Result = {
  matched: number
  changed: number
  isComplete: boolean
  withheld: { sourceId: string; name: string | null; words: string }[]
}

/** Makes the choice for each row that fits, as far as it is offered there. */
function apply<P extends Part>(
  call: Omit<Choosing, 'facts'>,
  part: P,
  fits: (row: PartRow[P]) => boolean,
  given: Omit<Given[P], 'sourceId'>,
): Result {
  const { tx, target } = call
  const by = choosing(call)
  const result: Result = { matched: 0, changed: 0, isComplete: true, withheld: [] }
  const differs = (row: PartRow[P]) => row.choice !== given.choice || row.isProposed || given.choice === 'own'
  const chosen: string[] = []
  let decided = 0
  // One slice of rows is in memory at a time, however many owners there are.
  for (const row of everyRow(tx, part, target.id)) {
    if (!fits(row)) continue
    result.matched++
    if (!differs(row)) continue
    if (++decided > MOST_AT_ONCE) {
      result.isComplete = false
      continue
    }
    try {
      chooseOne(by, part, { ...given, sourceId: row.sourceId } as never)
      chosen.push(row.sourceId)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'choice_not_offered') throw error
      if (result.withheld.length < MOST_NAMED)
        result.withheld.push({ sourceId: row.sourceId, name: row.name, words: error.message })
    }
  }
  result.changed = chosen.length
  settle(tx, target.id, { part, sourceIds: chosen })
  noteMapped(tx, target.id)
  return result
}

const flag = (description: string) => t.Optional(described(t.Boolean(), description))
const sourceIds = t.Array(t.String({ minLength: 1, maxLength: 400 }), { maxItems: 500 })
const byDecision = {
  isUndecided: flag('Nothing is decided about them.'),
  isProposed: flag('Nobody has decided about them.'),
}
const simpleWhere = { ...byDecision, sourceIds: t.Optional(sourceIds) }
const id = t.String({ minLength: 1, maxLength: 60 })
const refuses = [
  'choice_not_offered',
  'import_not_discovered',
  'import_busy',
  'import_started',
  'import_ended',
] as const
const base = { method: 'POST', access: importAccess, on: importRecord, response, dryRun: true, refuses } as const

type OwnerWhere = {
  conflict?: string
  isUndecided?: boolean
  isProposed?: boolean
  hasSameName?: boolean
  isLocked?: boolean
  hasNoServers?: boolean
  sourceIds?: readonly string[]
}
function ownerFits(tx: Tx, target: ImportRecord, where: OwnerWhere) {
  return (row: ImportOwner): boolean => {
    if (where.sourceIds !== undefined && !where.sourceIds.includes(row.sourceId)) return false
    if (where.isUndecided !== undefined && (row.choice === null) !== where.isUndecided) return false
    if (where.isProposed !== undefined && row.isProposed !== where.isProposed) return false
    if (where.hasNoServers !== undefined) {
      const { importable } = countsOf(tx, 'owners', target.id, [row.sourceId])(row.sourceId)
      if ((importable === 0) !== where.hasNoServers) return false
    }
    const needsConflict =
      where.conflict !== undefined || where.hasSameName !== undefined || where.isLocked !== undefined
    if (!needsConflict) return true
    if (where.conflict !== undefined && row.conflict !== where.conflict) return false
    const account = row.conflictAccountId === null ? undefined : accountById(tx, row.conflictAccountId)
    const plain = (text: string | null | undefined) => (text ?? '').trim().toLowerCase()
    const names = account ? [account.name, account.organization].map(plain) : []
    const isSameName = plain(row.name) !== '' && names.includes(plain(row.name))
    if (where.hasSameName !== undefined && isSameName !== where.hasSameName) return false
    const isLocked = account !== undefined && account.lockedAt !== null
    return where.isLocked === undefined || isLocked === where.isLocked
  }
}

export const applyToOwners = operation({
  ...base,
  id: 'imports.apply-to-owners',
  path: '/admin/migrations/{id}/mapping/actions/apply-to-owners',
  summary: 'Decide about many owners by a rule; a dry run tells what it would do',
  past: 'Mapped owners by a rule',
  body: fields({
    where: fields({
      conflict: t.Optional(t.Enum([...ownerConflicts])),
      ...simpleWhere,
      hasSameName: flag('The account here has the same name or company.'),
      isLocked: flag('The account here is locked.'),
      hasNoServers: flag('None of their servers can come.'),
    }),
    choice: nullable(t.Enum([...ownerChoices])),
    resellerId: t.Optional(nullable(id)),
  }),
  example: { where: { conflict: 'customer', hasSameName: true, isLocked: false }, choice: 'merge' },
  run(call) {
    const { tx, target, body } = call
    mustAllow(target, 'map')
    const { where, ...given } = body
    return apply(call, 'owners', ownerFits(tx, target, where as OwnerWhere), given as never)
  },
})

export const applyToPackages = operation({
  ...base,
  id: 'imports.apply-to-packages',
  path: '/admin/migrations/{id}/mapping/actions/apply-to-packages',
  summary: 'Decide about many packages by a rule; a dry run tells what it would do',
  past: 'Mapped packages by a rule',
  body: fields({
    where: fields(simpleWhere),
    choice: nullable(t.Enum(['own', 'like', 'leave_out'])),
    packageId: t.Optional(id),
  }),
  example: { where: { isUndecided: true }, choice: 'leave_out' },
  run(call) {
    mustAllow(call.target, 'map')
    const { where, ...given } = call.body
    return apply(call, 'packages', (row) => fitsSimply(row, where as SimpleWhere), given as never)
  },
})

type SimpleWhere = { isUndecided?: boolean; isProposed?: boolean; sourceIds?: readonly string[] }
const fitsSimply = (row: PartRow[Part], { isUndecided, isProposed, sourceIds }: SimpleWhere): boolean =>
  (isUndecided === undefined || (row.choice === null) === isUndecided) &&
  (isProposed === undefined || row.isProposed === isProposed) &&
  (sourceIds === undefined || sourceIds.includes(row.sourceId))

export const applyToRanges = operation({
  ...base,
  id: 'imports.apply-to-ranges',
  path: '/admin/migrations/{id}/mapping/actions/apply-to-ranges',
  summary: 'Decide about many ranges by a rule; a dry run tells what it would do',
  past: 'Mapped ranges by a rule',
  body: fields({
    where: fields({ ...simpleWhere, version: t.Optional(t.Enum([4, 6])) }),
    choice: nullable(t.Enum(['keep', 'new', 'pool', 'leave_out'])),
  }),
  example: { where: { isUndecided: true }, choice: 'leave_out' },
  run(call) {
    mustAllow(call.target, 'map')
    const { where, ...given } = call.body
    const { version, ...simple } = where as SimpleWhere & { version?: 4 | 6 }
    const fits = (row: PartRow['ranges']) =>
      (version === undefined || row.version === version) && fitsSimply(row, simple)
    return apply(call, 'ranges', fits, given as never)
  },
})

export const applyToHypervisors = operation({
  ...base,
  id: 'imports.apply-to-hypervisors',
  path: '/admin/migrations/{id}/mapping/actions/apply-to-hypervisors',
  summary: 'Decide about many hypervisors by a rule, such as all but the one that is moved now',
  past: 'Mapped hypervisors by a rule',
  body: fields({
    where: fields({
      ...simpleWhere,
      exceptIds: t.Optional(described(sourceIds, 'All but these, by their ids there.')),
    }),
    choice: nullable(t.Enum(['copy', 'adopt', 'leave_out'])),
    locationId: t.Optional(id),
  }),
  example: { where: { exceptIds: ['3'] }, choice: 'leave_out' },
  run(call) {
    mustAllow(call.target, 'map')
    const { where, ...given } = call.body
    const { exceptIds, ...simple } = where as SimpleWhere & { exceptIds?: readonly string[] }
    const fits = (row: PartRow['hypervisors']) => !exceptIds?.includes(row.sourceId) && fitsSimply(row, simple)
    return apply(call, 'hypervisors', fits, given as never)
  },
})

const sourceText = t.Optional(t.String({ minLength: 1, maxLength: 400 }))
export const leaveOut = operation({
  ...base,
  id: 'imports.leave-out',
  path: '/admin/migrations/{id}/mapping/actions/leave-out',
  summary: 'Leave out single servers, or take them in again; those that a filter selects',
  past: 'Changed which servers are left out',
  refuses: ['import_not_discovered', 'import_busy', 'import_started', 'import_ended'],
  response: namedSchema('ImportLeftOut', { changed: t.Integer() }),
  body: fields({
    where: fields({
      state: t.Optional(t.Enum([...importServerStates])),
      ...{ hypervisorId: sourceText, packageId: sourceText, ownerId: sourceText, rangeId: sourceText },
      undecided: flag('They wait for a decision.'),
      conflict: flag('Something here or there stands against them.'),
      q: t.Optional(t.String({ minLength: 1, maxLength: 200 })),
    }),
    isLeftOut: t.Boolean(),
  }),
  example: { where: { hypervisorId: '3' }, isLeftOut: true },
  run({ tx, target, body }) {
    mustAllow(target, 'map')
    const ids = leaveOutServers(tx, target.id, body.where, body.isLeftOut)
    settle(tx, target.id, { serverIds: ids })
    noteMapped(tx, target.id)
    return { changed: ids.length }
  },
})
