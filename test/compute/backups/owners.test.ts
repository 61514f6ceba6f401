// Backups belong to who owned the server when they were made, whatever happens to the server afterwards.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { FakeLayers } from '../../../agent/drivers/storage/fake-layers.ts'
import { forgetDue } from '../../../src/compute/backups/delete.ts'
import { startDueBackups } from '../../../src/compute/backups/plans/scheduler.ts'
import { day } from '../../../src/kernel/db/clock.ts'
import { htmlOf } from '../../support/pages/pages-for.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

/** A server whose backups go to a folder of its node, and another customer. */
async function begin(p: World) {
  const { id: targetId } = await p.admin('POST', '/admin/backup-targets/local', { name: 'disk', address: '/srv/a' })
  await p.admin('POST', `/admin/backup-targets/${targetId}/actions/make-default`)
  const { serverId: id } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const next = p.account('customer', 'Next')
  const call = async (who: Who, method: string, path: string, body?: object) => {
    const { status, body: answer } = await p.call(who, method, path, body)
    await p.settle()
    return { status, code: answer.error?.code as string | undefined, ...answer }
  }
  return {
    id,
    next,
    call,
    targetId: targetId as string,
    at: `/servers/${id}/backups`,
    give: async () => {
      const { body, status } = await p.call(p.owner, 'POST', `/servers/${id}/actions/change-owner`, {
        ownerId: next.id,
      })
      return body.error?.code ?? status
    },
    ownerId: async () => (await p.admin('GET', `/servers/${id}`)).owner.id as string,
    write: (text: string) => {
      const db = new Database(`${p.node.agent.home}/fake.db`)
      const { disk } = db.query('select disk from vms where workload = ?').get(id) as { disk: string }
      new FakeLayers(db).write(disk, text)
    },
    /** A session does not last as long as backups do. */
    kept: ({ id: owner }: { id: string }) =>
      p.db.$client.query('SELECT id, state, keep_until AS keepUntil FROM backups WHERE owner_id = ?').all(owner) as {
        id: string
        state: string
        keepUntil: number | null
      }[],
  }
}

test('a server goes to nobody else while a backup of it waits: it would hold what the next owner writes', async () => {
  using p = await world()
  const s = await begin(p)
  p.node.agent.disconnect()
  const { jobId } = (await p.call(p.customer, 'POST', s.at, {})).body
  expect([await s.give(), await s.ownerId()]).toEqual(['server_busy', p.customer.id])
  // A suspension ends no backup.
  await p.call(p.owner, 'POST', `/servers/${s.id}/actions/suspend`, { reason: 'overdue' })
  expect([await s.give(), await s.ownerId()]).toEqual(['server_busy', p.customer.id])
  p.node.agent.connect()
  await eventually(() => p.job(jobId).state === 'succeeded')
  await p.settle()
  expect([await s.give(), await s.ownerId()]).toEqual([200, s.next.id])
})

test('a plan that ends under the next owner leaves the backups of the owner before as they are', async () => {
  using p = await world()
  const s = await begin(p)
  const { id: planId } = await p.admin('POST', '/admin/backup-plans', {
    ...{ name: 'Nightly', every: 'day', startsAt: '02:00', timeZone: 'UTC', windowMinutes: 60 },
    ...{ keepLast: 2, keepDaily: 0, keepWeekly: 0, keepMonthly: 0, targetId: s.targetId },
  })
  const put = (chosen: string | null) => p.admin('PUT', `${s.at}/plan`, { planId: chosen })
  const turn = async () => {
    p.turnClock(day)
    startDueBackups(p.db, p.controller.app)
    await p.settle()
  }
  await put(planId)
  await turn()
  const before = s.kept(p.customer)
  expect(before).toMatchObject([{ state: 'ready', keepUntil: null }])
  await p.admin('POST', `/servers/${s.id}/actions/change-owner`, { ownerId: s.next.id })
  await turn()
  expect(s.kept(s.next)).toMatchObject([{ state: 'ready', keepUntil: null }])
  await put(null)
  expect(s.kept(s.next)[0]!.keepUntil).toBeNumber()
  expect(s.kept(p.customer)).toEqual(before)
  p.turnClock(30 * day)
  forgetDue(p.db, p.now())
  await p.settle()
  expect([s.kept(p.customer), s.kept(s.next)]).toEqual([before, []])
})

