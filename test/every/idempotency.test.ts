// A call that is sent again with its key is one call: over every operation that promises it. What a key is and how long
// it is kept is in test/kernel/api/idempotency.test.ts; keys against kill -9 are in
// test/end-to-end/program/idempotency.test.ts.
import { beforeAll, describe, expect, test } from 'bun:test'
import { Type as t } from 'typebox'
import { fields, type Operation, operation } from '../../src/kernel/api/operation.ts'
import { quickly } from '../support/quick.ts'
import { callerOf, type Everything, everyId, everything, exampleOf, targetsOf } from '../support/world/everything.ts'
import { type Reply, type Snapshot, world } from '../support/world/panel.ts'
import { operations } from './toy-feature/every-feature.ts'

/** Servers in each state that an operation may want of one. */
let inEveryState: Snapshot
beforeAll(async () => {
  using p = await everything()
  const order = async (hostname: string) =>
    (await p.admin('POST', '/admin/servers', { ...p.order, hostname })).serverId as string
  const [stopped, suspended, ended] = [await order('stopped'), await order('suspended'), await order('ended')]
  await p.settle()
  await p.admin('POST', `/servers/${stopped}/actions/power`, { action: 'shutdown' })
  await p.admin('POST', `/servers/${suspended}/actions/suspend`, { reason: 'overdue' })
  await p.admin('DELETE', `/servers/${ended}`)
  await p.settle()
  // A move needs another node that routes the addresses.
  const spare = p.db.$client.query<{ id: string }, []>("SELECT id FROM nodes WHERE name = 'spare-01'").get()!
  p.attach(p.pool, spare.id)
  // An owner moves a server only to a location that is offered.
  const { id: helsinki } = await p.admin('POST', '/admin/node-groups', { name: 'Helsinki' })
  const { id: nodeId } = p.addNode(helsinki, 'hel-01')
  await p.admin('POST', '/admin/ip-pools', {
    ...{ name: 'hel', network: '198.51.100.0/24', gateway: '198.51.100.1', nodeIds: [nodeId] },
    ...{ first: '198.51.100.10', last: '198.51.100.12' },
  })
  await p.admin('PUT', `/admin/node-groups/${helsinki}/moves`, { locationIds: [p.location], offeredIds: [p.location] })
  const { reseller } = p.people
  await p.admin('PATCH', `/resellers/${reseller.id}`, { locationIds: [p.location, helsinki] })
  await p.admin('POST', '/admin/servers', {
    ...{ ...p.order, nodeGroupId: helsinki, ownerId: reseller.id, hostname: 'far01' },
  })
  await p.settle()
  // A top-up needs a limit to add to.
  for (const table of ['packages', 'servers']) p.db.$client.run(`UPDATE ${table} SET traffic_gb = 1000`)
  inEveryState = p.snapshot()
})

const bytes = ({ body }: Reply) => JSON.stringify(body)
const replayed = ({ headers }: Reply) => headers.get('Idempotency-Replayed')
const count = (p: Everything, sql: string) => (p.db.$client.query(sql).get() as { n: number }).n
const done = (p: Everything, op: Operation) =>
  count(p, `SELECT count(*) AS n FROM audit WHERE operation = '${op.id}' AND result = 'done'`)
/**
 * Without the jobs that remove what is left of a disk or on a former node, or check cards that came free: a
 * reinstallation, a restore, a deletion and a move start them at their end.
 */
const jobs = (p: Everything) =>
  count(
    p,
    `SELECT count(*) AS n FROM jobs WHERE kind NOT IN ('remove_disk', 'remove_layer', 'clear_move')
     AND NOT (kind = 'check_cards' AND started_by_type = 'system')`,
  )
/**
 * How many jobs the answer says that the call started: one for each server that is stopped, or one in all. Of a swap
 * it names one; another holds the other server until the record, and a third brings it its address from then on.
 */
function jobsToldBy({ body }: Reply): number {
  const isSwap = body.servers?.length === 2
  return body.stopping?.length ?? (isSwap ? 3 : (body.servers?.length ?? (body.jobId || body.drainId ? 1 : 0)))
}

const snapshotOf = (p: Everything, serverId: string) =>
  p.db.$client.query<{ id: string }, [string]>('SELECT id FROM snapshots WHERE server_id = ?').get(serverId)?.id ??
  'none'

const backupOf = (p: Everything, serverId: string) =>
  p.db.$client.query<{ id: string }, [string]>('SELECT id FROM backups WHERE server_id = ?').get(serverId)?.id ?? 'none'

const extraAddressOf = (p: Everything, serverId: string) =>
  p.db.$client
    .query<{ id: string }, [string]>(
      'SELECT id FROM addresses WHERE workload_id = ? AND is_primary = 0 AND holder_id IS NULL',
    )
    .get(serverId)?.id ?? 'none'

