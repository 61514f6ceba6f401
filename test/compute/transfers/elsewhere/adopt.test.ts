// The database was restored as it was before a server moved: its record follows it to the node that runs it.
import { describe, expect, test } from 'bun:test'
import { write } from '../../../../src/kernel/db/open.ts'
import type { World } from '../../../support/world/panel.ts'
import { withEverything } from '../scenarios.ts'
import { move, nodeNamed, open, order, where } from '../world.ts'
import { restoredBefore } from './restored.ts'

const path = (id: string) => `/admin/servers/${id}/elsewhere`
const adopt = (p: World, id: string, node = 'fra-02') =>
  p.call(p.signIn(p.owner.id), 'POST', `/admin/servers/${id}/actions/adopt`, { nodeId: nodeNamed(p, node) })
const rows = (p: World) => p.fingerprint(['sessions'])
async function movedAway(make: (p: World) => Promise<string> = order) {
  const p = await open()
  const id = await make(p)
  await restoredBefore(p, () => move(p, id))
  return Object.assign(p, { id })
}
const attention = async (p: World) =>
  (await p.call(p.signIn(p.owner.id), 'GET', '/admin/overview')).body.attention.filter(({ what }: any) =>
    what.includes('the restored records say'),
  )
/** It is refused with this code and words, and nothing has changed. */
async function refused(p: World & { id: string }, code: string, words: string, node?: string) {
  const before = rows(p)
  const { status, body } = await adopt(p, p.id, node)
  expect([status, body.error.code, body.error.message]).toEqual([409, code, expect.stringContaining(words)])
  expect(rows(p)).toEqual(before)
  const shown = await p.admin('GET', path(p.id))
  expect([shown.possible, shown.reason]).toEqual([false, body.error.message])
}

describe('a server that runs elsewhere since before a restore', () => {
  test('is where it runs once staff say so: node, stay, disk and rules, and nothing waits for staff', async () => {
    using p = await movedAway()
    expect((await where(p, p.id)).stays).toEqual(['home on fra-01'])
    const [entry] = await attention(p)
    expect([entry.action, entry.href]).toEqual(['Decide where it is', `/admin/servers/${p.id}/elsewhere`])
    expect(await p.admin('GET', path(p.id))).toMatchObject({
      ...{ recorded: { name: 'fra-01' }, nodes: [{ name: 'fra-02' }], possible: true, reason: null },
      changes: ['It is on fra-02, with its disk in local.'],
    })
    const { status, body } = await adopt(p, p.id)
    expect([status, body.node.name]).toEqual([202, 'fra-02'])
    await p.settle()
    expect(p.job(body.jobId)).toMatchObject({ kind: 'adopt', state: 'succeeded' })
    expect(await where(p, p.id)).toMatchObject({
      ...{ status: 'running', stays: ['home on fra-02'], held: ['fra-02 holds 1 2048 20'], running: 1 },
      onNodes: { 'fra-01': 'nothing', 'fra-02': 'running, 1 disks, 1 rules, 0 floating, 0 transfers' },
    })
    expect(await attention(p)).toEqual([])
    expect(p.events().at(-1)).toBe('server.adopted')
    expect(p.auditLines().at(-1)).toMatchObject({ operation: 'servers.adopt', target: p.id })
    // It is a server as every other one: it restarts, and moves back.
    const { jobId } = await p.admin('POST', `/servers/${p.id}/actions/power`, { action: 'restart' })
    await p.settle()
    expect(p.job(jobId).state).toBe('succeeded')
    await move(p, p.id, { nodeId: nodeNamed(p, 'fra-01') })
    await p.settle()
    expect((await where(p, p.id)).stays).toEqual(['home on fra-01'])
  })
  test('takes its extra volume, floating address and private network along', async () => {
    using p = await movedAway(withEverything)
    expect((await p.admin('GET', path(p.id))).reason).toBe(null)
    expect(await adopt(p, p.id)).toMatchObject({ status: 202 })
    await p.settle()
    expect(await where(p, p.id)).toMatchObject({
      ...{ stays: ['home on fra-02'], held: ['fra-02 holds 1 2048 30'] },
      onNodes: { 'fra-02': 'running, 2 disks, 1 rules, 1 floating, 0 transfers' },
    })
    const [volume] = p.db.$client.query<{ node: string }, []>('SELECT node_id AS node FROM volumes').all()
    expect(volume!.node).toBe(nodeNamed(p, 'fra-02'))
  })
  test('that is suspended in the records is shut down there', async () => {
    using p = await open()
    const id = await order(p)
    await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })
    await p.settle()
    await restoredBefore(p, async () => {
      await p.admin('POST', `/servers/${id}/actions/unsuspend`)
      await p.settle()
      await move(p, id)
    })
    expect((await p.admin('GET', path(id))).changes).toContain('It is suspended in the records: it is shut down there.')
    await adopt(p, id)
    await p.settle()
    expect(await where(p, id)).toMatchObject({ status: 'suspended', stays: ['home on fra-02'], running: 0 })
  })
  test('of a node that is lost by now is in use again', async () => {
    using p = await movedAway()
    const home = nodeNamed(p, 'fra-01')
    p.agents.get(home)!.disconnect()
    await p.reported()
    await refused(p, 'runs_twice', 'fra-01 does not answer')
    const { status } = await p.call(p.signIn(p.owner.id), 'POST', `/admin/nodes/${home}/actions/declare-lost`, {
      name: 'fra-01',
    })
    expect([status, p.server(p.id).status]).toEqual([200, 'failed'])
    expect((await adopt(p, p.id)).status).toBe(202)
    await p.settle()
    expect(p.server(p.id)).toMatchObject({ status: 'running', failure: null })
  })
})

