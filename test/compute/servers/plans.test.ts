// Which index answers a page of servers: none of these lists sorts all that fit for a page of 50.
import { expect, test } from 'bun:test'
import { statuses } from '../../../src/fleet/workloads/status.ts'
import { world } from '../../support/world/panel.ts'

test('pages of servers come from an index in their order, whatever they are filtered by', async () => {
  using p = await world()
  await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const { $client } = p.db
  const query = $client.query.bind($client)
  let asked: string[] = []
  $client.query = ((sql: string) => {
    asked.push(sql)
    return query(sql)
  }) as typeof query
  const planOf = async (filter: string) => {
    asked = []
    await p.admin('GET', `/admin/servers?${filter}`)
    return asked
      .filter((sql) => /\bFROM workload(s|_search)\b/.test(sql))
      .flatMap((sql) => query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all())
      .map(({ detail }) => detail)
      .join('\n')
  }
  const away = p.addNode(p.location, 'fra-02')
  away.agent.disconnect()
  const indexOf: Record<string, string> = {
    'state=unreachable': 'workloads_node_listed (node_id=? AND kind=?)',
    'state=running': 'workloads_status (<expr>=?)',
    [`ownerId=${p.customer.id}&state=unreachable`]: 'workloads_owner_listed (owner_id=? AND kind=?',
    [`nodeId=${p.node.id}&state=running`]: 'workloads_node_listed (node_id=? AND kind=?)',
    ...Object.fromEntries(statuses.map((status) => [`status=${status}`, 'workloads_status (<expr>=?)'])),
    'recoverable=true': 'workloads_recoverable (kind=?)',
    [`packageId=${p.pack}`]: 'servers_package (package_id=?)',
    [`nodeId=${p.node.id}`]: 'workloads_node_listed (node_id=? AND kind=?)',
    [`nodeId=${p.node.id}&status=running`]: 'workloads_node_listed (node_id=? AND kind=?)',
    [`ownerId=${p.customer.id}`]: 'workloads_owner_listed (owner_id=? AND kind=?',
    [`ownerId=${p.customer.id}&status=stopped`]: 'workloads_owner_listed (owner_id=? AND kind=?',
    [`locationId=${p.location}&status=stopped`]: 'workloads_located (location_id=? AND kind=?)',
    'label=shop': 'workload_labels_label (label=? AND side=?)',
    'label=shop&status=running': 'workload_labels_label (label=? AND side=?)',
    'q=web01': 'SCAN e VIRTUAL TABLE INDEX',
  }
  for (const [filter, index] of Object.entries(indexOf)) {
    const plan = await planOf(filter)
    expect([filter, plan.includes(index) || plan]).toEqual([filter, true])
    // Few are on nodes that are away: they are sorted.
    const isSorted = plan.includes('TEMP B-TREE')
    expect([filter, isSorted]).toEqual([filter, filter === 'state=unreachable'])
  }
})
