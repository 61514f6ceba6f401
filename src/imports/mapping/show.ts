// The rows of a mapping as the API answers them: what the other panel has, what is chosen, and what can be.
import { type Static, Type as t } from 'typebox'
import { accountById } from '../../identity/account-records/queries.ts'
import { described, namedSchema, nullable } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { countsOf, type Part, type PartRow } from '../import-records/inventory/queries.ts'
import { type ImportRecord, ownerChoices, ownerConflicts } from '../import-records/model.ts'
import type { Facts } from './facts.ts'
import { nodeOf, offersOfHypervisor } from './hypervisors.ts'
import { conflictOf, offersOfOwner, ownerTarget } from './owners.ts'
import { difference, leastDisk, offersOfPackage, packageLike, sizeOf } from './packages.ts'
import { offersOfRange } from './ranges.ts'

const offers = described(
  t.Array(t.Object({ choice: t.String(), isOffered: t.Boolean(), words: t.String() })),
  'The choices: the effect of each, or why it cannot be made.',
)
const common = {
  sourceId: described(t.String(), 'The id in the other panel; `unknown` for everything that it does not name.'),
  name: nullable(t.String()),
  servers: described(t.Integer(), 'All that it has there.'),
  importable: described(t.Integer(), 'Without those that stay in any case.'),
  isProposed: described(t.Boolean(), 'Nobody has decided; it is what is right in most cases.'),
  offers,
}
const nullableNumber = nullable(t.Number())
export const responses = {
  packages: namedSchema('ImportPackage', {
    ...common,
    virtualization: t.String(),
    ...{ vcpus: nullableNumber, memoryMb: nullableNumber, diskGb: nullableNumber, portMbps: nullableNumber },
    trafficGb: nullableNumber,
    billingId: t.String(),
    leastDiskGb: described(t.Integer(), 'GiB of disk that an own package needs for its servers.'),
    choice: nullable(t.Enum(['own', 'like', 'leave_out'])),
    package: described(nullable(t.Object({ id: t.String(), name: t.String() })), 'The own one that was chosen.'),
    difference: described(nullable(t.String()), 'Between the own package and the one there, in words.'),
    like: described(
      t.Record(t.String(), t.Union([t.String(), t.Number(), t.Boolean(), t.Null()])),
      'The package that would be made like it.',
    ),
  }),
  ranges: namedSchema('ImportRange', {
    ...common,
    version: t.Integer(),
    ...{ first: nullable(t.String()), last: nullable(t.String()), network: nullable(t.String()) },
    gateway: nullable(t.String()),
    reach: t.Enum(['public', 'internal', 'nat']),
    hypervisorIds: t.Array(t.String()),
    choice: nullable(t.Enum(['keep', 'new', 'pool', 'leave_out'])),
    poolId: nullable(t.String()),
  }),
  hypervisors: namedSchema('ImportHypervisor', {
    ...common,
    address: t.String(),
    addresses: t.Array(t.String()),
    isPanel: t.Boolean(),
    network: nullable(t.Enum(['bridged', 'routed'])),
    bridges: t.Array(t.String()),
    locationThere: described(nullable(t.String()), 'As the other panel calls it.'),
    diskGb: t.Number(),
    choice: nullable(t.Enum(['copy', 'adopt', 'leave_out'])),
    goesTo: described(nullable(t.Object({ id: t.String(), name: t.String() })), 'The location of copies.'),
    node: described(nullable(t.Object({ id: t.String(), name: t.String() })), 'The node that it is, by its address.'),
  }),
  owners: namedSchema('ImportOwner', {
    ...common,
    email: nullable(t.String()),
    kind: t.Enum(['customer', 'staff', 'reseller']),
    parentId: nullable(t.String()),
    isSuspended: t.Boolean(),
    billingId: t.String(),
    conflict: described(t.Enum([...ownerConflicts]), 'Why somebody has to decide.'),
    account: described(
      nullable(t.Object({ id: t.String(), name: t.String(), kind: t.String(), isLocked: t.Boolean() })),
      'The account here that has the address.',
    ),
    choice: nullable(t.Enum([...ownerChoices])),
    accountId: described(nullable(t.String()), 'The account that was chosen.'),
    resellerId: nullable(t.String()),
    createdAccountId: nullable(t.String()),
    newEmail: described(nullable(t.String()), 'The address of the account that would be made.'),
    externalId: described(nullable(t.String()), 'Of that account.'),
    lapsed: described(nullable(t.String()), 'Why an earlier choice does not hold any more.'),
  }),
} as const satisfies Record<Part, unknown>

