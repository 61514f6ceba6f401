// Servers of a group on three nodes: orders, moves and restores keep its rule.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type World, world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'

let p: World
let nodes: World['node'][]
beforeEach(async () => {
  p = await world()
  nodes = [p.node, p.addNode(p.location, 'fra-02'), p.addNode(p.location, 'fra-03')]
  for (const { id } of nodes.slice(1)) p.attach(p.pool, id)
  await p.settle()
})
afterEach(() => p.close())

const group = async (more: object = {}, who: object = p.customer) =>
  p.call(who, 'POST', `/customers/${p.customer.id}/placement-groups`, {
    name: 'databases',
    policy: 'anti_affinity',
    ...more,
  })
const made = async (more: object = {}) => (await group(more)).body.id as string
const tryOrder = (hostname: string, more: object = {}, who: object = p.owner) =>
  p.call(who, 'POST', '/admin/servers', { ...p.order, hostname, ...more })
const order = async (hostname: string, more: object = {}) => {
  const { status, body } = await tryOrder(hostname, more)
  expect([hostname, status, body.error]).toEqual([hostname, 201, undefined])
  await p.settle()
  return body.serverId as string
}
const nodeOf = async (id: string) => (await p.admin('GET', `/servers/${id}`)).node.name as string
const read = async (id: string, who: object = p.customer) => (await p.call(who, 'GET', `/placement-groups/${id}`)).body
const add = (id: string, serverId: string, who: object = p.customer) =>
  p.call(who, 'POST', `/placement-groups/${id}/servers`, { serverId })

