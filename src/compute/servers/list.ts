import { packageReference } from '../../catalog/packages/queries.ts'
import { labelFits } from '../../fleet/labels/queries.ts'
import { inOrder, listedKeys } from '../../fleet/workloads/lists/queries.ts'
import { listedAs, statuses, statusesOnNode, statusSql } from '../../fleet/workloads/status.ts'
import { customerWithExternalId } from '../../identity/account-records/queries.ts'
import { own } from '../../identity/team/access.ts'
import { everybody } from '../../kernel/api/access.ts'
import { paginateJson } from '../../kernel/api/list.ts'
import { operation } from '../../kernel/api/operation.ts'
import { idOf, oneOf, text } from '../../kernel/api/query.ts'
import type { Where } from '../../kernel/db/rows.ts'
import { hasAddressOf } from '../../network/ip-pools/allocate.ts'
import { visibleServer } from '../server-records/model.ts'
import { serverReference, serversInOrderOf } from '../server-records/queries.ts'
import { listing, sortsOf, spreadsheetsOf } from '../workloads/list.ts'
import { renderedServer, serverReaders, serverResponse } from './show.ts'
import { besideServers } from './spreadsheet.ts'
import { actingServer } from './states.ts'

export const getServer = operation({
  id: 'servers.get',
  method: 'GET',
  path: '/servers/{id}',
  summary: 'One server',
  access: everybody('servers:read'),
  on: visibleServer,
  response: serverResponse,
  run: (call) => renderedServer(call, call.target, serverReaders(call.tx, call.actor)),
})

const sorts = sortsOf(
  {
    exact: statusSql,
    // It is the last one by the alphabet: behind it no index has to be read.
    walk: { from: inOrder.byStatus, where: `${statusSql} < 'terminated'`, way: 'by index' },
  },
  {
    package: {
      exact: `${packageReference.column('op', 'name')} COLLATE NOCASE`,
      of: `${serverReference.crossJoin('os', 'w.id')} ${packageReference.crossJoin('op', 'os.package_id')}`,
      walk: {
        from: `${packageReference.from('op')} ${serversInOrderOf(packageReference.column('op', 'id'))}`,
        id: 's.id',
        way: 'merged',
      },
    },
  },
)

/** The condition of `recoverable`: such servers are terminated. */
const isRecoverable = 'w.purge_at IS NOT NULL'

export const {
  all: listAllServers,
  seen: listServers,
  ids: listedServerIds,
} = listing(actingServer, {
  words: {
    many: 'servers',
    node: 'node',
    ended: 'Terminated',
    searched: "Part of a hostname, name, address, MAC address or owner, an id, or the billing system's identifier.",
  },
  states: { statuses, is: listedAs, sql: statusSql, onNode: statusesOnNode, areStored: true },
  sorts,
  row: serverResponse,
  product: {
    parameters: { packageId: idOf('pkg', 'Only servers with this package.') },
    columns: { packageId: 's.package_id' },
    id: 's.id',
  },
  join: ({ packageId }) => (packageId === undefined ? undefined : serverReference.join('s', 'w.id')),
  alive: ({ recoverable }) => (recoverable ? isRecoverable : undefined),
  more: {
    parameters: {
      label: text('Only servers with this label, of its owner or, for staff, of staff.', 40),
      externalId: text("Only servers of the customer with exactly this identifier of the billing system's own."),
    },
    ofStaff: {
      ipPoolId: idOf('pool', 'Only servers with an address of this pool.'),
      recoverable: oneOf(['true'], 'Only terminated servers that can still be brought back.'),
    },
    fit({ tx, actor, query: { recoverable, externalId, label, resellerId, ipPoolId } }) {
      const filters: Where[] = []
      if (recoverable) filters.push({ where: isRecoverable, values: [] })
      if (externalId) {
        const among = resellerId ?? (actor.kind === 'reseller' ? actor.accountId : null)
        const id = customerWithExternalId(tx, among, externalId) ?? ''
        // A shared server does not show it: it finds it for those only who could read it.
        filters.push(own(actor), { where: 'w.owner_id = +?', values: [id] })
      }
      if (ipPoolId) filters.push(hasAddressOf(ipPoolId))
      if (label) filters.push(labelFits(label, actor.kind === 'staff' ? ['owner', 'staff'] : ['owner']))
      return filters
    },
  },
  page(call, name, { filter, count }) {
    const { tx, actor, nodes } = call
    const readers = serverReaders(tx, actor)
    return paginateJson({
      call,
      name,
      sorts,
      keys: (slice) => listedKeys(tx, filter, slice),
      readAs: readers.alike && `${readers.alike.key} ${nodes.contactVersion()}`,
      json: ([id, version]) => renderedServer(call, { id, version }, readers),
      total: count,
    })
  },
})

export const { all: exportAllServers, seen: exportServers } = spreadsheetsOf(
  actingServer,
  { all: listAllServers, seen: listServers },
  {
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
  },
  { columns: { node: (s) => s.node?.name ?? null }, beside: besideServers },
)
