import { afterAll, beforeAll, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { type World, world } from '../../support/world/panel.ts'
import { addMigrated } from './moved.ts'

let p: World
let id: string
let serverId: string
let addresses: string[]
beforeAll(async () => {
  p = await world()
  serverId = (await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'shop.example.com' })).serverId
  await p.settle()
  await p.admin('PATCH', `/servers/${serverId}/billing`, { billingServiceId: '17' })
  addresses = (await p.admin('GET', `/servers/${serverId}`)).addresses.map((one: { address: string }) => one.address)
  const here = addresses.find((one) => !one.includes(':'))!
  ;({ id } = addMigrated(p, [
    { sourceId: '1', hostname: 'shop.example.com', address: here, workloadId: serverId },
    { sourceId: '2', hostname: 'mail.example.com', address: '198.51.100.12', failed: 'The storage pool is full.' },
    { sourceId: '3', hostname: 'old.example.com', address: '198.51.100.13', leftOut: true },
    { sourceId: '4', hostname: '=cmd()', address: '198.51.100.14', ready: true },
  ]))
})
afterAll(() => p.close())

const path = () => `/admin/migrations/${id}/report`
const row = async (sourceId: string) =>
  (await p.admin('GET', `${path()}?limit=100`)).data.find((one: { oldId: string }) => one.oldId === sourceId)

test('A server that has moved is in the report with both ids, its product, its owner and the next step', async () => {
  expect(await row('1')).toMatchObject({
    ...{ outcome: 'moved', reason: null, isReaddressed: false, oldBillingId: '1' },
    nextSteps: ['Switch its service in the billing system to Berth: there is a script for it.'],
    ...{ oldProduct: { id: '7', name: 'SSD-7' }, oldOwner: { id: '12', email: 'old@panel.test' } },
    server: { id: serverId, billingServiceId: '17', packageId: p.pack, ownerId: p.customer.id, addresses },
  })
})

test('A server that failed, that stays, or that is still to come says why and what is left to do', async () => {
  expect(await row('2')).toMatchObject({
    ...{ outcome: 'failed', reason: 'The storage pool is full.', server: null },
    nextSteps: ['Try it again, or leave it in the other panel.', 'Leave its service in the billing system as it is.'],
  })
  expect(await row('3')).toMatchObject({ outcome: 'stays', reason: 'Left out by you', server: null })
  expect(await row('41')).toMatchObject({ outcome: 'open', nextSteps: ['Wait until it has moved.'] })
})

test('A server with other addresses than before says so, and names the old ones', async () => {
  p.db.$client.run("UPDATE import_addresses SET address = '198.51.100.99' WHERE import_id = ? AND address = ?", [
    id,
    addresses.find((one) => !one.includes(':'))!,
  ])
  const shown = await row('1')
  expect([shown.isReaddressed, shown.nextSteps.at(-1)]).toEqual([
    true,
    'Change what names its old addresses: 198.51.100.99.',
  ])
})

test('The report has pages, and a filter by outcome', async () => {
  const first = await p.admin('GET', `${path()}?limit=2`)
  const rest = await p.admin('GET', `${path()}?limit=100&cursor=${first.nextCursor}`)
  expect([first.data.length, first.total, rest.data.length]).toEqual([2, 5, 3])
  const failed = await p.admin('GET', `${path()}?outcome=failed`)
  expect(failed.data.map((one: { oldId: string }) => one.oldId)).toEqual(['2'])
})

test('The spreadsheet has every server with its steps, and no cell that is a formula', async () => {
  const { body, status } = await p.call(p.owner, 'GET', `${path()}.csv`)
  const lines: Record<string, string>[] = parse(String(body), { bom: true, columns: true })
  expect([status, lines.length]).toEqual([200, 5])
  expect(lines.find((one) => one['oldId'] === '1')).toMatchObject({
    ...{ newId: serverId, outcome: 'moved', product: p.pack, owner: p.customer.id, billingServiceId: '17' },
  })
  expect(lines.find((one) => one['oldId'] === '4')!['server']).toBe("'=cmd()")
  const failed = await p.call(p.owner, 'GET', `${path()}.csv?outcome=failed`)
  expect(parse(String(failed.body), { bom: true, columns: true })).toHaveLength(1)
})