describe('a hard group that keeps its servers apart', () => {
  test('puts each on a node of its own, and then refuses; staff are told what each node has', async () => {
    const id = await made()
    const on = [] as string[]
    for (const name of ['db1', 'db2', 'db3']) on.push(await nodeOf(await order(name, { placementGroupId: id })))
    expect(new Set(on).size).toBe(3)
    const before = p.fingerprint()
    const staff = await tryOrder('db4', { placementGroupId: id })
    expect([staff.status, staff.body.error.code]).toEqual([409, 'placement_group_unmet'])
    expect(staff.body.error.message).toContain('fra-02 has db')
    const named = await tryOrder('db4', { placementGroupId: id, nodeId: nodes[1]!.id })
    expect(named.body.error.code).toBe('placement_group_unmet')
    expect(p.fingerprint()).toBe(before)
    expect((await read(id)).members.map(({ node, misplaced }: any) => [node, misplaced])).toEqual(
      Array(3).fill([null, false]),
    )
    expect((await read(id, p.owner)).members.map(({ node }: any) => node.name).sort()).toEqual(on.sort())
  })
  test('gives two orders at the same time two nodes, and refuses the third', async () => {
    await p.admin('PATCH', `/admin/nodes/${nodes[2]!.id}`, { open: false })
    const id = await made()
    const answers = await Promise.all(['a1', 'a2', 'a3'].map((name) => tryOrder(name, { placementGroupId: id })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 409])
    await p.settle()
    const { members, violation } = await read(id, p.owner)
    expect([members.length, violation]).toEqual([2, null])
  })
  test('says how its rule is broken, and which move mends it; the overview shows it', async () => {
    const ids = [] as string[]
    for (const name of ['db1', 'db2', 'db3']) ids.push(await order(name, { nodeId: nodes[name === 'db3' ? 1 : 0]!.id }))
    const id = await made({ hard: false })
    for (const one of ids) expect((await add(id, one)).status).toBe(200)
    const attention = async () =>
      (await p.admin('GET', '/admin/overview')).attention.filter(({ what }: any) => what.includes('databases'))
    expect(await attention()).toEqual([])
    await p.call(p.customer, 'PATCH', `/placement-groups/${id}`, { hard: true })
    expect(await read(id)).toMatchObject({
      violation: '2 of 3 servers share a node: move one.',
      suggestion: null,
    })
    const { suggestion } = await read(id, p.owner)
    expect(suggestion).toEqual({ server: { id: ids[0], hostname: 'db1' }, to: { id: nodes[2]!.id, name: 'fra-03' } })
    expect(await attention()).toMatchObject([{ effect: '2 of 3 servers share a node: move one.' }])
    await p.admin('POST', `/admin/servers/${ids[0]}/actions/move`, { nodeId: suggestion.to.id })
    await p.settle()
    expect([(await read(id)).violation, await attention()]).toEqual([null, []])
  })
  test('binds moves: where another one is they are refused, and placement takes the free node', async () => {
    const id = await made()
    const [a, b] = [
      await order('db1', { placementGroupId: id, nodeId: nodes[0]!.id }),
      await order('db2', { placementGroupId: id, nodeId: nodes[1]!.id }),
    ]
    const options = await p.admin('GET', `/admin/servers/${a}/move-options`)
    expect(options.nodes.map(({ node, reason }: any) => [node.name, reason])).toEqual([
      ['fra-03', null],
      ['fra-02', 'has db2 of the group databases'],
    ])
    const before = p.fingerprint()
    const refused = await p.call(p.owner, 'POST', `/admin/servers/${a}/actions/move`, { nodeId: nodes[1]!.id })
    expect([refused.status, refused.body.error.code]).toEqual([409, 'placement_group_unmet'])
    expect(p.fingerprint()).toBe(before)
    // While db1 is on its way, its next node is taken, and its present one still is.
    const moving = await p.admin('POST', `/admin/servers/${a}/actions/move`, {})
    expect(moving.to.name).toBe('fra-03')
    const other = await p.call(p.owner, 'POST', `/admin/servers/${b}/actions/move`, {})
    expect(other.body.error.code).toBe('placement_group_unmet')
    await p.settle()
    expect(await nodeOf(a)).toBe('fra-03')
  })
  test('binds the plan of a node that is emptied: what it moves counts for the next', async () => {
    const ids = []
    for (const name of ['db1', 'db2', 'db3']) ids.push(await order(name, { nodeId: nodes[0]!.id }))
    const id = await made()
    for (const one of ids) await add(id, one)
    const { servers } = await p.admin('GET', `/admin/nodes/${nodes[0]!.id}/drain-plan`)
    expect(servers.map(({ to }: any) => to?.name).toSorted()).toEqual(['fra-02', 'fra-03', undefined])
    const { reason } = servers.find(({ to }: any) => to === null)
    expect(reason).toMatch(/^No node takes it: fra-02 has db\d of the group databases, fra-03 has db\d/)
  })
  test('leaves out a server that is terminated, and shows when it comes back beside another', async () => {
    const id = await made()
    await p.admin('PATCH', `/admin/nodes/${nodes[1]!.id}`, { open: false })
    await p.admin('PATCH', `/admin/nodes/${nodes[2]!.id}`, { open: false })
    const first = await order('db1', { placementGroupId: id })
    await p.call(p.owner, 'POST', `/servers/${first}/actions/suspend`, { reason: 'unpaid' })
    expect((await tryOrder('db2', { placementGroupId: id })).body.error.code).toBe('placement_group_unmet')
    await p.admin('DELETE', `/servers/${first}`)
    await p.settle()
    await order('db2', { placementGroupId: id })
    expect((await read(id)).members.map(({ server }: any) => server.hostname)).toEqual(['db2'])
    await p.admin('POST', `/servers/${first}/actions/undelete`)
    await p.settle()
    expect((await read(id)).violation).toBe('2 of 2 servers share a node: move one.')
    await p.admin('DELETE', `/servers/${first}?immediately=true`)
    await p.settle()
    expect(p.db.$client.query('SELECT workload_id FROM placement_group_members').all()).toHaveLength(1)
  })
})

describe('a group that keeps its servers together', () => {
  test('puts them on one node against the rule of the location, and refuses another one where it is hard', async () => {
    const id = await made({ policy: 'affinity' })
    const on = [await nodeOf(await order('a1', { placementGroupId: id, nodeId: nodes[1]!.id }))]
    const second = await order('a2', { placementGroupId: id })
    on.push(await nodeOf(second))
    expect(on).toEqual(['fra-02', 'fra-02'])
    const move = await p.call(p.owner, 'POST', `/admin/servers/${second}/actions/move`, {})
    expect([move.body.error.code, move.body.error.message.includes('is not the node of the group')]).toEqual([
      'placement_group_unmet',
      true,
    ])
    const stranger = await order('a3', { nodeId: nodes[2]!.id })
    expect((await add(id, stranger)).body.violation).toBe('1 of 3 servers is on another node: move it.')
  })
  test('prefers that node where it is soft, and says when it could not', async () => {
    const id = await made({ policy: 'affinity', hard: false })
    await order('a1', { placementGroupId: id, nodeId: nodes[1]!.id })
    const second = await order('a2', { placementGroupId: id })
    expect((await p.admin('GET', `/servers/${second}`)).placement).toContain('fra-02')
    expect((await p.admin('GET', `/servers/${second}`)).placement).toContain('the group databases is kept')
    await p.admin('PATCH', `/admin/nodes/${nodes[1]!.id}`, { open: false })
    const third = await order('a3', { placementGroupId: id })
    const { placement } = await p.admin('GET', `/servers/${third}`)
    expect(placement).toContain('it is not the node of the group databases, which is soft')
    const options = await p.admin('GET', `/admin/servers/${second}/move-options`)
    expect(options.nodes.find(({ node }: any) => node.name === 'fra-03')).toMatchObject({
      possible: true,
      note: 'is not the node of the group databases',
    })
  })
})

