// The timeline of a server: everything that happened to it in one order, and to each reader only what is theirs.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { write } from '../../../src/kernel/db/open.ts'
import { alertById } from '../../../src/platform/alerts/queries.ts'
import { tell } from '../../../src/platform/alerts/tell.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
let p: World
let id = ''
let tuesday = 0
/** By tokens: sessions end within the time that passes here. */
let customer: Who
let staff: Who
beforeAll(async () => {
  p = await world()
  id = (await p.admin('POST', '/admin/servers', p.order)).serverId
  await p.settle()
  p.turnClock(10 * DAY)
  customer = p.token(p.customer.id)
  staff = p.token(p.owner.id)
  tuesday = p.now()
  await p.call(customer, 'POST', `/servers/${id}/actions/power`, { action: 'restart' })
  await p.settle()
  p.turnClock(HOUR)
  p.node.agent.say({
    type: 'crash',
    workload: id,
    at: p.now(),
    cause: 'ended',
    detail: 'signal 9',
    outcome: 'restarts',
  })
  await p.reported()
  p.turnClock(HOUR)
  const { body } = await p.call(customer, 'POST', `/servers/${id}/alerts`, { kind: 'cpu' })
  for (const fires of [true, false]) {
    p.turnClock(HOUR)
    write(p.db, (tx) => tell(tx, p.controller.app, alertById(tx, body.id)!, fires, p.now()))
  }
  await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'Invoice 7 is overdue' })
  await p.settle()
})
afterAll(() => p.close())

const timeline = async (who: Who, query: Record<string, string> = {}) =>
  (await p.call(who, 'GET', `/servers/${id}/timeline?${new URLSearchParams({ limit: '200', ...query })}`)).body.data
const told = (entries: any[]) =>
  entries.map(({ kind, operation, title, result }) => `${kind} ${title ?? operation} ${result}`).toReversed()
const at = (ms: number) => new Date(ms).toISOString()

describe('the timeline of a server', () => {
  test('has changes, jobs, unexpected ends and alerts of a day in the order in which they happened', async () => {
    const entries = await timeline(staff, { since: at(tuesday), until: at(p.now()) })
    expect(told(entries)).toEqual([
      'change servers.power succeeded',
      'crash workloads.crashed done',
      'change alerts.create done',
      'alert CPU above 90 % for 5 minutes fired',
      'alert CPU above 90 % for 5 minutes recovered',
      'change servers.suspend succeeded',
    ])
    // A change and its job are one line, with the result of the job; the jobs alone are still to be had.
    expect(told(await timeline(staff, { since: at(tuesday), until: at(p.now()), kind: 'job' }))).toEqual([
      'job Restart web01 succeeded',
      'job Suspend web01 succeeded',
    ])
    const times = entries.map((one: any) => one.at)
    expect(times).toEqual(times.toSorted().toReversed())
  })
  test('is narrowed to a kind and to a time, and pages through both', async () => {
    expect(told(await timeline(customer, { kind: 'alert' }))).toHaveLength(2)
    expect(await timeline(customer, { since: at(tuesday - 5 * DAY), until: at(tuesday - 4 * DAY) })).toEqual([])
    const all = await timeline(customer)
    const paged: any[] = []
    for (let cursor = ''; ; ) {
      const query = `limit=2${cursor && `&cursor=${cursor}`}`
      const { body } = await p.call(customer, 'GET', `/servers/${id}/timeline?${query}`)
      paged.push(...body.data)
      if (!body.nextCursor) break
      cursor = body.nextCursor
    }
    expect(paged).toEqual(all)
  })
  test('shows a customer what concerns them, and of staff neither name nor address', async () => {
    const entries = await timeline(customer)
    const power = entries.find((one: any) => one.operation === 'servers.power')
    const suspended = entries.find((one: any) => one.operation === 'servers.suspend')
    expect(power.who.you).toBe(true)
    expect([suspended.who.name, suspended.from]).not.toContain('Ada')
    expect(suspended.from).toBeNull()
    expect(JSON.stringify(entries)).not.toContain('Invoice 7')
    expect(JSON.stringify(entries)).not.toContain('signal 9')
  })
  test('is of nobody else, and not of too long a time', async () => {
    const mallory = p.account('customer', 'Mallory')
    const { status, body } = await p.call(mallory, 'GET', `/servers/${id}/timeline`)
    expect([status, body.error.code]).toEqual([404, 'server_not_found'])
    for (const query of ['since=2026-11-21&until=2026-11-20', 'since=2020-01-01', 'kind=nothing', 'since=2026-02-31'])
      expect((await p.call(customer, 'GET', `/servers/${id}/timeline?${query}`)).status).toBe(400)
  })
})
