// A login of each node at a target: what one node is sent is of that node, and a strange one is sent nothing.
import { describe, expect, test } from 'bun:test'
import type { FakeBackups } from '../../../agent/drivers/backup/fake.ts'
import type { BackupTarget, BackupTest } from '../../../agent/protocol/backup.ts'
import { type World, world } from '../../support/world/panel.ts'

const path = '/admin/backup-targets'
const s3 = { name: 'S3', address: 'https://s3.example.com/oslo', login: 'SHARED', secret: 'shared-secret' }
type Node = World['node']

async function begin() {
  const p = await world()
  const { id } = await p.admin('POST', `${path}/s3`, s3)
  await p.admin('POST', `${path}/${id}/actions/make-default`)
  const other = p.addNode(p.location, 'fra-02')
  p.attach(p.pool, other.id)
  const sent = new Map([p.node, other].map((node) => [node.id, spy(node)]))
  return Object.assign(p, {
    id: id as string,
    other,
    /** All that this node was sent about targets. */
    sent: (node: { id: string }) => sent.get(node.id)!,
    give: (node: { id: string }, login: string, secret: string) =>
      p.call(p.owner, 'POST', `${path}/${id}/actions/set-node-login`, { nodeId: node.id, login, secret }),
    shown: async () => (await p.admin('GET', path)).data[0],
    tryFrom: async (node: { id: string }) => {
      await p.admin('POST', `${path}/${id}/actions/test`, { nodeId: node.id })
      await p.settle()
      return (await p.admin('GET', path)).data[0].test
    },
    async backup(node: { id: string }, hostname: string) {
      const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname, nodeId: node.id })
      await p.settle()
      const { jobId } = await p.admin('POST', `/servers/${serverId}/backups`, {})
      await p.settle()
      return p.job(jobId)
    },
  })
}

/** Notes what the node's driver of backups is given. */
function spy(node: Node): (BackupTarget & Pick<BackupTest, 'holds'>)[] {
  const noted: BackupTarget[] = []
  const backups = node.agent.host.backups as FakeBackups
  for (const method of ['test', 'save'] as const) {
    const original = backups[method].bind(backups) as (...given: any[]) => any
    backups[method] = (...given: any[]) => {
      noted.push(...given.flatMap((one) => ((one?.target ?? one)?.address ? [one.target ?? one] : [])))
      return original(...given)
    }
  }
  return noted
}
const credentials = (noted: readonly BackupTarget[]) => [
  ...new Set(noted.map(({ login, secret }) => `${login} ${secret}`)),
]

describe('S62: a login of a node at a backup target', () => {
  test('is what its own commands have, and no other node is sent it', async () => {
    using p = await begin()
    expect((await p.give(p.node, 'FRA01', 'own-secret')).status).toBe(200)
    expect((await p.backup(p.node, 'web01')).state).toBe('succeeded')
    expect((await p.backup(p.other, 'web02')).state).toBe('succeeded')
    await p.tryFrom(p.node)
    expect(credentials(p.sent(p.node))).toEqual(['FRA01 own-secret'])
    expect(credentials(p.sent(p.other))).toEqual(['SHARED shared-secret'])
  })
  test('is shown without its secret, beside the nodes that still share one, and stored encrypted', async () => {
    using p = await begin()
    const { body } = await p.give(p.node, 'FRA01', 'own-secret')
    expect(body).toMatchObject({
      separation: 'logins',
      ownLoginsOnly: false,
      nodeLogins: [{ node: { id: p.node.id, name: 'fra-01' }, login: 'FRA01' }],
      sharingNodes: [{ id: p.other.id, name: 'fra-02' }],
    })
    expect(JSON.stringify(body)).not.toContain('own-secret')
    expect(JSON.stringify(p.db.$client.query('SELECT * FROM backup_target_logins').all())).not.toContain('own-secret')
    expect(JSON.stringify(p.db.$client.query('SELECT * FROM audit').all())).not.toContain('own-secret')
  })
  test('is needed where the target demands it: a node without one is sent nothing', async () => {
    using p = await begin()
    await p.give(p.node, 'FRA01', 'own-secret')
    await p.admin('PATCH', `${path}/${p.id}`, { ownLoginsOnly: true })
    const job = await p.backup(p.other, 'web02')
    expect([job.state, job.errorCode]).toEqual(['failed', 'backup_login_refused'])
    expect(await p.tryFrom(p.other)).toMatchObject({
      finding: 'not_tested',
      detail: expect.stringContaining('fra-02 has no login of its own at the backup target S3'),
    })
    expect(p.sent(p.other)).toEqual([])
    expect((await p.backup(p.node, 'web01')).state).toBe('succeeded')
  })
  test('is a login of its own: neither the shared one nor that of another node', async () => {
    using p = await begin()
    await p.give(p.node, 'FRA01', 'own-secret')
    for (const login of ['SHARED', 'FRA01']) {
      const { status, body } = await p.give(p.other, login, 'x')
      expect([status, body.error.details.fields[0].field]).toEqual([422, 'login'])
    }
    const local = await p.admin('POST', `${path}/local`, { name: 'Disk', address: '/srv/b' })
    const refused = await p.call(p.owner, 'POST', `${path}/${local.id}/actions/set-node-login`, {
      ...{ nodeId: p.node.id, login: 'a', secret: 'b' },
    })
    expect([refused.status, refused.body.error.code]).toEqual([409, 'not_possible'])
    expect(local).toMatchObject({ separation: 'folders', sharingNodes: [] })
  })
  test('goes to no other host, and ends with the node or by hand', async () => {
    using p = await begin()
    await p.give(p.node, 'FRA01', 'own-secret')
    await p.give(p.other, 'FRA02', 'other-secret')
    const moved = await p.call(p.owner, 'PATCH', `${path}/${p.id}`, {
      ...{ address: 'https://thief.example.com/oslo', secret: 'new' },
    })
    expect([moved.status, moved.body.error.details.fields[0].field]).toEqual([422, 'address'])
    const body = { nodeId: p.node.id }
    expect((await p.call(p.owner, 'POST', `${path}/${p.id}/actions/remove-node-login`, body)).status).toBe(200)
    expect((await p.call(p.owner, 'POST', `${path}/${p.id}/actions/remove-node-login`, body)).body.error.code).toBe(
      'already_done',
    )
    await p.call(p.owner, 'DELETE', `/admin/nodes/${p.other.id}`)
    expect(p.db.$client.query('SELECT * FROM backup_target_logins').all()).toEqual([])
  })
})

describe('S62: a customer’s password of a repository', () => {
  test('does not reach a node that has nothing to do with the customer, by a test of the target', async () => {
    using p = await begin()
    await p.backup(p.node, 'web01')
    await p.tryFrom(p.other)
    expect(p.sent(p.other).flatMap(({ holds }) => holds ?? [])).toEqual([])
    await p.tryFrom(p.node)
    expect(p.sent(p.node).flatMap(({ holds }) => holds ?? [])).toHaveLength(1)
  })
})
