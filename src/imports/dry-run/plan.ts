// Plans what the dry run asks: each server that comes, in the order of their ids, gets the node that would do the work.
import { domainName } from '../../../agent/protocol/values/source-hosts.ts'
import { fits } from '../../kernel/api/validate.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { list } from '../../kernel/words.ts'
import { type Finding, finding } from '../import-records/checks/findings.ts'
import {
  endCheck,
  insertCheck,
  plannedOn,
  reopenChecks,
  serversToPlace,
  serversWithDomain,
} from '../import-records/checks/queries.ts'
import { addressesOfServer, rangeRows } from '../import-records/inventory/queries.ts'
import type { ImportRecord, ImportServer } from '../import-records/model.ts'
import { Facts } from '../mapping/facts.ts'
import { planOf, type ServerPlan } from '../mapping/plan.ts'
import { Placing, sizeHere } from './place.ts'
import type { Run } from './run.ts'

const AT_ONCE = 50
/** So often, servers that no node takes are placed again, because a refused one has left its place. */
const MOST_ROUNDS = 4

/** Plans every server that comes and is not planned yet. Throws `Superseded`. */
export async function planServers(run: Run): Promise<void> {
  const placing = new Placing(run.db, run.app.nodes, plannedOn(run.db, run.importId))
  for (let after = ''; ; ) {
    const last = run.write((tx, target) => {
      const facts = new Facts(tx, target)
      const servers = serversToPlace(tx, target.id, after, AT_ONCE)
      for (const server of servers) planServer(run, { tx, target, facts, placing }, server)
      return servers.at(-1)?.id
    })
    if (last === undefined) return
    after = last
    if (run.slices.isOver) await run.slices.rest()
  }
}

/** Plans servers anew that no node takes, because refused ones have left their places. False: there are none. */
export async function planAgain(run: Run, round: number): Promise<boolean> {
  if (round >= MOST_ROUNDS) return false
  let n = 0
  for (const code of ['no_room', 'no_addresses'] as const)
    for (;;) {
      const reopened = run.write((tx) => reopenChecks(tx, run.importId, code, 200))
      n += reopened
      if (!reopened) break
      await run.slices.rest()
    }
  if (n) await planServers(run)
  return n > 0
}

type Planning = { tx: Tx; target: ImportRecord; facts: Facts; placing: Placing }

function planServer(run: Run, at: Planning, server: ImportServer) {
  const { tx, target, facts } = at
  const planned = planOf({ tx, target }, server, facts)
  const now = run.app.clock()
  const row = { serverId: server.id, importId: target.id, hypervisorId: server.hypervisorId, at: now }
  const end = (found: Finding, more: object = {}) => {
    insertCheck(tx, { ...row, way: planned.way, ...more })
    endCheck(tx, row, [found], { at: now })
  }
  const found = undecided(planned, server) ?? wrongDomain(at, server)
  const size = sizeHere(tx, target, server)
  if (found) return end(found)
  if (!size) return end(finding('undecided', 'the size of its package'))
  const { memoryMb, diskGb } = size
  if (planned.way === 'adopt')
    return insertCheck(tx, {
      ...row,
      way: 'adopt',
      nodeId: planned.nodeId,
      memoryMb,
      diskGb,
      reason: 'where it stands',
    })
  const newIpv4 = planned.addresses.filter(({ becomes, address }) => becomes === 'replaced' && isIpv4(address)).length
  const place = at.placing.place({
    locationId: planned.locationId!,
    size,
    newIpv4,
    poolIds: poolsOf(at, server, planned),
  })
  if ('code' in place) return end(place, { reason: place.words })
  insertCheck(tx, {
    ...row,
    ...{ way: 'copy', nodeId: place.node.id, pool: place.pool.name, reason: place.reason },
    ...{ memoryMb, diskGb, newIpv4 },
  })
}

const isIpv4 = (address: string) => !address.includes(':')
const parts = { package: 'its package', hypervisor: 'where it goes', owner: 'its owner', range: 'its addresses' }
function undecided(planned: ServerPlan, server: ImportServer): Finding | undefined {
  if (planned.waitsFor.length) return finding('undecided', list(planned.waitsFor.map((part) => parts[part])))
  if (server.addressConflict !== null) return finding('address_conflict', server.addressConflict)
  if (server.claimConflict !== null) return finding('claim_conflict', server.claimConflict)
  if (planned.way === null || planned.owner === null) return finding('undecided', parts.owner)
  return planned.way === 'adopt' && planned.nodeId === null ? finding('undecided', parts.hypervisor) : undefined
}

function wrongDomain({ tx, target }: Planning, { domain }: ImportServer): Finding | undefined {
  if (domain === null || !fits(domainName, domain)) return finding('bad_domain')
  return serversWithDomain(tx, target.id, domain) > 1 ? finding('domain_twice', domain) : undefined
}

/** Own pools in which addresses of the server lie that it keeps. */
function poolsOf({ tx, target }: Planning, server: ImportServer, { addresses }: ServerPlan): string[] {
  const kept = new Set(addresses.filter(({ becomes }) => becomes === 'kept').map(({ address }) => address))
  const ids = addressesOfServer(tx, server.id).flatMap(({ address, rangeId }) => {
    const range = kept.has(address) ? rangeRows.find(tx, target.id, rangeId) : undefined
    return range?.choice === 'pool' && range.poolId ? [range.poolId] : []
  })
  return [...new Set(ids)]
}
