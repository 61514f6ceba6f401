// The plan of an import, as things are decided now: for each server, and for all of them together.

import { locationById } from '../../fleet/locations/queries.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import type { Db } from '../../kernel/db/open.ts'
import {
  arrivals,
  joinedAccounts,
  keptOf,
  newIpv4Needed,
  ownersComing,
  refusalCounts,
} from '../import-records/choices/queries.ts'
import {
  addressesOfServer,
  countsOf,
  everyRow,
  hypervisorRows,
  type ImportServer,
  ownerRows,
  packageRows,
  rangeRows,
  serverStates,
  serverTotals,
} from '../import-records/inventory/queries.ts'
import type { ImportRecord } from '../import-records/model.ts'
import { quotasOf } from './claims/quotas.ts'
import { Facts } from './facts.ts'
import { nodeOf } from './hypervisors.ts'
import { type OwnerTarget, ownerTarget } from './owners.ts'
import { packageLike } from './packages.ts'
import { allocatable } from './supply.ts'

export type ServerPlan = {
  way: 'copy' | 'adopt' | null
  /** Of a copy; the dry run names the node. */
  locationId: string | null
  /** Of an adopted server. */
  nodeId: string | null
  package: { id: string } | { like: string } | null
  owner: OwnerTarget | null
  addresses: { address: string; prefixLength: number | null; becomes: 'kept' | 'replaced' | 'dropped' | 'undecided' }[]
  /** Decided, and nothing is known against it. */
  isComplete: boolean
  /** The decisions that it waits for. */
  waitsFor: ('package' | 'hypervisor' | 'owner' | 'range')[]
}

/** The plan of one server. Nothing is planned for one that stays on the source. */
export function planOf(
  { tx, target }: { tx: Db; target: ImportRecord },
  server: ImportServer,
  facts = new Facts(tx, target),
): ServerPlan {
  const pack = packageRows.find(tx, target.id, server.packageId)
  const hypervisor = hypervisorRows.find(tx, target.id, server.hypervisorId)
  const owner = ownerRows.find(tx, target.id, server.ownerId)
  const kept = new Set(keptOf(tx, target.id, server.id).map(({ address }) => address))
  const ranges = new Map(
    addressesOfServer(tx, server.id).map((one) => [
      one.address,
      { ...one, range: rangeRows.find(tx, target.id, one.rangeId) },
    ]),
  )
  const isReaddressed =
    hypervisor?.choice === 'copy' &&
    [...ranges.values()].some(({ version, range }) => version === 4 && range?.choice === 'new')
  const addresses = [...ranges.values()].map(({ address, prefixLength, version, range }) => ({
    address,
    prefixLength,
    becomes: kept.has(address)
      ? ('kept' as const)
      : version === 6 && (isReaddressed || range?.choice === 'new')
        ? ('dropped' as const)
        : range?.choice === 'new'
          ? ('replaced' as const)
          : ('undecided' as const),
  }))
  const match = hypervisor?.choice === 'adopt' ? nodeOf(facts, hypervisor) : undefined
  const ownerIs = owner ? ownerTarget({ tx, target }, owner) : null
  const waitsFor: ServerPlan['waitsFor'] = [
    ...(pack?.choice ? [] : ['package' as const]),
    ...(hypervisor?.choice ? [] : ['hypervisor' as const]),
    ...(owner?.choice ? [] : ['owner' as const]),
    ...(addresses.some(({ becomes }) => becomes === 'undecided') ? ['range' as const] : []),
  ]
  const comes = server.state === 'waiting' || server.state === 'ready'
  return {
    way: hypervisor?.choice === 'copy' || hypervisor?.choice === 'adopt' ? hypervisor.choice : null,
    locationId: hypervisor?.locationId ?? null,
    nodeId: match && 'node' in match ? match.node.id : null,
    package: !pack?.choice
      ? null
      : pack.choice === 'own'
        ? { id: pack.packageId! }
        : pack.choice === 'like'
          ? { like: pack.sourceId }
          : null,
    owner: ownerIs,
    addresses,
    isComplete: comes && !waitsFor.length && !server.addressConflict && !server.claimConflict && ownerIs !== null,
    waitsFor: comes ? waitsFor : [],
  }
}

