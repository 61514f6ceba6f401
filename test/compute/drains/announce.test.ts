import { expect, test } from 'bun:test'
import { minuteText } from '../../../src/kernel/db/clock.ts'
import { drainOf, open, ordered } from './world.ts'

const HOUR_MS = 3_600_000

test('owners are told before maintenance only when somebody says so, each of the own servers', async () => {
  using p = await open()
  const other = p.account('customer', 'Dana')
  await ordered(p, 'web01')
  const held = await ordered(p, 'git01')
  await p.admin('POST', `/servers/${held}/snapshots`, { name: 'before' })
  const off = await ordered(p, 'old01')
  await p.admin('POST', `/servers/${off}/actions/power`, { action: 'off' })
  await p.admin('POST', '/admin/servers', { ...p.order, ownerId: other.id, hostname: 'dana01', nodeId: p.node.id })
  await p.settle()
  const noticesOf = async (who: typeof other) =>
    (await p.call(who, 'GET', '/notices')).body.data.filter(({ kind }: any) => kind === 'maintenance_planned')
  const startsAt = new Date(p.now() + 24 * HOUR_MS).toISOString()
  const body = { startsAt, endsAt: new Date(p.now() + 26 * HOUR_MS).toISOString(), text: 'Memory is added.' }
  const path = `/admin/nodes/${p.node.id}/actions/announce-maintenance`

  const preview = await p.admin('GET', `/admin/nodes/${p.node.id}/maintenance-notice?startsAt=${startsAt}`)
  const dry = await p.admin('POST', `${path}?dryRun=true`, body)
  for (const one of [preview, dry])
    expect(one.recipients).toEqual([
      { id: other.id, name: 'Dana', servers: ['dana01'] },
      { id: p.customer.id, name: 'Cal', servers: ['git01', 'web01'] },
    ])
  expect([...(await noticesOf(p.customer)), ...(await noticesOf(other))]).toEqual([])

  await p.admin('POST', path, body)
  const [told] = await noticesOf(p.customer)
  expect(told.subject).toBe(`Maintenance on ${minuteText(Date.parse(startsAt))}`)
  expect(told.words).toContain('git01: may be shut down until the maintenance ends.')
  expect(told.words).toMatch(/web01: off for \d+ seconds at most\./)
  expect(told.words).toContain('Memory is added.')
  expect(told.words).not.toMatch(/old01|dana01|fra-0/)
  expect((await noticesOf(other)).length).toBe(1)
  expect(p.mailed().filter(({ subject }) => subject === told.subject)).toHaveLength(2)
})

test('a time that is over is refused, and a drain tells nobody by itself', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const path = `/admin/nodes/${p.node.id}/actions/announce-maintenance`
  const before = p.fingerprint(['audit'])
  for (const body of [
    { startsAt: new Date(p.now() - HOUR_MS).toISOString() },
    { startsAt: new Date(p.now() + HOUR_MS).toISOString(), endsAt: new Date(p.now()).toISOString() },
  ])
    expect((await p.call(p.owner, 'POST', path, body)).status).toBe(422)
  expect(p.fingerprint(['audit'])).toBe(before)
  const mails = p.mailed().length
  await drainOf(p)
  expect(p.mailed().length).toBe(mails)
})

test('owners who were told of a drain are told once of each other time of it, and nobody else is', async () => {
  using p = await open()
  const other = p.account('customer', 'Dana')
  await ordered(p, 'web01')
  const [first, second] = [24, 48].map((hours) => p.now() + hours * HOUR_MS) as [number, number]
  const at = (ms: number) => new Date(ms).toISOString()
  const schedule = (startsAt: number) =>
    p.call(p.owner, 'POST', `/admin/nodes/${p.node.id}/actions/schedule-drain`, { startsAt: at(startsAt) })
  await p.admin('POST', `/admin/nodes/${p.node.id}/actions/announce-maintenance`, {
    ...{ startsAt: at(first), endsAt: at(first + 2 * HOUR_MS), drain: true },
  })
  await p.admin('POST', '/admin/servers', { ...p.order, ownerId: other.id, hostname: 'dana01', nodeId: p.node.id })
  await p.settle()
  const moved = async (who: typeof other) =>
    (await p.call(who, 'GET', '/notices')).body.data.filter(({ subject }: any) => subject.includes('moved'))
  expect((await schedule(first)).status).toBe(200)
  expect(await moved(p.customer)).toEqual([])
  expect((await schedule(p.now() - HOUR_MS)).status).toBe(422)
  expect(await moved(p.customer)).toEqual([])
  for (const _ of [1, 2]) expect((await schedule(second)).status).toBe(200)
  const [told, ...more] = await moved(p.customer)
  expect([told.subject, more]).toEqual([`Maintenance moved to ${minuteText(second)}`, []])
  expect(told.words).toContain(
    `is not on ${minuteText(first)}. It is from ${minuteText(second)} to ${minuteText(second + 2 * HOUR_MS)}.`,
  )
  expect(await moved(other)).toEqual([])
  expect(p.mailed().filter(({ subject }) => subject === told.subject)).toHaveLength(1)
})

test('a drain of which nobody was told is moved without a word', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const mails = p.mailed().length
  for (const hours of [2, 3])
    await p.admin('POST', `/admin/nodes/${p.node.id}/actions/schedule-drain`, {
      startsAt: new Date(p.now() + hours * HOUR_MS).toISOString(),
    })
  expect(p.mailed().length).toBe(mails)
})
