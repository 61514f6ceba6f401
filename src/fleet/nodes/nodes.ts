import { Type as t } from 'typebox'
import { bridgeName } from '../../../agent/protocol/bounds.ts'
import { Facts } from '../../../agent/protocol/wire.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { page, paginate, sortParameter } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import { described, fields, line, nullable, operation, time } from '../../kernel/api/operation.ts'
import { idOf, oneOf } from '../../kernel/api/query.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import { poolsOfNode } from '../../network/ip-pools/queries.ts'
import { node } from '../node-records/model.ts'
import {
  absencesOf,
  countNodes,
  nodeSorts,
  nodesByContact,
  nodesByName,
  openColumns,
  updateNode,
} from '../node-records/queries.ts'
import { kindsOn } from '../workloads/queries.ts'
import { addressDifferences } from './addresses/differences.ts'
import { described as inWords } from './misconduct.ts'
import { heldBy, nodeResponse, showNode } from './model.ts'

export const listNodes = operation({
  id: 'nodes.list',
  method: 'GET',
  path: '/admin/nodes',
  summary: 'Nodes, with their health and what they hold',
  access: { staff: ['nodes:read'] },
  query: {
    locationId: idOf('grp', 'Only nodes of this location.'),
    state: oneOf(['connected', 'away'], 'Only nodes that are connected now, or only those that are not.'),
    sort: sortParameter(nodeSorts, 'by name'),
  },
  pages: { usual: 100, most: 200 },
  response: page(nodeResponse),
  run(call) {
    const { tx, query } = call
    const { locationId, state } = query
    const among = state ? nodesByContact(tx, call.nodes)[state as 'connected' | 'away'] : undefined
    return paginate({
      call,
      name: 'nodes',
      sorts: nodeSorts,
      rows: (slice) => nodesByName(tx, { locationId, among }, slice),
      keyOf: (n) => n.name,
      show: (n) => showNode(call, n),
      total: () => countNodes(tx, locationId, among),
    })
  },
})

/** A day of a node that is away every quarter of an hour. */
export const MOST_ABSENCES = 100

export const getNode = operation({
  id: 'nodes.get',
  method: 'GET',
  path: '/admin/nodes/{id}',
  summary: 'One node: its facts, its load, and what differs from what should be on it',
  access: { staff: ['nodes:read'] },
  on: node,
  response: t.Object({
    ...nodeResponse.properties,
    facts: Facts,
    inventoryAt: nullable(time),
    absences: described(
      t.Array(t.Object({ from: time, to: nullable(time) })),
      `When it was not connected: the last ${MOST_ABSENCES}, the newest first; to is null while it still is not.`,
    ),
    gpuInstances: described(t.Integer(), 'Those of `servers` that are GPU instances.'),
    customers: described(t.Integer(), 'Accounts that own a server on it.'),
    misconduct: described(
      t.Array(t.Object({ level: t.Enum(['bad', 'warn']), what: t.String(), effect: t.String(), lastAt: time })),
      'What it did within the last day that no node should.',
    ),
    found: t.Array(t.Object({ kind: t.String(), workloadId: nullable(t.String()), words: t.String() })),
    pools: t.Array(
      t.Object({
        ...{ id: t.String(), name: t.String(), network: t.String() },
        vlan: described(nullable(t.Integer()), 'Null: none.'),
      }),
    ),
  }),
  run(call) {
    const { tx, target } = call
    return {
      ...showNode(call, target),
      facts: target.facts,
      inventoryAt: isoOrNull(target.inventoryAt),
      absences: absencesOf(tx, target.id, MOST_ABSENCES).map(({ since, until }) => ({
        from: iso(since),
        to: isoOrNull(until),
      })),
      gpuInstances: kindsOn(tx, target.id)['gpu_instance'] ?? 0,
      customers: new Set(heldBy(tx, target.id).map(({ ownerId }) => ownerId)).size,
      misconduct: call.nodes.misconduct(target.id).map((what) => ({
        ...inWords(target.name, what),
        lastAt: iso(what.lastAt),
      })),
      found: [...target.differences, ...addressDifferences(tx, target)],
      pools: poolsOfNode(tx, target.id),
    }
  },
})

export const changeNode = operation({
  id: 'nodes.update',
  method: 'PATCH',
  path: '/admin/nodes/{id}',
  summary: 'Rename a node, close it for new servers, change its bridge or what is kept for the host',
  past: 'Changed a node',
  access: { staff: ['nodes:write'] },
  on: node,
  body: fields({
    name: t.Optional(line(60)),
    open: t.Optional(t.Boolean()),
    closedReason: t.Optional(
      described(nullable(line(200)), 'Why it is closed, for colleagues; gone when it is opened again.'),
    ),
    bridge: t.Optional(bridgeName),
    reservedMemoryMb: t.Optional(t.Integer({ minimum: 0, maximum: 1_048_576 })),
  }),
  response: nodeResponse,
  refuses: ['name_taken'],
  example: { reservedMemoryMb: 4096 },
  run(call) {
    const { tx, target, body, clock } = call
    const { open = target.open, closedReason = target.closedReason } = body
    if (open && body.closedReason != null)
      throw invalid({ field: 'closedReason', message: 'is for a closed node: send open as false with it.' })
    const changesOpen = body.open !== undefined || body.closedReason !== undefined
    const closing = changesOpen ? openColumns(open, target.closedAt ?? clock(), closedReason) : {}
    return showNode(
      call,
      named('node', () => updateNode(tx, target, { ...body, ...closing })),
    )
  },
})
