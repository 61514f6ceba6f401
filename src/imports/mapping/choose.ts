// Makes a choice for a row of a mapping. Only what is offered can be chosen; the refusal says why the rest is not.
import { Type as t } from 'typebox'
import { packageOnSale } from '../../catalog/packages/model.ts'
import { location as locationResource } from '../../fleet/locations/model.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { described, fields, line, nullable } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { settle } from '../import-records/choices/queries.ts'
import {
  hypervisorRows,
  ownerRows,
  type Part,
  type PartRow,
  packageRows,
  rangeRows,
  rowsOf,
} from '../import-records/inventory/queries.ts'
import { type ImportRecord, type OwnerChoice, ownerChoices, type PackageChanges } from '../import-records/model.ts'
import { Facts, type Offer } from './facts.ts'
import { type HypervisorChoice, offersOfHypervisor } from './hypervisors.ts'
import { accountOfChoice, choosable, conflictOf, offersOfOwner } from './owners.ts'
import { offersOfPackage, type PackageChoice } from './packages.ts'
import { offersOfRange, poolOf, type RangeChoice } from './ranges.ts'

const sourceId = described(
  t.String({ minLength: 1, maxLength: 400 }),
  'The id in the other panel; `unknown` for everything that it does not name.',
)
const id = t.String({ minLength: 1, maxLength: 60 })
const none = 'Null: nothing is decided any more.'
const amount = (maximum: number) => t.Integer({ minimum: 1, maximum })

export const packageChangesField = fields({
  name: t.Optional(line(64)),
  vcpus: t.Optional(amount(255)),
  memoryMb: t.Optional(t.Integer({ minimum: 64, maximum: 4_194_304 })),
  diskGb: t.Optional(amount(65_536)),
  trafficGb: t.Optional(nullable(amount(9_000_000))),
  portMbps: t.Optional(nullable(amount(400_000))),
  billingProductId: t.Optional(nullable(line(100))),
  isOnSale: t.Optional(t.Boolean()),
})
export const chosenPackage = fields({
  sourceId,
  choice: described(nullable(t.Enum(['own', 'like', 'leave_out'])), none),
  packageId: t.Optional(described(id, 'For own.')),
  changes: t.Optional(described(packageChangesField, 'For like: what differs from the package there.')),
})
export const chosenRange = fields({
  sourceId,
  choice: described(nullable(t.Enum(['keep', 'new', 'pool', 'leave_out'])), none),
})
export const chosenHypervisor = fields({
  sourceId,
  choice: described(nullable(t.Enum(['copy', 'adopt', 'leave_out'])), none),
  locationId: t.Optional(described(id, 'For copy.')),
})
export const chosenOwner = fields({
  sourceId,
  choice: described(nullable(t.Enum([...ownerChoices])), none),
  accountId: t.Optional(described(id, 'For existing: the customer or reseller who gets the servers.')),
  resellerId: t.Optional(described(nullable(id), 'The reseller whose customer a new account becomes.')),
})

export type Given = {
  packages: { sourceId: string; choice: PackageChoice | null; packageId?: string; changes?: PackageChanges }
  ranges: { sourceId: string; choice: RangeChoice | null }
  hypervisors: { sourceId: string; choice: HypervisorChoice | null; locationId?: string }
  owners: { sourceId: string; choice: OwnerChoice | null; accountId?: string; resellerId?: string | null }
}
export type Choosing = { tx: Tx; actor: Actor; target: ImportRecord; facts: Facts }

/** The field of the body in which a row stands, for refusals; empty where the body is about one choice. */
type At = string
const within = (at: At, field: string) => (at === '' ? field : `${at}/${field}`)
const mustBeOffered = (offers: readonly Offer[], choice: string, name: string) => {
  const one = offers.find((each) => each.choice === choice)
  if (one?.isOffered) return
  throw new ApiError('choice_not_offered', `${name}: ${one?.words ?? 'this choice does not exist here.'}`)
}

const nameOf = (row: { name: string | null; sourceId: string }) => row.name ?? (row.sourceId || 'Not named there')