type Showing = { tx: Db; target: ImportRecord; facts: Facts }
type Shown<P extends Part> = Static<(typeof responses)[P]>
/** The location of copies; null: none is chosen. */
export function locationOf({ locations }: Facts, id: string | null) {
  const found = locations.find((one) => one.id === id)
  return found ? { id: found.id, name: found.name } : null
}
type CountOf = ReturnType<typeof countsOf>
const commonOf = (row: PartRow[Part], { servers, importable }: ReturnType<CountOf>) => ({
  ...{ sourceId: row.sourceId, name: row.name, servers, importable, isProposed: row.isProposed },
})

const shows: { readonly [P in Part]: (at: Showing, row: PartRow[P], n: ReturnType<CountOf>) => Shown<P> } = {
  packages({ facts, target }, row, n) {
    const own = facts.packages.find(({ id }) => id === row.packageId)
    const { vcpus, memoryMb } = sizeOf(row)
    return {
      ...commonOf(row, n),
      offers: offersOfPackage(facts, row, own),
      ...{ virtualization: row.virtualization, vcpus, memoryMb, diskGb: row.diskGb, portMbps: row.portMbps },
      trafficGb: row.trafficBytes === null ? null : Math.round(row.trafficBytes / 1e9),
      billingId: row.billingId,
      leastDiskGb: leastDisk(facts, row),
      choice: row.choice,
      package: own ? { id: own.id, name: own.name } : null,
      difference: own ? difference(row, own) : null,
      like: packageLike(row, target.billing) as Record<string, string | number | boolean | null>,
    }
  },
  ranges({ facts }, row, n) {
    return {
      ...commonOf(row, n),
      offers: offersOfRange(facts, row),
      ...{ version: row.version, first: row.first, last: row.last, network: row.network, gateway: row.gateway },
      ...{ reach: row.reach, hypervisorIds: [...row.hypervisorIds], choice: row.choice, poolId: row.poolId },
    }
  },
  hypervisors({ facts }, row, n) {
    const match = nodeOf(facts, row)
    return {
      ...commonOf(row, n),
      offers: offersOfHypervisor(facts, row),
      ...{ address: row.address, addresses: [...row.addresses], isPanel: row.isPanel, network: row.network },
      ...{ bridges: [...row.bridges], locationThere: row.location, diskGb: Math.round(n.diskGb * 10) / 10 },
      choice: row.choice,
      goesTo: locationOf(facts, row.locationId),
      node: 'node' in match ? { id: match.node.id, name: match.node.name } : null,
    }
  },
  owners({ tx, target }, row, n) {
    const found = conflictOf({ tx, target }, row)
    const account = found.account ?? (row.accountId === null ? undefined : accountById(tx, row.accountId))
    const becomes = ownerTarget({ tx, target }, row)
    return {
      ...commonOf(row, n),
      offers: offersOfOwner({ tx, target }, row, found),
      ...{ email: row.email, kind: row.kind, parentId: row.parentId, isSuspended: row.isSuspended },
      ...{ billingId: row.billingId, conflict: found.conflict },
      account: account
        ? { id: account.id, name: account.name, kind: account.kind, isLocked: account.lockedAt !== null }
        : null,
      ...{ choice: row.choice, accountId: row.accountId, resellerId: row.resellerId },
      createdAccountId: row.createdAccountId,
      newEmail: becomes?.kind === 'new' ? becomes.email : null,
      externalId: becomes?.kind === 'new' ? becomes.externalId : null,
      lapsed: row.lapsed,
    }
  },
}

/** The rows of a part for the API. */
export function showRows<P extends Part>(at: Showing, part: P, rows: readonly PartRow[P][]): Shown<P>[] {
  const count = countsOf(
    at.tx,
    part,
    at.target.id,
    rows.map(({ sourceId }) => sourceId),
  )
  return rows.map((row) => shows[part](at, row, count(row.sourceId)) as Shown<P>)
}