describe('it is refused', () => {
  test('409 not_elsewhere: where no other node runs it', async () => {
    using p = await open()
    const id = await order(p)
    await refused(Object.assign(p, { id }), 'not_elsewhere', 'No other node than fra-01')
  })
  test('409 runs_twice: where its recorded node runs it, too', async () => {
    using p = await movedAway()
    const { host } = p.agents.get(nodeNamed(p, 'fra-01'))!
    const db = (host.hypervisor as any).db
    const there = (p.agents.get(nodeNamed(p, 'fra-02'))!.host.hypervisor as any).db
    const row = there.query('SELECT * FROM vms').get()
    const names = Object.keys(row)
    db.query(`INSERT INTO vms (${names}) VALUES (${names.map(() => '?')})`).run(...(Object.values(row) as any[]))
    await refused(p, 'runs_twice', 'fra-01 runs web01, too')
  })
  test('409 not_adoptable: where its disk is smaller there, or of a size that nobody knows', async () => {
    using p = await movedAway()
    p.db.$client.run('UPDATE workloads SET disk_gb = 40 WHERE id = ?', [p.id])
    await refused(p, 'not_adoptable', 'the records say 40 GiB')
  })
  test('409 not_adoptable: where it has another address there', async () => {
    using p = await movedAway()
    // The records give its address to nobody, and another one to it.
    const { $client } = p.db
    const own = $client
      .query<{ id: string }, [string]>('SELECT id FROM addresses WHERE workload_id = ? AND version = 4')
      .get(p.id)!.id
    $client.run('UPDATE addresses SET workload_id = NULL, is_primary = 0 WHERE id = ?', [own])
    $client.run(
      `UPDATE addresses SET workload_id = ?, is_primary = 1 WHERE id = (SELECT id FROM addresses
         WHERE version = 4 AND workload_id IS NULL AND reserved_for IS NULL AND id <> ? LIMIT 1)`,
      [p.id, own],
    )
    // Settles the history of both addresses.
    write(p.db, () => {})
    await refused(p, 'not_adoptable', 'which the records do not give to it')
  })
  test('409 not_adoptable: where it is terminated, or not installed, in the records', async () => {
    using p = await movedAway()
    p.db.$client.run('UPDATE workloads SET disk_generation = NULL WHERE id = ?', [p.id])
    await refused(p, 'not_adoptable', 'was not installed when the records were made')
  })
  test('422: for another node than the one that runs it', async () => {
    using p = await movedAway()
    const before = rows(p)
    const { status, body } = await adopt(p, p.id, 'fra-03')
    expect([status, body.error.details.fields]).toEqual([
      422,
      [{ field: 'nodeId', message: 'must be the node that runs it: fra-02.' }],
    ])
    expect(rows(p)).toEqual(before)
  })
  test('403: for staff without the right, and for its owner', async () => {
    using p = await movedAway()
    const who = p.staff(['servers.see_all'])
    const answers = await Promise.all([
      p.call(who, 'POST', `/admin/servers/${p.id}/actions/adopt`, { nodeId: nodeNamed(p, 'fra-02') }),
      p.call(p.customer, 'POST', `/admin/servers/${p.id}/actions/adopt`, { nodeId: nodeNamed(p, 'fra-02') }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([403, 403])
    expect((await where(p, p.id)).stays).toEqual(['home on fra-01'])
  })
})