const memberOf = (p: Everything, networkId: string) =>
  p.db.$client
    .query<{ id: string }, [string]>('SELECT workload_id AS id FROM private_network_members WHERE network_id = ?')
    .get(networkId)?.id ?? 'none'

/** Sends the operation's example, to one thing after the other until one is in the state for it. */
async function sent(
  p: Everything,
  op: Operation,
  send: (path: string, body: unknown) => Promise<Reply>,
): Promise<Reply> {
  const ids = everyId(p)
  const body = op.body ? exampleOf(p, op, ids) : undefined
  let last: Reply | undefined
  for (const id of op.on ? targetsOf(p, op, ids) : ['']) {
    last = await send(
      op.path
        .replace(/\{\w+\}/, id)
        .replace('{addressId}', () => extraAddressOf(p, id))
        .replace('{snapshotId}', () => snapshotOf(p, id))
        .replace('{backupId}', () => backupOf(p, id))
        .replace('{serverId}', () => memberOf(p, id)),
      body,
    )
    if (last.status < 300) return last
  }
  throw new Error(`nothing here lets ${op.id} be done: ${last && bytes(last)}`)
}
const key = { 'Idempotency-Key': 'order-1842' }

describe('an operation that honours Idempotency-Key', () => {
  const promised = operations.filter((op) => op.idempotent)
  test('is one that makes, ends or changes a server, or makes a customer', () =>
    expect(promised.length).toBeGreaterThanOrEqual(8))

  for (const op of quickly(promised, 2))
    test(`${op.id}: sent twice with one key, it is done once, noted once and told once`, async () => {
      using p = await everything({ from: inEveryState })
      let path = ''
      let body: unknown
      const before = done(p, op)
      const first = await sent(p, op, (to, given) =>
        p.call(p.people[callerOf(op)], op.method, (path = to), (body = given), key),
      )
      await p.settle()
      expect([replayed(first), done(p, op)]).toEqual([null, before + 1])
      const after = p.fingerprint()
      const again = await p.call(p.people[callerOf(op)], op.method, path, body, key)
      await p.settle()
      expect([again.status, bytes(again), replayed(again)]).toEqual([first.status, bytes(first), 'true'])
      expect(p.fingerprint()).toBe(after)
    })
  for (const op of quickly(promised, 2, 1))
    test(
      `${op.id}: sent four times at once with one key, one does it and the others answer what it ` + 'answered',
      async () => {
        using p = await everything({ from: inEveryState })
        const [noted, started] = [done(p, op), jobs(p)]
        let all: Reply[] = []
        await sent(p, op, async (path, body) => {
          all = await Promise.all([1, 2, 3, 4].map(() => p.call(p.people[callerOf(op)], op.method, path, body, key)))
          return all[0]!
        })
        await p.settle()
        expect(new Set(all.map(bytes)).size).toBe(1)
        expect(all.map(replayed).filter((r) => r === 'true').length).toBe(3)
        expect(done(p, op)).toBe(noted + 1)
        expect(jobs(p) - started).toBe(jobsToldBy(all[0]!))
      },
    )
})

describe('a call whose key is at work already', () => {
  const slow = (waits: () => Promise<void>, made: () => string) =>
    operation({
      id: 'test.slow',
      method: 'POST',
      path: '/slow',
      summary: 'Takes as long as it is told to',
      access: 'anyone',
      body: fields({}),
      response: t.Object({ id: t.String() }),
      idempotent: true,
      prepare: waits,
      run: () => ({ id: made() }),
    })
  const seconds = async (n: number) => void (await Bun.sleep(n * 1000))

  test('waits for its answer and says the same, whichever of the two was quicker', async () => {
    using p = await world()
    for (const pauses of [
      [0.4, 0.05],
      [0.05, 0.4],
    ]) {
      let runs = 0
      const turns = [...pauses]
      const op = slow(
        () => seconds(turns.shift()!),
        () => `made ${++runs}`,
      )
      const call = () => p.controller.gate(op, undefined, { params: {}, body: {}, idempotencyKey: `k${pauses}` })
      const both = await Promise.all([call(), call()])
      expect(both.map((a) => a.body)).toEqual([{ id: 'made 1' }, { id: 'made 1' }])
      expect(both.filter((a) => a.replayed).length).toBe(1)
      expect(runs).toBe(1)
    }
  })
  test('does it itself when the first came to nothing', async () => {
    using p = await world()
    let tries = 0
    const op = slow(
      async () => {
        if (++tries > 1) return
        await seconds(0.1)
        throw new Error('lost its way')
      },
      () => `made at try ${tries}`,
    )
    const call = () => p.controller.gate(op, undefined, { params: {}, body: {}, idempotencyKey: 'k' })
    const [first, second] = await Promise.allSettled([call(), call()])
    expect(first.status).toBe('rejected')
    expect(second).toMatchObject({ status: 'fulfilled', value: { body: { id: 'made at try 2' } } })
  })
})
