// Backups whose node is gone: what lies elsewhere is read and deleted by another node, what lay on it is forgotten.
import { describe, expect, test } from 'bun:test'
import { forgetDue } from '../../../src/compute/backups/delete.ts'
import { startDueMaintenance } from '../../../src/compute/backups/maintenance/scheduler.ts'
import { day } from '../../../src/kernel/db/clock.ts'
import { type World, world } from '../../support/world/panel.ts'

const targets = {
  s3: { address: 'https://s3.example.com/oslo/web', login: 'AKIA', secret: 'hidden-1' },
  local: { address: '/srv/backups' },
}

/** Two nodes, a server on the first, and two backups of it in a target that is not append-only. */
async function begin(p: World, kind: keyof typeof targets, how: 'stays' | 'is lost') {
  const { id: targetId } = await p.admin('POST', `/admin/backup-targets/${kind}`, { name: 'Oslo', ...targets[kind] })
  await p.admin('POST', `/admin/backup-targets/${targetId}/actions/make-default`)
  const other = p.addNode(p.location, 'fra-02')
  p.attach(p.pool, other.id)
  const order = async (hostname: string, nodeId: string) => {
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname, nodeId })
    await p.settle()
    return serverId as string
  }
  const make = async (server: string, body: object = {}) => {
    const { backupId } = await p.admin('POST', `/servers/${server}/backups`, body)
    await p.settle()
    return backupId as string
  }
  const id = await order('web01', p.node.id)
  const first = await make(id)
  const second = await make(id, { keepDays: 3 })
  if (how === 'is lost') {
    p.node.agent.disconnect()
    await p.settle()
    await p.admin('POST', `/admin/nodes/${p.node.id}/actions/declare-lost`, { name: 'fra-01' })
  }
  return {
    id,
    first,
    second,
    targetId: targetId as string,
    other,
    order,
    make,
    left: async () => (await p.admin('GET', `/servers/${id}/backups`)).data.map(({ id }: { id: string }) => id),
    nodesOf: (kind: string) =>
      p.db.$client
        .query<{ nodeId: string; state: string }, [string]>('SELECT node_id AS nodeId, state FROM jobs WHERE kind = ?')
        .all(kind),
    remove: async (backupId: string) => {
      const answer = await p.admin('DELETE', `/servers/${id}/backups/${backupId}`)
      await p.settle()
      return answer
    },
    repositories: async () => (await p.admin('GET', '/admin/backup-repositories')).data,
  }
}

describe('a backup in a place that all nodes reach', () => {
  test('is drilled by a node of another location when its own location is lost', async () => {
    using p = await world()
    const s = await begin(p, 's3', 'is lost')
    const { id: far } = await p.admin('POST', '/admin/node-groups', { name: 'Far' })
    p.db.$client.run('UPDATE nodes SET location_id = ? WHERE id = ?', [far, s.other.id])
    const { status, body } = await p.call(p.owner, 'POST', `/admin/backups/${s.first}/actions/drill`)
    expect(status).toBe(202)
    await p.settle()
    // Each simulated node has places of its own, so that nothing is found there.
    expect([p.job(body.jobId).errorCode, s.nodesOf('drill').map(({ nodeId }) => nodeId)]).toEqual([
      'backup_no_snapshot',
      [s.other.id],
    ])
  })
  test('is deleted by another node when its own is lost, by hand and when its time has come', async () => {
    using p = await world()
    const s = await begin(p, 's3', 'is lost')
    const { jobId } = await s.remove(s.first)
    expect([p.job(jobId).state, await s.left()]).toEqual(['succeeded', [s.second]])
    p.turnClock(4 * day)
    forgetDue(p.db, p.now())
    await p.settle()
    expect(await s.left()).toEqual([])
    expect(s.nodesOf('delete_backup')).toEqual(Array(2).fill({ nodeId: s.other.id, state: 'succeeded' }))
  })

  test('is checked by another node when its own is lost', async () => {
    using p = await world()
    const s = await begin(p, 's3', 'is lost')
    p.turnClock(day)
    startDueMaintenance(p.db, p.controller.app)
    await p.settle()
    expect(s.nodesOf('check_backups')).toEqual([{ nodeId: s.other.id, state: 'succeeded' }])
    expect(await s.repositories()).toMatchObject([{ node: null, finding: 'works', partsRead: 1 }])
  })
})

describe('a backup in a folder of a node', () => {
  test('is forgotten at once when that is lost, because nothing is left of it', async () => {
    using p = await world()
    const s = await begin(p, 'local', 'is lost')
    expect(await s.remove(s.first)).toMatchObject({ jobId: null })
    expect(await s.left()).toEqual([s.second])
    p.turnClock(4 * day)
    forgetDue(p.db, p.now())
    expect([await s.left(), s.nodesOf('delete_backup')]).toEqual([[], []])
  })

  test('is verified when that folder was read, not that of another node', async () => {
    using p = await world()
    const s = await begin(p, 'local', 'stays')
    const elsewhere = await s.make(await s.order('web02', s.other.id))
    expect((await s.repositories()).map(({ node }: { node: { name: string } }) => node.name).sort()).toEqual([
      'fra-01',
      'fra-02',
    ])
    p.db.$client.run('UPDATE backup_repositories SET next_part = 28 WHERE folder_node_id = ?', [s.other.id])
    // One at a time: the folder may be one that both nodes have mounted.
    for (let n = 0; n < 2; n++) {
      p.turnClock(day)
      startDueMaintenance(p.db, p.controller.app)
      await p.settle()
    }
    const verified = p.db.$client.query('SELECT id FROM backups WHERE verified_at IS NOT NULL').all()
    expect(verified).toEqual([{ id: elsewhere }])
    const nodes = new Set(s.nodesOf('check_backups').map(({ nodeId }) => nodeId))
    expect([...nodes].sort()).toEqual([p.node.id, s.other.id].sort())
  })
})
