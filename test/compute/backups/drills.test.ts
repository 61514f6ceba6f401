// The restore drill: what it proves, what it says when a backup does not work, and that nothing of it is left.
import { expect, test } from 'bun:test'
import { drillAtNight } from '../../../src/compute/backups/drills/night.ts'
import { day } from '../../../src/kernel/db/clock.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type World, world } from '../../support/world/panel.ts'

async function begin(p: World) {
  const { id: targetId } = await p.admin('POST', '/admin/backup-targets/local', {
    name: 'disk',
    address: '/srv/backups',
  })
  await p.admin('POST', `/admin/backup-targets/${targetId}/actions/make-default`)
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const make = async () => {
    const { backupId } = await p.admin('POST', `/servers/${serverId}/backups`, {})
    await p.settle()
    return backupId as string
  }
  const sums = () =>
    p.db.$client
      .query('SELECT h.workloads, h.memory_mb, h.disk_gb, s.disk_gb AS pool_gb FROM node_held h JOIN storage_held s')
      .all()
  const left = async () => [
    await p.node.agent.host.storage.list().then((list) => list.length),
    (await p.node.agent.host.hypervisor.look()).ours.length,
    p.db.$client.query('SELECT count(*) AS n FROM node_guests').get(),
    sums(),
  ]
  return {
    serverId,
    make,
    sums,
    left,
    drill: (id: string) => p.call(p.owner, 'POST', `/admin/backups/${id}/actions/drill`),
    get: async (id: string, who = p.owner) => (await p.call(who, 'GET', `/backups/${id}`)).body,
    attention: async () =>
      ((await p.admin('GET', '/admin/overview')).attention as { what: string; effect: string }[]).filter(({ what }) =>
        /restore/.test(what),
      ),
  }
}

test('a backup is proven, holds memory and disk meanwhile, and leaves nothing', async () => {
  using p = await world()
  const s = await begin(p)
  const id = await s.make()
  const before = await s.left()
  expect(await s.get(id)).toMatchObject({ provenAt: null, proof: null, drillError: null })
  // The node goes away in the middle, so that the job stays there.
  p.arm({ failpoints: (at) => void (at === 'drill/prove:before' && p.node.agent.disconnect()) })
  const { status, body } = await s.drill(id)
  expect(status).toBe(202)
  await eventually(() => p.job(body.jobId).stepN === 5 && !p.controller.hub.connected(p.node.id))
  expect((await s.drill(id)).body.error.code).toBe('drill_running')
  expect(s.sums()).toEqual([{ workloads: 1, memory_mb: 3072, disk_gb: 40, pool_gb: 40 }])
  expect((await p.admin('GET', '/admin/restore-drills')).runningJobId).toBe(body.jobId)
  p.arm({})
  p.node.agent.connect()
  await eventually(() => p.job(body.jobId).state === 'succeeded')
  expect(await s.get(id, p.customer)).toMatchObject({ proof: 'agent', provenAt: expect.any(String), drillError: null })
  expect(await s.left()).toEqual(before)
  expect((await p.admin('GET', '/admin/restore-drills')).lastProven).toMatchObject({
    backupId: id,
    serverName: 'web01',
  })
  expect(await s.attention()).toEqual([])
  expect((await p.call(p.customer, 'POST', `/admin/backups/${id}/actions/drill`)).status).toBe(403)
})

test('a backup that does not work says so, also under Needs attention, until it works', async () => {
  using p = await world()
  const s = await begin(p)
  const id = await s.make()
  const before = await s.left()
  p.node.agent.fault({ command: 'drill.await', mode: 'fail', times: 1 })
  await s.drill(id)
  await p.settle()
  const error = (await s.get(id)).drillError
  expect(error).toBe('The node reported an error.')
  expect(await s.left()).toEqual(before)
  expect(await s.attention()).toMatchObject([{ effect: error }])
  await s.drill(id)
  await p.settle()
  expect([(await s.get(id)).drillError, await s.attention()]).toEqual([null, []])
})