const choosers = {
  packages({ tx, actor, facts }: Choosing, row: PartRow['packages'], given: Given['packages'], at: At) {
    const own =
      given.choice === 'own' && given.packageId !== undefined
        ? packageOnSale.find(tx, actor, given.packageId)
        : undefined
    if (given.choice === 'own' && (!own || own.archived))
      throw invalid({ field: within(at, 'packageId'), message: 'must be a package that is not archived.' })
    const changes = given.choice === 'like' ? (given.changes ?? row.changes) : null
    if (given.choice !== null)
      mustBeOffered(offersOfPackage(facts, { ...row, changes }, own), given.choice, nameOf(row))
    packageRows.change(tx, row, { choice: given.choice, packageId: own?.id ?? null, changes, isProposed: false })
  },
  ranges({ tx, facts }: Choosing, row: PartRow['ranges'], given: Given['ranges']) {
    if (given.choice !== null) mustBeOffered(offersOfRange(facts, row), given.choice, nameOf(row))
    const poolId = given.choice === 'pool' ? poolOf(facts, row)!.id : null
    rangeRows.change(tx, row, { choice: given.choice, poolId, isProposed: false })
  },
  hypervisors({ tx, facts, actor }: Choosing, row: PartRow['hypervisors'], given: Given['hypervisors'], at: At) {
    if (given.choice !== null) mustBeOffered(offersOfHypervisor(facts, row), given.choice, nameOf(row))
    const location =
      given.choice === 'copy' && given.locationId !== undefined
        ? locationResource.find(tx, actor, given.locationId)
        : undefined
    if (given.choice === 'copy' && !location)
      throw invalid({ field: within(at, 'locationId'), message: 'must be a location.' })
    hypervisorRows.change(tx, row, { choice: given.choice, locationId: location?.id ?? null, isProposed: false })
    facts.forgetHypervisors()
  },
  owners({ tx, actor, target }: Choosing, row: PartRow['owners'], given: Given['owners'], at: At) {
    const reseller = given.resellerId ? choosable(tx, actor, given.resellerId) : undefined
    // An external id may be taken for one reseller and free for another.
    const asGiven = { ...row, resellerId: reseller?.id ?? null }
    const found = conflictOf({ tx, target }, asGiven)
    const { conflict, account } = found
    if (given.choice !== null) mustBeOffered(offersOfOwner({ tx, target }, asGiven, found), given.choice, nameOf(row))
    const named = given.accountId === undefined ? undefined : choosable(tx, actor, given.accountId)
    if (given.choice === 'existing' && !named)
      throw invalid({ field: within(at, 'accountId'), message: 'must be a customer or a reseller.' })
    if (given.resellerId && reseller?.kind !== 'reseller')
      throw invalid({ field: within(at, 'resellerId'), message: 'must be a reseller.' })
    const makes = given.choice === 'create' || given.choice === 'separate' || given.choice === 'one_account'
    if (reseller && !makes) throw invalid({ field: within(at, 'resellerId'), message: 'is for new accounts alone.' })
    ownerRows.change(tx, row, {
      conflict,
      conflictAccountId: account?.id ?? null,
      choice: given.choice,
      accountId: given.choice === null ? null : accountOfChoice(tx, row, given.choice, found, named?.id ?? null),
      resellerId: reseller?.id ?? null,
      isProposed: false,
      lapsed: null,
    })
  },
} as const satisfies {
  [P in Part]: (by: Choosing, row: PartRow[P], given: Given[P], at: At) => void
}

/**
 * Makes one choice; the servers are settled afterwards. Throws `validation_failed` for a row that the import does not
 * have, and `choice_not_offered`. It throws before it changes anything, so many of them need no savepoints.
 */
export function chooseOne<P extends Part>(by: Choosing, part: P, given: Given[P], at: At = '') {
  const row = rowsOf[part].find(by.tx, by.target.id, given.sourceId) as PartRow[P] | undefined
  if (!row) throw invalid({ field: within(at, 'sourceId'), message: 'is none of this import.' })
  ;(choosers[part] as (by: Choosing, row: PartRow[P], given: Given[P], at: At) => void)(by, row, given, at)
}

/** Makes these choices and puts their effect into the servers. Throws what `chooseOne` throws. */
export function choose<P extends Part>(by: Choosing, part: P, given: readonly Given[P][]) {
  for (const [i, one] of given.entries()) chooseOne(by, part, one, `${part}/${i}`)
  settle(by.tx, by.target.id, { part, sourceIds: given.map(({ sourceId }) => sourceId) })
}

export const choosing = ({ tx, actor, target }: Omit<Choosing, 'facts'>): Choosing => ({
  tx,
  actor,
  target,
  facts: new Facts(tx, target),
})