describe('a placement group', () => {
  test('is its owner’s alone, and a server that gets another owner leaves it', async () => {
    const id = await made()
    const eve = p.account('customer', 'Eve')
    const mine = await order('db1', { placementGroupId: id })
    const theirs = await order('evil', { ownerId: eve.id })
    const before = p.fingerprint()
    expect((await p.call(eve, 'GET', `/placement-groups/${id}`)).body.error.code).toBe('placement_group_not_found')
    expect((await p.call(eve, 'GET', '/placement-groups')).body.data).toEqual([])
    expect((await add(id, mine, eve)).body.error.code).toBe('placement_group_not_found')
    expect((await add(id, theirs)).body.error.code).toBe('validation_failed')
    expect((await add(id, theirs, p.owner)).body.error.code).toBe('validation_failed')
    const foreign = await tryOrder('evil2', { ownerId: eve.id, placementGroupId: id })
    expect(foreign.body.error.code).toBe('validation_failed')
    expect((await group()).body.error.code).toBe('name_taken')
    expect((await add(id, mine)).body.error.code).toBe('already_done')
    const other = await p.call(p.customer, 'DELETE', `/placement-groups/${id}/servers/${theirs}`)
    expect(other.body.error.code).toBe('server_not_found')
    expect(p.fingerprint()).toBe(before)
    const second = await made({ name: 'second' })
    expect((await add(second, mine)).body.error).toMatchObject({
      code: 'in_use',
      message: 'db1 is in the group databases. Take it out of it first.',
    })
    await p.admin('POST', `/servers/${mine}/actions/change-owner`, { ownerId: eve.id })
    expect((await read(id)).members).toEqual([])
  })
  test('is found by its name and its server, renamed, and removed while its servers stay', async () => {
    const id = await made()
    const one = await order('db1', { placementGroupId: id })
    await made({ name: 'web', policy: 'affinity' })
    const list = async (query: string) =>
      (await p.call(p.customer, 'GET', `/placement-groups${query}`)).body.data.map(({ name }: any) => name)
    expect([await list(''), await list(`?serverId=${one}`)]).toEqual([['web', 'databases'], ['databases']])
    expect((await p.call(p.customer, 'GET', '/search?q=data')).body.data).toContainEqual(
      expect.objectContaining({ title: 'databases', href: `/placement-groups/${id}` }),
    )
    await p.call(p.customer, 'PATCH', `/placement-groups/${id}`, { name: 'stores' })
    expect((await p.call(p.customer, 'DELETE', `/placement-groups/${id}/servers/${one}`)).body.members).toEqual([])
    await add(id, one)
    expect((await p.call(p.customer, 'DELETE', `/placement-groups/${id}`)).status).toBe(200)
    expect([await list(''), await nodeOf(one)]).toEqual([['web'], expect.any(String)])
    expect(p.auditLines().map(({ operation }) => operation)).toContain('placement-groups.remove')
  })
  test('stands on its pages, of customers without a node', async () => {
    const id = await made()
    await order('db1', { placementGroupId: id, nodeId: nodes[1]!.id })
    const html = async (path: string, cookie: string | undefined) => {
      const request = new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${cookie}` } })
      return await (await p.controller.router.fetch(request)).text()
    }
    const own = await html(`/placement-groups/${id}`, p.customer.cookie)
    for (const part of ['databases', 'db1', 'Each on its own node, always'])
      expect([part, own.includes(part)]).toEqual([part, true])
    expect(own.includes('fra-02')).toBe(false)
    const [{ id: serverId }] = (await p.admin('GET', '/servers?q=db1')).data
    expect(await html(`/servers/${serverId}/settings`, p.customer.cookie)).toContain(
      'databases: Each on its own node, always',
    )
    expect(await html(`/admin/placement-groups/${id}`, p.owner.cookie)).toContain('fra-02')
    expect(await html(`/admin/servers/new?ownerId=${p.customer.id}`, p.owner.cookie)).toContain(
      'databases: Each on its own node, always',
    )
  })
})

const changes = () =>
  p.db.$client
    .query<{ data: string }, []>("SELECT data FROM events WHERE type = 'placement_group.changed' ORDER BY seq")
    .all()
    .map(({ data }) => JSON.parse(data))
    .map(({ change, member }) => [change, member?.hostname ?? null])

describe('a group that is broken', () => {
  /** Two servers that share fra-01, in a hard group. */
  async function sharing() {
    const ids = [await order('db1', { nodeId: nodes[0]!.id }), await order('db2', { nodeId: nodes[0]!.id })]
    const id = await made()
    for (const one of ids) await add(id, one)
    return { id, ids }
  }
  const mend = (id: string, body: object, who: object = p.owner) =>
    p.call(who, 'POST', `/placement-groups/${id}/actions/mend`, body)

  test('is mended by the move that it suggests, in one call', async () => {
    const { id } = await sharing()
    const { suggestion } = await read(id, p.owner)
    const body = { serverId: suggestion.server.id, nodeId: suggestion.to.id }
    const { status, body: answer } = await mend(id, body)
    expect([status, answer.server, answer.to]).toEqual([202, suggestion.server, suggestion.to])
    await p.settle()
    expect([(await read(id)).violation, await nodeOf(suggestion.server.id)]).toEqual([null, suggestion.to.name])
    const again = await mend(id, body)
    expect([again.status, again.body.error.code]).toEqual([409, 'suggestion_changed'])
  })
  test('409 suggestion_changed: for another move than it suggests by now, and nothing moves', async () => {
    const { id, ids } = await sharing()
    const before = p.fingerprint()
    const { status, body } = await mend(id, { serverId: ids[1], nodeId: nodes[2]!.id })
    expect([status, body.error.code]).toEqual([409, 'suggestion_changed'])
    expect(p.fingerprint()).toBe(before)
  })
  test('403: by its owner', async () => {
    const { id, ids } = await sharing()
    const { status } = await mend(id, { serverId: ids[0], nodeId: nodes[1]!.id }, p.customer)
    expect(status).toBe(403)
  })
})

test('each change of a group is told', async () => {
  const id = await made()
  const server = await order('db1')
  await add(id, server)
  await p.call(p.customer, 'PATCH', `/placement-groups/${id}`, { hard: false })
  await p.call(p.customer, 'DELETE', `/placement-groups/${id}/servers/${server}`)
  await p.call(p.customer, 'DELETE', `/placement-groups/${id}`)
  expect(changes()).toEqual([
    ['created', null],
    ['member_added', 'db1'],
    ['updated', null],
    ['member_taken_out', 'db1'],
    ['removed', null],
  ])
})

describe('members of the team of its owner', () => {
  const seen = async (who: object, id: string) => [
    (await p.call(who, 'GET', `/placement-groups/${id}`)).status,
    (await p.call(who, 'GET', '/placement-groups')).body.data.length,
    (await p.call(who, 'PATCH', `/placement-groups/${id}`, { hard: false })).status,
  ]
  test('see it where they may operate all servers, and change it where they may manage them', async () => {
    const id = await made()
    const server = await order('db1')
    await add(id, server)
    const friend = (name: string) => p.account('customer', name)
    const [viewer, operator, manager, single] = ['V', 'O', 'M', 'S'].map(friend)
    await share(p, p.customer, viewer!, 'view')
    await share(p, p.customer, operator!, 'operate')
    await share(p, p.customer, manager!, 'manage')
    await share(p, p.customer, single!, 'manage', server)
    expect(await seen(viewer!, id)).toEqual([404, 0, 404])
    expect(await seen(single!, id)).toEqual([404, 0, 404])
    expect(await seen(operator!, id)).toEqual([200, 1, 403])
    expect(await seen(manager!, id)).toEqual([200, 1, 200])
    expect((await p.call(operator!, 'GET', `/placement-groups/${id}`)).body.access).toBe('operate')
    expect((await p.call(manager!, 'DELETE', `/placement-groups/${id}/servers/${server}`)).status).toBe(200)
  })
})