test('a failed drill stays shown when its backup is deleted, until another one of the server works', async () => {
  using p = await world()
  const s = await begin(p)
  const [id, other] = [await s.make(), await s.make()]
  p.node.agent.fault({ command: 'drill.await', mode: 'fail', times: 1 })
  const { jobId } = (await s.drill(id)).body
  await p.settle()
  expect(await s.attention()).toHaveLength(1)
  await p.admin('DELETE', `/backups/${id}`)
  await p.settle()
  expect((await p.call(p.owner, 'GET', `/backups/${id}`)).status).toBe(404)
  expect(await s.attention()).toMatchObject([
    {
      what: 'A backup of web01 did not work when it was restored.',
      effect: expect.stringContaining('deleted since, and no other one of web01 was proven'),
      href: `/admin/jobs/${jobId}`,
    },
  ])
  await s.drill(other)
  await p.settle()
  expect(await s.attention()).toEqual([])
})

test('each night one is drilled, in turn; a night without room is left out and said', async () => {
  using p = await world()
  const s = await begin(p)
  const ids = [await s.make(), await s.make()]
  const firstNight = Date.UTC(2030, 0, 1, 3, 10)
  const night = async (at: number) => {
    drillAtNight(p.db, { ...p.controller.app, clock: () => at })
    await p.settle()
  }
  const drills = () =>
    p.db.$client.query<{ n: number }, []>("SELECT count(*) AS n FROM jobs WHERE kind = 'drill'").get()!.n
  const proven = async () => (await Promise.all(ids.map((id) => s.get(id)))).filter(({ provenAt }) => provenAt).length
  await night(firstNight - 3_600_000)
  expect(drills()).toBe(0)
  p.db.$client.run('UPDATE nodes SET reserved_memory_mb = memory_mb')
  await night(firstNight)
  expect([drills(), (await s.attention()).length]).toEqual([0, 1])
  expect((await p.admin('GET', '/admin/restore-drills')).skipped.reason).toContain('has 1 GiB of memory')
  p.db.$client.run('UPDATE nodes SET reserved_memory_mb = 0')
  for (const _ of [1, 2]) await night(firstNight + 600_000)
  expect([drills(), await proven(), await s.attention()]).toEqual([1, 1, []])
  await night(firstNight + day)
  expect([drills(), await proven()]).toEqual([2, 2])
  await p.admin('PUT', '/admin/settings/values', { name: 'backups.drill', value: false })
  await night(firstNight + 2 * day)
  expect(drills()).toBe(2)
})

test('what was proven stays known of its plan, and of all, when the backup is deleted', async () => {
  using p = await world()
  const s = await begin(p)
  const { id: targetId } = (await p.admin('GET', '/admin/backup-targets')).data[0]
  const { id: planId } = await p.admin('POST', '/admin/backup-plans', {
    ...{ name: 'Nightly', every: 'day', startsAt: '02:00', timeZone: 'UTC', windowMinutes: 60, targetId },
    ...{ keepLast: 2, keepDaily: 0, keepWeekly: 0, keepMonthly: 0 },
  })
  const ids = [await s.make(), await s.make()]
  p.db.$client.run("UPDATE backups SET kind = 'scheduled', plan_id = ? WHERE id = ?", [planId, ids[0]!])
  const plan = async () => (await p.admin('GET', '/admin/backup-plans')).data[0].provenAt
  expect(await plan()).toBeNull()
  await s.drill(ids[0]!)
  await p.settle()
  const proven = await plan()
  expect(proven).toBeString()
  await p.admin('DELETE', `/backups/${ids[0]}`)
  await p.settle()
  expect((await p.call(p.owner, 'GET', `/backups/${ids[0]}`)).status).toBe(404)
  const { lastProven } = await p.admin('GET', '/admin/restore-drills')
  expect([await plan(), lastProven]).toMatchObject([proven, { backupId: ids[0], serverName: 'web01' }])
  // The next night is that of backups that no plan made: the plan had its turn.
  p.db.$client.run("UPDATE backups SET kind = 'scheduled', plan_id = ? WHERE id = ?", [planId, await s.make()])
  drillAtNight(p.db, { ...p.controller.app, clock: () => Date.UTC(2030, 0, 1, 3, 10) })
  await p.settle()
  expect((await s.get(ids[1]!)).provenAt).toBeString()
})
