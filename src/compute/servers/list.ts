import type { Static } from 'typebox'
import { labelFits } from '../../fleet/labels/queries.ts'
import { billingServiceFits } from '../../fleet/workloads/queries.ts'
import { type FoundWorkloads, foundWorkloads } from '../../fleet/workloads/search.ts'
import { type Status, statuses, statusIs } from '../../fleet/workloads/status.ts'
import { accountContains, customerWithExternalId } from '../../identity/account-records/queries.ts'
import { own, visible } from '../../identity/team/access.ts'
import { everybody } from '../../kernel/api/access.ts'
import { page, paginateJson, sortParameter } from '../../kernel/api/list.ts'
import { operation, type ReadContext } from '../../kernel/api/operation.ts'
import { idOf, oneOf, text } from '../../kernel/api/query.ts'
import { csvOf } from '../../kernel/csv.ts'
import { seenServer } from '../server-records/model.ts'
import { countServers, type ServerFilter, serverKeys, serverSorts } from './queries.ts'
import { renderedServer, serverReaders, serverResponse } from './show.ts'

export const getServer = operation({
  id: 'servers.get',
  method: 'GET',
  path: '/servers/{id}',
  summary: 'One server',
  access: everybody('servers:read'),
  on: seenServer,
  response: serverResponse,
  run: (call) => renderedServer(call, call.target, serverReaders(call.tx, call.actor)),
})

/** Newest first; filters are exact but `q`, which looks into names, addresses and ids. */
function listing(call: ReadContext, name: string) {
  const { query } = call
  const { where, values } = visible(call.tx, call.actor)
  const filters: [string, string[]][] = [
    ["w.kind = 'server'", []],
    [where, values],
  ]
  // For staff the terminated are kept for the record; they show when asked for.
  const alive = query['recoverable'] ? 'w.purge_at IS NOT NULL' : 'w.terminated_at IS NULL'
  filters.push([query['status'] ? statusIs[query['status'] as Status] : alive, []])
  if (query['recoverable']) filters.push(['w.purge_at IS NOT NULL', []])
  for (const [parameter, column] of [
    ['ownerId', 'w.owner_id'],
    ['nodeId', 'w.node_id'],
    ['locationId', 'w.location_id'],
    ['packageId', 's.package_id'],
  ] as const)
    if (query[parameter]) filters.push([`${column} = +?`, [query[parameter]]])
  // A shared server does not show these: they find it for those only who could read them.
  if (query['billingServiceId'] || query['externalId']) {
    const { where, values } = own(call.actor)
    filters.push([where, values])
  }
  if (query['billingServiceId']) {
    filters.push(['w.billing_service_id = +?', [query['billingServiceId']]])
    // A reseller's billing system has identifiers of its own, which may be the same.
    if (call.actor.kind === 'staff' && !query['resellerId']) filters.push(['w.reseller_id IS NULL', []])
  }
  if (query['externalId']) {
    const among = query['resellerId'] ?? (call.actor.kind === 'reseller' ? call.actor.accountId : null)
    filters.push(['w.owner_id = +?', [customerWithExternalId(call.tx, among, query['externalId']) ?? '']])
  }
  if (query['label']) {
    const fits = labelFits(query['label'], call.actor.kind === 'staff' ? ['owner', 'staff'] : ['owner'])
    filters.push([fits.where, fits.values])
  }
  if (query['resellerId'])
    filters.push(['(w.owner_id = +? OR w.reseller_id = +?)', [query['resellerId'], query['resellerId']]])
  let found: FoundWorkloads | undefined
  if (query['q']) {
    // Not the address of who shares a server: it could be guessed letter by letter.
    const theirs = own(call.actor)
    found = foundWorkloads(call.tx, {
      kind: 'server',
      visible: { where, values },
      text: query['q'],
      also(word, isEverything) {
        const [owner, called] = [
          accountContains('w.owner_id', theirs, word, { few: !isEverything }),
          billingServiceFits(word),
        ]
        return {
          where: `${owner.where} OR (${theirs.where} AND ${called.where})`,
          values: [...owner.values, ...theirs.values, ...called.values],
        }
      },
    })
    filters.push([found.where, found.values])
  }
  const onlyAsksFor = (...names: string[]) =>
    Object.keys(query).every((name) => ['limit', 'cursor', 'sort', ...names].includes(name))
  const filter: ServerFilter = {
    ...(found && { from: found.from, id: found.id }),
    where: filters.map(([sql]) => sql).join(' AND '),
    values: filters.flatMap(([, v]) => v),
    joined: query['packageId'] !== undefined || /^-?package$/.test(query['sort'] ?? ''),
    isEverything: where === '1' && onlyAsksFor(),
  }
  const { tx } = call
  const readers = serverReaders(tx, call.actor)
  return paginateJson({
    call,
    name,
    sorts: serverSorts,
    keys: (slice) => serverKeys(tx, filter, slice),
    readAs: readers.alike && `${readers.alike.key} ${call.nodes.contactVersion()}`,
    json: ([id, version]) => renderedServer(call, { id, version }, readers),
    total: () => (found?.countListed && onlyAsksFor('q') ? found.countListed() : countServers(tx, filter)),
  })
}

