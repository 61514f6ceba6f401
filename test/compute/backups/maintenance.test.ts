// The repositories of backups: what is read back of them, what is tidied, and what is said of one that is damaged.
import { describe, expect, test } from 'bun:test'
import { startDueMaintenance } from '../../../src/compute/backups/maintenance/scheduler.ts'
import { htmlOf } from '../../support/pages/pages-for.ts'
import { type World, world } from '../../support/world/panel.ts'

const hour = 3_600_000
const day = 24 * hour

/** A server with a backup in a target at this address. */
async function backedUp(p: World, kind = 'rest', address = 'https://backups.example.com/web/') {
  const { id: targetId } = await p.admin('POST', `/admin/backup-targets/${kind}`, { name: 'Oslo', address })
  await p.admin('POST', `/admin/backup-targets/${targetId}/actions/make-default`)
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  await p.admin('POST', `/servers/${serverId}/backups`, {})
  await p.settle()
  turn(p)
  return { targetId, serverId }
}
const turn = (p: World) => startDueMaintenance(p.db, p.controller.app)
async function turnAfter(p: World, ms: number) {
  p.turnClock(ms)
  turn(p)
  await p.settle()
}
const repository = async (p: World, targetId: string) =>
  (await p.admin('GET', '/admin/backup-repositories')).data.find(({ target }: any) => target.id === targetId)
const jobs = (p: World, kind: string) =>
  p.db.$client.query<{ state: string }, [string]>('SELECT state FROM jobs WHERE kind = ?').all(kind)

describe('a repository', () => {
  test('is checked within a day, part by part, one each day', async () => {
    using p = await world()
    const { targetId } = await backedUp(p)
    expect(await repository(p, targetId)).toMatchObject({
      owner: { id: p.customer.id },
      checkedAt: null,
      partsRead: 0,
      parts: 28,
    })
    await turnAfter(p, day)
    expect(await repository(p, targetId)).toMatchObject({ finding: 'works', partsRead: 1, damagedAt: null })
    await turnAfter(p, hour)
    expect(jobs(p, 'check_backups')).toHaveLength(1)
    await turnAfter(p, day)
    expect((await repository(p, targetId)).partsRead).toBe(2)
  })
  test('proves the backups from before a round when its last part was read', async () => {
    using p = await world()
    const { targetId } = await backedUp(p)
    const verified = () =>
      p.db.$client.query<{ at: number | null }, []>('SELECT verified_at AS at FROM backups').get()!.at
    p.db.$client.run('UPDATE backup_repositories SET next_part = 28')
    await turnAfter(p, day)
    expect(verified()).not.toBeNull()
    expect(await repository(p, targetId)).toMatchObject({ partsRead: 0, finding: 'works' })
  })
  test('that is damaged is under Needs attention until the same part is sound', async () => {
    using p = await world()
    const { targetId } = await backedUp(p)
    await p.admin('PATCH', `/admin/backup-targets/${targetId}`, {
      ...{ address: 'https://damaged.example/web/', moved: true },
    })
    await turnAfter(p, day)
    expect(await repository(p, targetId)).toMatchObject({ finding: 'damaged', partsRead: 0 })
    const troubles = async () => (await p.admin('GET', '/admin/overview')).attention.map((row: any) => row.what)
    expect(await troubles()).toContainEqual(expect.stringContaining('are damaged'))
    await p.admin('PATCH', `/admin/backup-targets/${targetId}`, {
      ...{ address: 'https://backups.example.com/web/', moved: true },
    })
    await turnAfter(p, day)
    expect(await repository(p, targetId)).toMatchObject({ finding: 'works', partsRead: 1, damagedAt: null })
    expect(await troubles()).not.toContainEqual(expect.stringContaining('are damaged'))
  })
  test('is tidied every week', async () => {
    using p = await world()
    const { targetId } = await backedUp(p, 'local', '/srv/backups')
    p.db.$client.run('UPDATE backup_repositories SET check_due_at = 9e15')
    expect(await repository(p, targetId)).toMatchObject({ prunedAt: null, prunedHere: true })
    await turnAfter(p, 8 * day)
    await turnAfter(p, day)
    expect(jobs(p, 'prune_backups')).toEqual([{ state: 'succeeded' }])
    expect(await repository(p, targetId)).toMatchObject({ prunedAt: expect.any(String), freedBytes: 0 })
    await turnAfter(p, 7 * day)
    expect(jobs(p, 'prune_backups')).toHaveLength(2)
  })
  test('that is append-only is tidied by its administrator: what it refuses once is not tried again', async () => {
    using p = await world()
    const { targetId } = await backedUp(p)
    p.db.$client.run('UPDATE backup_repositories SET check_due_at = 9e15')
    for (let n = 0; n < 3; n++) await turnAfter(p, 8 * day)
    expect(jobs(p, 'prune_backups')).toEqual([{ state: 'failed' }])
    expect(await repository(p, targetId)).toMatchObject({ prunedAt: null, prunedHere: false })
  })
  test('says who tidies it, where its target is known to be append-only', async () => {
    using p = await world()
    const { targetId } = await backedUp(p)
    const page = () => htmlOf(p, p.owner, '/admin/backup-targets')
    expect(await page()).toContain('Not yet')
    await p.admin('POST', `/admin/backup-targets/${targetId}/actions/test`, { nodeId: p.node.id })
    await p.settle()
    expect(await page()).toContain('By the holder of its second key')
    expect(await page()).not.toContain('Not yet')
  })
  test('waits while a backup is made in it, and while its nodes are away', async () => {
    using p = await world()
    const { serverId } = await backedUp(p)
    p.node.agent.fault({ command: 'backup.make', mode: 'slow', times: 1, ms: 700 })
    await p.admin('POST', `/servers/${serverId}/backups`, {})
    p.turnClock(day)
    turn(p)
    expect(jobs(p, 'check_backups')).toEqual([])
    await p.settle()
    p.node.agent.disconnect()
    turn(p)
    expect(jobs(p, 'check_backups')).toEqual([])
    p.node.agent.connect()
    await turnAfter(p, 1000)
    expect(jobs(p, 'check_backups')).toHaveLength(1)
  })
})
