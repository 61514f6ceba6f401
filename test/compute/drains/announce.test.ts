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
