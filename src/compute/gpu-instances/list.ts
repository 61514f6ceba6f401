import { billingServiceFits } from '../../fleet/workloads/queries.ts'
import { foundWorkloads } from '../../fleet/workloads/search.ts'
import { accountContains } from '../../identity/account-records/queries.ts'
import { own, visible } from '../../identity/team/access.ts'
import { everybody } from '../../kernel/api/access.ts'
import { page, paginate, sortParameter } from '../../kernel/api/list.ts'
import { operation, type ReadContext } from '../../kernel/api/operation.ts'
import { idOf, oneOf, text } from '../../kernel/api/query.ts'
import { endedInstance, type InstanceStatus, instanceStatuses, load } from './model.ts'
import { countInstances, instanceKeys, instanceSorts } from './queries.ts'
import { instanceResponse } from './record.ts'
import { showInstance } from './show.ts'

export const getInstance = operation({
  id: 'gpu-instances.get',
  method: 'GET',
  path: '/gpu-instances/{id}',
  summary: 'One GPU instance',
  access: everybody('servers:read'),
  on: endedInstance,
  response: instanceResponse,
  run: (call) => showInstance(call, call.target),
})

/** Newest first; filters are exact but `q`, which looks into names, addresses and ids. */
function listing(call: ReadContext, name: string) {
  const { tx, actor, query } = call
  const filters: { where: string; values: string[] }[] = [visible(tx, actor)]
  const add = (where: string, ...values: string[]) => filters.push({ where, values })
  add(query['status'] ? instanceStatuses.is[query['status'] as InstanceStatus] : 'w.terminated_at IS NULL')
  for (const [parameter, column] of [
    ['ownerId', 'w.owner_id'],
    ['nodeId', 'w.node_id'],
    ['locationId', 'w.location_id'],
    ['offerId', 'g.offer_id'],
  ] as const)
    if (query[parameter]) add(`${column} = +?`, query[parameter])
  if (query['resellerId']) add('(w.owner_id = +? OR w.reseller_id = +?)', query['resellerId'], query['resellerId'])
  const theirs = own(actor)
  // A shared instance does not show it: it finds it for those only who could read it.
  if (query['billingServiceId']) {
    filters.push(theirs, billingServiceFits(query['billingServiceId']))
    // A reseller's billing system has identifiers of its own, which may be the same.
    if (actor.kind === 'staff' && !query['resellerId']) add('w.reseller_id IS NULL')
  }
  const found = query['q']
    ? foundWorkloads(tx, {
        kind: 'gpu_instance',
        visible: visible(tx, actor),
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
    : undefined
  if (found) filters.push(found)
  const filter = {
    ...(found && { from: found.from, id: found.id }),
    where: filters.map(({ where }) => `(${where})`).join(' AND '),
    values: filters.flatMap(({ values }) => values),
  }
  return paginate({
    call,
    name,
    sorts: instanceSorts,
    rows: (slice) => instanceKeys(tx, filter, slice),
    keyOf: ({ id }) => id,
    show: ({ id }) => showInstance(call, load(tx, id)),
    total: () => countInstances(tx, filter),
  })
}

const query = {
  q: text("Part of a name, address or owner, an id, or the billing system's identifier."),
  status: oneOf(
    instanceStatuses.statuses,
    'Only instances in this state. Deleted ones are listed only when they are asked for, and only for staff.',
  ),
  ownerId: idOf('usr', 'Only instances of this customer.'),
  locationId: idOf('grp', 'Only instances in this location.'),
  offerId: idOf('off', 'Only instances of this offer.'),
  billingServiceId: text("Only instances with exactly this identifier of the billing system's own."),
  sort: sortParameter(instanceSorts),
}
const pages = { usual: 50, most: 100 }

export const listAllInstances = operation({
  id: 'gpu-instances.list-all',
  method: 'GET',
  path: '/admin/gpu-instances',
  summary: 'Every GPU instance, newest first',
  access: { staff: ['servers:read'] },
  query: {
    ...query,
    nodeId: idOf('nod', 'Only instances on this host.'),
    resellerId: idOf('usr', 'Only instances of this reseller and its customers.'),
  },
  pages,
  response: page(instanceResponse),
  run: (call) => listing(call, 'all GPU instances'),
})

export const listInstances = operation({
  id: 'gpu-instances.list',
  method: 'GET',
  path: '/gpu-instances',
  summary: 'The GPU instances you see, newest first',
  access: everybody('servers:read'),
  query,
  pages,
  response: page(instanceResponse),
  run: (call) => listing(call, 'GPU instances'),
})
