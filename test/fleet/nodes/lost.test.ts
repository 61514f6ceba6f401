// A node that does not come back: declared lost, removed with what is on it, and refused when it appears again.
import { describe, expect, test } from 'bun:test'
import { type World, world } from '../../support/world/panel.ts'

/** A server that runs on a node which is away. */
async function away() {
  const p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  p.node.agent.disconnect()
  return Object.assign(p, { serverId: serverId as string, path: `/admin/nodes/${p.node.id}` })
}
const lose = (p: World & { path: string }, name = 'fra-01') =>
  p.call(p.owner, 'POST', `${p.path}/actions/declare-lost`, { name })
const removeAll = (p: World & { path: string }, name = 'fra-01') =>
  p.call(p.owner, 'POST', `${p.path}/actions/remove-with-workloads`, { name })
const serverOf = async (p: World & { serverId: string }) =>
  (await p.call(p.owner, 'GET', `/servers/${p.serverId}`)).body
const jobs = (p: World) =>
  p.db.$client
    .query<{ kind: string; state: string; code: string | null }, []>(
      'SELECT kind, state, error_code AS code FROM jobs ORDER BY rowid',
    )
    .all()
const addresses = (p: World) =>
  p.db.$client.query<{ n: number }, []>('SELECT count(workload_id) AS n FROM addresses').get()!.n

describe('declaring a node lost', () => {
  test('200: lists what was on it, which has failed with the reason and keeps its addresses', async () => {
    using p = await away()
    const held = addresses(p)
    const { status, body } = await lose(p)
    expect([status, body]).toEqual([200, { workloads: [{ id: p.serverId, hostname: 'web01' }], count: 1 }])
    expect(await serverOf(p)).toMatchObject({ status: 'failed', failure: 'Its node fra-01 was lost.' })
    expect(addresses(p)).toBe(held)
    expect((await p.call(p.owner, 'GET', p.path)).body).toMatchObject({ connected: false, open: false })
    expect(p.events().at(-1)).toBe('node.lost')
  })
  test('a job that waited for it ends, and what was left to undo there is dropped', async () => {
    using p = await away()
    const { jobId } = (await p.call(p.customer, 'POST', `/servers/${p.serverId}/actions/power`, { action: 'restart' }))
      .body
    expect(p.job(jobId).state).toBe('queued')
    await lose(p)
    await Bun.sleep(5)
    await p.settle()
    expect(p.job(jobId)).toMatchObject({ state: 'failed', errorCode: 'node_removed', undoNodeId: null })
  })
  test('a suspension and a termination that waited for it are through, and the addresses are given back', async () => {
    using p = await away()
    await p.admin('POST', `/servers/${p.serverId}/actions/suspend`, { reason: 'overdue' })
    await p.admin('DELETE', `/servers/${p.serverId}?immediately=true`)
    await p.settle()
    expect(jobs(p).map((j) => [j.kind, j.state])).toEqual([
      ['install', 'succeeded'],
      ['suspend', 'failed'],
      ['purge', 'queued'],
    ])
    await lose(p)
    await Bun.sleep(5)
    await p.settle()
    expect(jobs(p).at(-1)).toEqual({ kind: 'purge', state: 'succeeded', code: null })
    expect(addresses(p)).toBe(0)
  })
  test('409 node_lost: its servers are not reinstalled there, and nothing happens', async () => {
    using p = await away()
    await lose(p)
    const before = p.fingerprint()
    const body = { imageId: p.image, access: { mode: 'password' } }
    const refused = await p.call(p.customer, 'POST', `/servers/${p.serverId}/actions/reinstall`, body)
    expect([refused.status, refused.body.error?.code]).toEqual([409, 'node_lost'])
    expect(refused.body.error.message).toBe(
      'The node of web01 was lost, so nothing can be done with it there. Terminate it.',
    )
    expect(p.fingerprint()).toBe(before)
    expect((await serverOf(p)).allowed).toEqual(expect.not.arrayContaining(['reinstall']))
    const listed = (await p.call(p.owner, 'GET', '/servers')).body.data
    expect(
      listed.map((s: any) => [s.status, s.allowed.includes('reinstall'), s.allowed.includes('terminate')]),
    ).toEqual([['failed', false, true]])
  })
  test('an overdue customer is suspended and unsuspended in the record: nothing waits for the node', async () => {
    using p = await away()
    await p.admin('POST', `/servers/${p.serverId}/actions/suspend`, { reason: 'overdue' })
    await lose(p)
    await Bun.sleep(5)
    await p.settle()
    expect(await serverOf(p)).toMatchObject({ status: 'suspended', failure: 'Its node fra-01 was lost.' })
    const before = jobs(p)
    const unsuspend = () => p.admin('POST', `/servers/${p.serverId}/actions/unsuspend`)
    expect(await unsuspend()).toEqual({ jobId: null, serverId: p.serverId })
    expect(jobs(p)).toEqual(before)
    expect(await serverOf(p)).toMatchObject({ status: 'failed', failure: 'Its node fra-01 was lost.' })
    await p.admin('POST', `/servers/${p.serverId}/actions/suspend`, { reason: 'overdue again' })
    await p.settle()
    await unsuspend()
    expect(jobs(p).map(({ kind, state }) => [kind, state])).toEqual([
      ...before.map(({ kind, state }) => [kind, state]),
      ['suspend', 'succeeded'],
    ])
  })
  test('its servers can be terminated afterwards', async () => {
    using p = await away()
    await lose(p)
    await p.admin('DELETE', `/servers/${p.serverId}?immediately=true`)
    await p.settle()
    expect([jobs(p).at(-1)!.state, addresses(p)]).toEqual(['succeeded', 0])
  })
  test('it is refused when it comes back, and shown under Needs attention until it is removed', async () => {
    using p = await away()
    await lose(p)
    const reply = await p.controller.router.fetch(
      new Request('http://localhost/agent/v1/challenge', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ nodeId: p.node.id, protocol: 1 }),
      }),
    )
    expect([reply.status, ((await reply.json()) as any).error.code]).toEqual([401, 'node_declared_lost'])
    const attention = async () =>
      (await p.call(p.owner, 'GET', '/admin/overview')).body.attention.map((a: any) => a.what) as string[]
    expect(await attention()).toContain('fra-01 is lost.')
    expect((await p.call(p.owner, 'DELETE', p.path)).status).toBe(200)
    expect(await attention()).not.toContain('fra-01 is lost.')
    expect(await serverOf(p)).toMatchObject({ status: 'failed' })
  })
  test('409: one that is connected is not lost; nothing happens to what is on it', async () => {
    using p = await away()
    p.node.agent.connect()
    const { status, body } = await lose(p)
    expect([status, body.error.code, (await serverOf(p)).status]).toEqual([409, 'not_possible', 'running'])
  })
  test('409 already_done: it is declared once', async () => {
    using p = await away()
    await lose(p)
    expect((await lose(p)).body.error.code).toBe('already_done')
  })
  test('422: the name has to be typed as it is', async () => {
    using p = await away()
    const { status, body } = await lose(p, 'fra-02')
    expect([status, body.error.details.fields[0].field, (await serverOf(p)).status]).toEqual([422, 'name', 'running'])
  })
})

