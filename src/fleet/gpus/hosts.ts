import { Type as t } from 'typebox'
import { MOST_DOMAIN_CHARACTERS } from '../../../agent/protocol/gpu.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page, paginateAll } from '../../kernel/api/list.ts'
import { described, done, fields, nullable, operation } from '../../kernel/api/operation.ts'
import { idOf } from '../../kernel/api/query.ts'
import type { Db } from '../../kernel/db/open.ts'
import { toNumber, toText } from '../../network/ip-pools/ranges.ts'
import { node } from '../node-records/model.ts'
import { httpDomainFrom } from './http-domain.ts'
import { gpuCard, gpuCardResponse, gpuHostResponse, showCard, showHost } from './model.ts'
import { changeHost, forgetCard, gpuHostOf, gpuHostRows, type HostRow, holdersOn, updateCard } from './queries.ts'
import type { GpuHost } from './tables.ts'

export const listGpus = operation({
  id: 'gpus.list',
  method: 'GET',
  path: '/admin/gpus',
  summary: 'The GPU container hosts by name, with their cards and the instances that hold them',
  access: { staff: ['nodes:read'] },
  query: { nodeId: idOf('nod', 'Only this host.') },
  pages: { usual: 50, most: 100 },
  response: page(gpuHostResponse),
  run: (call) =>
    paginateAll({
      call,
      name: 'gpus',
      all: gpuHostRows(call.tx).filter(({ nodeId }) => !call.query['nodeId'] || nodeId === call.query['nodeId']),
      keyOf: ({ name }) => name,
      show: (row) => showHost(call, row),
      order: 'names',
    }),
})

const port = t.Integer({ minimum: 1024, maximum: 65_535 })
/** Ports below the range that systems use for connections of their own. */
const WIDEST = 20_000

/** The row of a node that is a GPU host. Throws `not_possible`. */
function hostRow(tx: Db, { id, name }: { id: string; name: string }): HostRow {
  const row = gpuHostRows(tx).find(({ nodeId }) => nodeId === id)
  if (!row) throw new ApiError('not_possible', `${name} is no GPU host: it has never reported a card.`)
  return row
}

export const changeGpuHost = operation({
  id: 'gpus.update-host',
  method: 'PATCH',
  path: '/admin/nodes/{id}/gpu-host',
  summary: 'Close a GPU host for new instances, or set the address and the ports that lead to its instances',
  past: 'Changed a GPU host',
  access: { staff: ['gpu:write'] },
  on: node,
  body: fields({
    open: t.Optional(described(t.Boolean(), 'It takes new instances.')),
    publicAddress: t.Optional(
      described(nullable(t.String({ maxLength: 45 })), 'IPv4. Null: the address that the node names.'),
    ),
    firstPort: t.Optional(described(port, 'Instances keep the ports that they have.')),
    lastPort: t.Optional(port),
    httpDomain: t.Optional(
      described(
        nullable(t.String({ maxLength: MOST_DOMAIN_CHARACTERS + 2 })),
        'A domain whose every name leads to the host, such as gpu1.example.com; null: no names.',
      ),
    ),
  }),
  response: gpuHostResponse,
  refuses: ['not_possible', 'in_use'],
  example: { publicAddress: '203.0.113.5', firstPort: 20_000, lastPort: 29_999, httpDomain: 'gpu1.example.com' },
  auditSnapshot({ tx, target }) {
    const { open, publicAddress = null, firstPort, lastPort, httpDomain = null } = gpuHostOf(tx, target.id) ?? {}
    return { open, publicAddress, firstPort, lastPort, httpDomain }
  },
  run(call) {
    const { tx, target, body, config } = call
    const before = hostRow(tx, target)
    const { firstPort = before.firstPort, lastPort = before.lastPort } = body
    if (lastPort < firstPort) throw invalid({ field: 'lastPort', message: 'must not lie before the first port.' })
    if (lastPort - firstPort >= WIDEST)
      throw invalid({ field: 'lastPort', message: `must be at most ${WIDEST - 1} above the first port.` })
    const given = {
      ...body,
      ...(body.publicAddress && { publicAddress: ipv4From(body.publicAddress) }),
      ...(body.httpDomain !== undefined && newDomain(call, before, httpDomainFrom(body.httpDomain, config.publicUrl))),
    }
    if (Object.keys(given).length) changeHost(tx, target.id, given)
    return showHost(call, hostRow(tx, target))
  },
})

/** The host is told anew. Throws `in_use` for a domain of another host. */
function newDomain({ tx }: { tx: Db }, before: HostRow, httpDomain: string | null): Partial<GpuHost> {
  const other = gpuHostRows(tx).find((row) => row.nodeId !== before.nodeId && row.httpDomain === httpDomain)
  if (httpDomain !== null && other)
    throw new ApiError('in_use', `${other.name} has this domain. Each host needs one of its own.`)
  // The same domain is told anew too: the host may have another certificate since, or none.
  const again = { httpProblem: null, httpAfter: null, ...(httpDomain !== null && { httpApplied: null }) }
  return httpDomain === before.httpDomain ? again : { ...again, httpDomain, httpScheme: null }
}

/** Throws `validation_failed`. */
function ipv4From(text: string): string {
  const found = toNumber(text)
  if (found?.version !== 4) throw invalid({ field: 'publicAddress', message: 'must be an IPv4 address.' })
  return toText(4, found.n)
}

export const changeGpuCard = operation({
  id: 'gpus.update-card',
  method: 'PATCH',
  path: '/admin/gpu-cards/{id}',
  summary: 'Close a card, so that it is not sold, or open it again; an instance that holds it keeps it',
  past: 'Changed a GPU',
  access: { staff: ['gpu:write'] },
  on: gpuCard,
  body: fields({ open: t.Boolean() }),
  response: gpuCardResponse,
  example: { open: false },
  run: ({ tx, actor, target, body }) =>
    showCard(actor, updateCard(tx, target, body), holdersOn(tx, target.nodeId).get(target.id)),
})

export const forgetGpuCard = operation({
  id: 'gpus.forget-card',
  destroys: [],
  method: 'DELETE',
  path: '/admin/gpu-cards/{id}',
  summary: 'Forget a card that was taken out of its node',
  past: 'Forgot a GPU',
  access: { staff: ['gpu:write'] },
  on: gpuCard,
  response: done,
  refuses: ['not_possible', 'in_use'],
  run({ tx, target }) {
    if (target.missingSince === null)
      throw new ApiError('not_possible', 'Its node reports this card. Take it out first, or close it.')
    if (target.workloadId !== null) throw new ApiError('in_use', 'An instance holds this card. Delete that first.')
    forgetCard(tx, target.id)
    return {}
  },
})