test('backups stay with the owner before, who finds, follows and deletes them; the next owner sees none', async () => {
  using p = await world()
  const s = await begin(p)
  const { backupId: first } = await s.call(p.customer, 'POST', s.at, {})
  const { backupId: second } = await s.call(p.customer, 'POST', s.at, {})
  expect(await s.give()).toBe(200)
  const seen = async (who: Who, query = '?left=true') =>
    (await p.call(who, 'GET', `/backups${query}`)).body.data.map(({ id }: { id: string }) => id)
  for (const who of [p.customer, p.owner]) expect(await seen(who)).toEqual([second, first])
  expect([await seen(s.next), await seen(s.next, '')]).toEqual([[], []])
  expect((await s.call(s.next, 'DELETE', `/backups/${first}`)).code).toBe('backup_not_found')
  const titles = async (who: Who) => (await p.call(who, 'GET', '/jobs')).body.data.map(({ id }: { id: string }) => id)
  const { jobId } = await s.call(p.customer, 'DELETE', `/backups/${first}`)
  expect([p.job(jobId).state, await seen(p.customer)]).toEqual(['succeeded', [second]])
  expect((await s.call(p.customer, 'GET', `/jobs/${jobId}`)).id).toBe(jobId)
  expect([(await titles(p.customer)).includes(jobId), (await titles(s.next)).includes(jobId)]).toEqual([true, false])
  // A locked account deletes nothing; staff do.
  await p.admin('POST', `/customers/${p.customer.id}/actions/lock`, { reason: 'overdue' })
  expect((await s.call(p.customer, 'DELETE', `/backups/${second}`)).code).toBe('account_locked')
  expect(await seen(p.owner)).toEqual([second])
  await s.call(p.owner, 'DELETE', `/backups/${second}`)
  expect(await seen(p.owner)).toEqual([])
})

test('the protection of a server holds for its backups, whichever way they are deleted', async () => {
  using p = await world()
  const s = await begin(p)
  const { backupId } = await s.call(p.customer, 'POST', s.at, {})
  await p.admin('PUT', `/servers/${s.id}/protection`, { protected: true })
  expect((await s.call(p.customer, 'DELETE', `/backups/${backupId}`)).code).toBe('server_protected')
  expect((await p.call(p.customer, 'GET', s.at)).body.data).toMatchObject([
    { id: backupId, state: 'ready', left: false },
  ])
})

test('a backup says when it goes because its server was terminated', async () => {
  using p = await world()
  const s = await begin(p)
  const { backupId } = await s.call(p.customer, 'POST', s.at, {})
  const get = async () => (await p.call(p.customer, 'GET', `/backups/${backupId}`)).body
  expect(await get()).toMatchObject({ keepUntil: null, left: false })
  await p.admin('DELETE', `/servers/${s.id}?immediately=true`)
  await p.settle()
  const { keepUntil, left } = await get()
  expect([Math.round((Date.parse(keepUntil) - p.now()) / day), left]).toEqual([7, true])
})

test('the page of a server leads staff to the backups of its earlier owner, and nobody else', async () => {
  using p = await world()
  const s = await begin(p)
  const link = (area: string) => `href="${area}/backups?serverId=${s.id}&amp;left=true"`
  const page = (who: Who, area: string) => htmlOf(p, who, `${area}${s.at}`)
  await s.call(p.customer, 'POST', s.at, {})
  expect(await page(p.owner, '/admin')).not.toContain(link('/admin'))
  expect(await s.give()).toBe(200)
  const staff = await page(p.owner, '/admin')
  expect(staff).toContain(link('/admin'))
  expect(staff).toContain('1 backup of an earlier owner')
  const next = await page(s.next, '')
  expect(next).toContain('No backups yet')
  expect(next).not.toContain('earlier owner')
})
