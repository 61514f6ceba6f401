// A change that weakens a protection needs a person, is told to all owners, and waits for a day or for a second owner.
import { describe, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { createBackupPlan } from '../../../src/compute/backups/plans/plans.ts'
import { takeEffect } from '../../../src/identity/weakenings/wait.ts'
import { hour } from '../../../src/kernel/db/clock.ts'
import { isWeaker, type Setting, settingValue } from '../../../src/kernel/setting.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const settings: Setting[] = registry.features.flatMap(({ settings = [] }) => settings)
const weakened = settings.filter(({ weakens }) => weakens !== 'never')
/** The value in force, a weaker and a stronger one. */
function valuesOf(
  p: World,
  setting: Setting,
): { now: number | boolean; weaker: number | boolean; stronger: number | boolean } {
  const { weakens } = setting
  if (weakens === 'on' || weakens === 'off') {
    const now = weakens === 'off'
    return { now, weaker: !now, stronger: now }
  }
  const now = settingValue(p.db, setting) ?? setting.automatic!(p.db)
  const by = weakens === 'higher' ? 1 : -1
  return { now, weaker: now + by, stronger: now - by }
}
const put = (p: World, who: Who, { name }: Setting, value: number | boolean | null) =>
  p.call(who, 'PUT', '/admin/settings/values', { name, value })
const shownOf = async (p: World, { name }: Setting) =>
  (await p.admin('GET', '/admin/settings/values')).settings.find((one: any) => one.name === name)
const waiting = async (p: World) => (await p.admin('GET', '/admin/weakenings')).data
const decide = (p: World, who: Who, id: string) => p.call(who, 'POST', `/admin/weakenings/${id}/actions/confirm`)

test('the settings that protect data, and no others, are weakened in one direction', () =>
  expect(Object.fromEntries(weakened.map(({ name, weakens }) => [name, weakens]))).toEqual({
    'brake.limit': 'higher',
    'servers.undelete_hours': 'lower',
    'backups.kept_after_termination_days': 'lower',
    'backups.kept_without_plan_days': 'lower',
    'addresses.history_days': 'lower',
    'backups.drill': 'off',
    'nodes.address_hold_hours': 'lower',
  }))

for (const setting of weakened)
  describe(`weakening ${setting.name}`, () => {
    test('is refused to every token, and strengthening is not', async () => {
      using p = await world()
      const { weaker, stronger } = valuesOf(p, setting)
      const token = p.token(p.owner.id)
      const before = p.fingerprint(['audit', 'tokens'])
      expect((await put(p, token, setting, weaker)).body.error.code).toBe('token_not_allowed')
      expect(p.fingerprint(['audit', 'tokens'])).toBe(before)
      expect((await put(p, token, setting, stronger)).status).toBe(200)
      expect((await shownOf(p, setting)).value).toBe(stronger)
    })
    test('waits for a day; a stronger value takes effect at once and ends the wait', async () => {
      using p = await world()
      const { weaker, stronger } = valuesOf(p, setting)
      const before = (await shownOf(p, setting)).value
      const answer = await put(p, p.owner, setting, weaker)
      expect([answer.status, answer.body.value, answer.body.waiting.value]).toEqual([200, before, weaker])
      p.turnClock(23 * hour)
      takeEffect(p.db, p.controller.app)
      expect((await shownOf(p, setting)).value).toBe(before)
      p.turnClock(2 * hour)
      takeEffect(p.db, p.controller.app)
      expect(await shownOf(p, setting)).toMatchObject({ value: weaker, waiting: null })
      expect(p.auditLines().at(-1)).toMatchObject({ operation: 'weakenings.take-effect' })
      expect((await put(p, p.token(p.owner.id), setting, stronger)).body).toMatchObject({
        value: stronger,
        waiting: null,
      })
    })
    test('a return to the default is no way around it', async () => {
      using p = await world()
      const { stronger, now } = valuesOf(p, setting)
      await p.admin('PUT', '/admin/settings/values', { name: setting.name, value: stronger })
      if (stronger === now) return
      const answer = await put(p, p.owner, setting, null)
      expect([answer.body.value, answer.body.waiting.value]).toEqual([stronger, null])
    })
  })

describe('a change that waits', () => {
  const limit = settings.find(({ name }) => name === 'brake.limit')!
  async function asked() {
    const p = await world()
    await p.admin('PUT', '/admin/settings/mail', { host: '127.0.0.1', port: 25, plain: true, from: 'panel@berth.test' })
    await put(p, p.owner, limit, 100_000)
    const [one] = await waiting(p)
    return Object.assign(p, { id: one.id as string, second: p.staff(undefined, 'Bea'), one })
  }
  test('is told to all owners by mail, and shown to staff who may decide', async () => {
    using p = await asked()
    expect(p.one).toMatchObject({ title: 'Brake on destruction', to: '100,000 in an hour', own: false })
    expect(JSON.stringify(p.mailed())).toContain('A protection is to be weakened: Brake on destruction')
    const { attention } = (await p.call(p.second, 'GET', '/admin/overview')).body
    expect(attention.some((row: any) => row.what.includes('weakens a protection: Brake on destruction'))).toBe(true)
    expect((await p.call(p.owner, 'GET', '/admin/weakenings')).body.data[0].own).toBe(true)
  })
  test('is confirmed by another owner, and by nobody else', async () => {
    using p = await asked()
    const staff = p.staff(['settings.write'], 'Cleo')
    const codes = []
    for (const who of [p.owner, staff, p.token(p.second.id)]) codes.push((await decide(p, who, p.id)).body.error.code)
    expect(codes).toEqual(['forbidden', 'forbidden', 'token_not_allowed'])
    expect((await shownOf(p, limit)).value).toBeNull()
    expect((await decide(p, p.second, p.id)).status).toBe(200)
    expect(await shownOf(p, limit)).toMatchObject({ value: 100_000, waiting: null })
    expect((await decide(p, p.second, p.id)).body.error.code).toBe('already_done')
    expect(await waiting(p)).toEqual([])
  })
  test('is taken back by anybody who may change settings, and never takes effect', async () => {
    using p = await asked()
    expect((await p.call(p.token(p.second.id), 'DELETE', `/admin/weakenings/${p.id}`)).status).toBe(200)
    p.turnClock(25 * hour)
    takeEffect(p.db, p.controller.app)
    expect((await shownOf(p, limit)).value).toBeNull()
    expect((await p.call(p.token(p.second.id), 'DELETE', `/admin/weakenings/${p.id}`)).body.error.code).toBe(
      'already_done',
    )
  })
  test('begins to wait anew when it is asked for again', async () => {
    using p = await asked()
    p.turnClock(hour / 12)
    await put(p, p.second, limit, 50_000)
    const [one, ...others] = await waiting(p)
    expect([one.askedBy.name, one.to, others]).toEqual(['Bea', '50,000 in an hour', []])
    expect((await decide(p, p.second, p.id)).body.error.code).toBe('already_done')
  })
  test('a command on the host of the controller does not wait', async () => {
    using p = await asked()
    await p.admin('PUT', '/admin/settings/values', { name: limit.name, value: 60 })
    expect(await shownOf(p, limit)).toMatchObject({ value: 60, waiting: null })
  })
  test('so a role that demands no second factor any more', async () => {
    using p = await world()
    const role = await p.admin('POST', '/admin/roles', {
      name: 'Night',
      permissions: ['servers.power'],
      secondFactor: true,
    })
    const owner = p.staff(undefined, 'Bea')
    const off = await p.call(owner, 'PATCH', `/admin/roles/${role.id}`, { secondFactor: false, name: 'Nights' })
    expect(off.body).toMatchObject({ name: 'Nights', secondFactor: true })
    const [one] = await waiting(p)
    expect(one).toMatchObject({ title: 'Second factor of the role Night', to: 'not required' })
    expect((await decide(p, p.owner, one.id)).status).toBe(200)
    expect((await p.admin('GET', `/admin/roles/${role.id}`)).secondFactor).toBe(false)
  })
})

const target = (p: World, name: string): Promise<{ id: string }> =>
  p.admin('POST', '/admin/backup-targets/local', { name, address: `/srv/${name}` })

test('a backup plan that keeps less waits, and the rest of the change does not', async () => {
  using p = await world()
  const { id: targetId } = await target(p, 'oslo')
  const made = await p.admin('POST', '/admin/backup-plans', { ...createBackupPlan.example, targetId })
  const at = `/admin/backup-plans/${made.id}`
  const less = { keepDaily: made.keepDaily - 1, name: 'Nights' }
  expect((await p.call(p.token(p.owner.id), 'PATCH', at, less)).body.error.code).toBe('token_not_allowed')
  expect((await p.call(p.owner, 'PATCH', at, less)).body).toMatchObject({ name: 'Nights', keepDaily: made.keepDaily })
  expect((await waiting(p))[0].title).toBe(`Backup plan ${made.name}`)
  p.turnClock(25 * hour)
  takeEffect(p.db, p.controller.app)
  const more = { keepDaily: 100 }
  expect(await p.admin('PATCH', at, { windowMinutes: 60 })).toMatchObject({ keepDaily: made.keepDaily - 1 })
  expect((await p.call(p.token(p.owner.id), 'PATCH', at, more)).body.keepDaily).toBe(100)
})

test("backups of the controller's database go to fewer targets, or for fewer days, a day later", async () => {
  using p = await world()
  const [oslo, bergen] = [await target(p, 'oslo'), await target(p, 'bergen')]
  const at = '/admin/controller-backups'
  const plan = { targetIds: [oslo.id], hour: 3, keepDays: 30 }
  const token = p.token(p.owner.id)
  expect((await p.call(token, 'PUT', at, plan)).status).toBe(200)
  expect((await p.call(token, 'PUT', at, { ...plan, targetIds: [oslo.id, bergen.id] })).status).toBe(200)
  for (const fewer of [{ targetIds: [] }, { targetIds: [bergen.id] }, { keepDays: 29 }]) {
    const both = { ...plan, targetIds: [oslo.id, bergen.id], ...fewer }
    expect((await p.call(token, 'PUT', at, both)).body.error.code).toBe('token_not_allowed')
    expect((await p.call(p.owner, 'PUT', at, both)).status).toBe(200)
    expect(await p.admin('GET', at)).toMatchObject({ keepDays: 30, targets: [{ id: oslo.id }, { id: bergen.id }] })
  }
  expect((await waiting(p)).map((one: any) => one.to)).toEqual(['in oslo and bergen, kept for 29 days'])
  p.turnClock(25 * hour)
  takeEffect(p.db, p.controller.app)
  expect((await p.admin('GET', at)).keepDays).toBe(29)
})

test('the number that a value of null stands for is compared', async () => {
  using p = await world()
  const limit = settings.find(({ name }) => name === 'brake.limit')!
  expect([25, 26, null].map((value) => isWeaker(p.db, limit, value))).toEqual([false, true, false])
})
