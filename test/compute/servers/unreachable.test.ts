// The state that a list shows is the state that it is narrowed to and counts, for servers and GPU instances.
import { expect, test } from 'bun:test'
import { statuses, UNREACHABLE } from '../../../src/fleet/workloads/status.ts'
import { reachable } from '../../../views/components/state.tsx'
import { type Who, type World, world } from '../../support/world/panel.ts'

async function threeServers(p: World) {
  for (const hostname of ['web1', 'web2', 'web3'])
    await p.admin('POST', '/admin/servers', { ...p.order, hostname, name: hostname })
  await p.settle()
  const { data } = await p.admin('GET', '/admin/servers')
  await p.admin('POST', `/servers/${data[0].id}/actions/power`, { action: 'off' })
  await p.settle()
}
const inState = async (p: World, who: Who, path: string, query: string) => {
  const { status, body } = await p.call(who, 'GET', `${path}?${query}`)
  expect(status).toBe(200)
  expect(body.total).toBe(body.data.length)
  return body.data.map((s: { hostname: string }) => s.hostname).sort()
}

test('while a node is away its servers are unreachable and in no other state; then as before', async () => {
  using p = await world()
  await threeServers(p)
  const everybody: [Who, string][] = [
    [p.owner, '/admin/servers'],
    [p.owner, '/servers'],
    [p.customer, '/servers'],
  ]
  const states = async () =>
    Promise.all(
      everybody.map(async ([who, path]) => {
        const found: Record<string, string[]> = {}
        for (const state of ['running', 'stopped', UNREACHABLE])
          found[state] = await inState(p, who, path, `state=${state}`)
        return found
      }),
    )
  const known = { running: ['web1', 'web2'], stopped: ['web3'], unreachable: [] }
  const before = await states()
  expect(before).toEqual([known, known, known])
  p.node.agent.disconnect()
  const away = { running: [], stopped: [], unreachable: ['web1', 'web2', 'web3'] }
  expect(await states()).toEqual([away, away, away])
  for (const [who, path] of everybody) {
    // Also beside other filters, and what a node last reported stays what it last reported.
    expect(await inState(p, who, path, 'state=unreachable&status=stopped')).toEqual(['web3'])
    expect(await inState(p, who, path, 'status=running')).toEqual(['web1', 'web2'])
    expect(await inState(p, who, path, `state=unreachable&nodeId=${p.node.id}&q=web1`)).toEqual(['web1'])
    expect(await inState(p, who, path, `state=running&nodeId=${p.node.id}`)).toEqual([])
  }
  const { servers, unreachable } = await p.admin('GET', '/admin/overview')
  expect(reachable(servers, unreachable)).toMatchObject({ running: 0, stopped: 0, unreachable: 3 })
  p.node.agent.connect()
  expect(await states()).toEqual([known, known, known])
})

test('pages count on in the same order while some nodes are away, with exact totals', async () => {
  using p = await world()
  await threeServers(p)
  p.node.agent.disconnect()
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: any = await p.admin(
      'GET',
      `/admin/servers?state=unreachable&limit=2${cursor ? `&cursor=${cursor}` : ''}`,
    )
    expect(page.total).toBe(3)
    seen.push(...page.data.map((s: { hostname: string }) => s.hostname))
    cursor = page.nextCursor
  } while (cursor)
  expect(seen).toEqual(['web3', 'web2', 'web1'])
})

test('an action for many and a spreadsheet take those that the page shows in the state', async () => {
  using p = await world()
  await threeServers(p)
  p.node.agent.disconnect()
  const rows = async (state: string) =>
    (await p.call(p.owner, 'GET', `/admin/servers.csv?state=${state}`)).body.trim().split('\n').length - 1
  expect([await rows('running'), await rows(UNREACHABLE)]).toEqual([0, 3])
  const planned = async (state: string) => {
    const body = { filter: { state }, add: ['away'] }
    const { counts } = await p.admin('POST', '/admin/servers/actions/label?dryRun=true', body)
    return counts.waiting + counts.refused
  }
  expect([await planned('running'), await planned(UNREACHABLE)]).toEqual([0, 3])
})

test('stored numbers and counted rows agree for every state, whichever nodes are away', async () => {
  using p = await world()
  await threeServers(p)
  const second = p.addNode(p.location, 'fra-02')
  p.db.$client.run('UPDATE workloads SET node_id = ? WHERE hostname = ?', [second.id, 'web1'])
  for (const away of [[], [p.node], [second], [p.node, second]]) {
    for (const { agent } of away) agent.disconnect()
    for (const state of [...statuses, UNREACHABLE]) {
      // A second filter that leaves everything counts the rows.
      const [stored, rows] = await Promise.all(
        [`state=${state}`, `state=${state}&locationId=${p.location}`].map((query) =>
          p.admin('GET', `/admin/servers?${query}`),
        ),
      )
      expect([state, away.length, stored.total]).toEqual([state, away.length, rows.data.length])
      expect(rows.total).toBe(rows.data.length)
    }
    for (const { agent } of away) agent.connect()
  }
})