const pages = { usual: 50, most: 100 }
const query = {
  q: text("Part of a hostname, name, address, MAC address or owner, an id, or the billing system's identifier."),
  status: oneOf(
    statuses,
    'Only servers in this state. Terminated ones are listed only when they are asked for, and only for staff.',
  ),
  ownerId: idOf('usr', 'Only servers of this customer.'),
  nodeId: idOf('nod', 'Only servers on this node.'),
  locationId: idOf('grp', 'Only servers in this location.'),
  packageId: idOf('pkg', 'Only servers with this package.'),
  billingServiceId: text("Only servers with exactly this identifier of the billing system's own."),
  label: text('Only servers with this label, of its owner or, for staff, of staff.', 40),
  externalId: text("Only servers of the customer with exactly this identifier of the billing system's own."),
  sort: sortParameter(serverSorts),
}

export const listAllServers = operation({
  id: 'servers.list-all',
  method: 'GET',
  path: '/admin/servers',
  summary: 'Every server, newest first',
  access: { staff: ['servers:read'] },
  query: {
    ...query,
    resellerId: idOf('usr', 'Only servers of this reseller and its customers.'),
    recoverable: oneOf(['true'], 'Only terminated servers that can still be brought back.'),
  },
  pages,
  response: page(serverResponse),
  run: (call) => listing(call, 'all servers'),
})

export const listServers = operation({
  id: 'servers.list',
  method: 'GET',
  path: '/servers',
  summary: 'The servers you see, newest first',
  access: everybody('servers:read'),
  query,
  pages,
  response: page(serverResponse),
  run: (call) => listing(call, 'servers'),
})

type Listed = Static<typeof serverResponse>
const columns: Readonly<Record<string, (s: Listed) => string | number | null>> = {
  id: (s) => s.id,
  name: (s) => s.name,
  hostname: (s) => s.hostname,
  status: (s) => s.status,
  ipv4: (s) => s.ipv4,
  ipv6: (s) => s.ipv6,
  package: (s) => s.package.name,
  location: (s) => s.location.name,
  image: (s) => s.image?.name ?? null,
  vcpus: (s) => s.vcpus,
  memoryMb: (s) => s.memoryMb,
  diskGb: (s) => s.diskGb,
  owner: (s) => s.owner.name,
  ownerId: (s) => s.owner.id,
  createdAt: (s) => s.createdAt,
}

export const exportAllServers = csvOf(listAllServers, {
  id: 'servers.export-all',
  path: '/admin/servers.csv',
  summary: 'Every server as a spreadsheet, filtered and sorted as the list',
  columns: { ...columns, node: (s) => s.node?.name ?? null },
})

export const exportServers = csvOf(listServers, {
  id: 'servers.export',
  path: '/servers.csv',
  summary: 'The servers you see as a spreadsheet, filtered and sorted as the list',
  columns,
})