describe('removing a node', () => {
  test('409 in_use lists what it holds', async () => {
    using p = await away()
    const { status, body } = await p.call(p.owner, 'DELETE', p.path)
    expect([status, body.error.code, body.error.details]).toEqual([
      409,
      'in_use',
      { workloads: [{ id: p.serverId, hostname: 'web01' }] },
    ])
  })
  test('with its workloads terminates each, though the node never comes back, and tells billing', async () => {
    using p = await away()
    const { status, body } = await removeAll(p)
    expect([status, body.count]).toEqual([200, 1])
    await Bun.sleep(5)
    await p.settle()
    expect(jobs(p).at(-1)).toEqual({ kind: 'purge', state: 'succeeded', code: null })
    expect([addresses(p), p.events().at(-1)]).toEqual([0, 'server.terminated'])
    expect((await p.call(p.owner, 'GET', p.path)).status).toBe(404)
  })
  test('with its workloads: when it comes back it hears that it stops them, and it did not before', async () => {
    using p = await away()
    const challenge = async () => {
      const reply = await p.controller.router.fetch(
        new Request('http://localhost/agent/v1/challenge', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ nodeId: p.node.id, protocol: 1 }),
        }),
      )
      return [reply.status, ((await reply.json()) as any).error?.code]
    }
    expect(await challenge()).toEqual([200, undefined])
    await removeAll(p)
    expect(await challenge()).toEqual([401, 'node_declared_lost'])
  })
  test('403: with its workloads only somebody who may terminate them', async () => {
    using p = await away()
    const who = p.staff(['nodes.read', 'nodes.write', 'servers.see_all'])
    const { status } = await p.call(who, 'POST', `${p.path}/actions/remove-with-workloads`, { name: 'fra-01' })
    expect([status, (await serverOf(p)).status]).toEqual([403, 'running'])
  })
  test('its page offers both while the node is away, and names its servers', async () => {
    using p = await away()
    const page = await (
      await p.controller.router.fetch(
        new Request(`http://localhost${p.path}`, { headers: { Cookie: `__Host-panel=${p.owner.cookie}` } }),
      )
    ).text()
    for (const text of ['Declare lost', 'Remove with its servers', 'web01']) expect(page).toContain(text)
  })
})