/** The whole import. */
export function planOfImport({ tx, target }: { tx: Db; target: ImportRecord }) {
  const facts = new Facts(tx, target)
  const states = serverStates(tx, target.id)
  const totals = serverTotals(tx, target.id)
  const needed = new Map(newIpv4Needed(tx, target.id).map(({ locationId, n }) => [locationId, n]))
  const arriving = arrivals(tx, target.id)
  const like = [...everyRow(tx, 'packages', target.id)].filter(({ choice }) => choice === 'like')
  const usesLike = countsOf(
    tx,
    'packages',
    target.id,
    like.map(({ sourceId }) => sourceId),
  )
  const keeps = [...everyRow(tx, 'ranges', target.id)].filter(({ choice }) => choice === 'keep')
  const usesKept = countsOf(
    tx,
    'ranges',
    target.id,
    keeps.map(({ sourceId }) => sourceId),
  )
  const owners = new Map(ownersComing(tx, target.id).map(({ choice, n }) => [choice, n]))
  return {
    servers: {
      coming: totals.servers - (states.moved ?? 0) - (states.moving ?? 0),
      undecided: totals.undecided,
      conflicts: totals.conflicts,
      leftOut: states.left_out ?? 0,
      refused: states.refused ?? 0,
      alreadyMoved: states.already_moved ?? 0,
    },
    refusals: Object.entries(refusalCounts(tx, target.id)).map(([code, servers]) => ({ code, servers })),
    diskGb: Math.round(totals.diskGb * 10) / 10,
    locations: arriving.flatMap(({ key, locationId, servers, diskGb, memoryMb }) => {
      const found = key === 'copy' && locationId ? locationById(tx, locationId) : undefined
      return found
        ? [
            {
              ...{
                id: found.id,
                name: found.name,
                servers,
                diskGb: Math.round(diskGb),
                memoryMb: Math.round(memoryMb),
              },
              newIpv4: needed.get(found.id) ?? 0,
              freeIpv4: allocatable(tx, found.id),
            },
          ]
        : []
    }),
    adopted: facts.hypervisors.flatMap((row) => {
      const match = row.choice === 'adopt' ? nodeOf(facts, row) : undefined
      if (!match || !('node' in match)) return []
      const { servers } = countsOf(tx, 'hypervisors', target.id, [row.sourceId])(row.sourceId)
      return [{ hypervisorId: row.sourceId, nodeId: match.node.id, name: match.node.name, servers }]
    }),
    packagesToMake: like.map((row) => ({
      sourceId: row.sourceId,
      name: packageLike(row, target.billing).name,
      servers: usesLike(row.sourceId).importable,
    })),
    poolsToMake: keeps
      .filter(({ sourceId }) => usesKept(sourceId).importable > 0)
      .map((row) => ({
        sourceId: row.sourceId,
        name: row.name,
        network: row.network,
        servers: usesKept(row.sourceId).importable,
      })),
    quotas: quotasOf({ tx, target, facts }).map(({ ownerIds: _, ...one }) => one),
    accounts: {
      toMake: ['create', 'separate', 'client_area', 'one_account'].reduce(
        (sum, one) => sum + (owners.get(one) ?? 0),
        0,
      ),
      toJoin: joinedAccounts(tx, target.id)
        .slice(0, 500)
        .flatMap(({ accountId, servers, diskGb }) => {
          const account = accountById(tx, accountId)
          return account
            ? [
                {
                  ...{ id: account.id, name: account.name, kind: account.kind, servers, diskGb: Math.round(diskGb) },
                  isLocked: account.lockedAt !== null,
                },
              ]
            : []
        }),
    },
  }
}
