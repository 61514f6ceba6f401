// A new kind of workload takes the actions that every kind has, in its own folder, box/: states, settings, suspension,
// billing identifier, lists, usage reports, their pages and spreadsheets.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { stateTableOf } from '../../../src/fleet/workloads/states/rows.ts'
import { type World, world } from '../../support/world/panel.ts'
import { boxesFeature } from './box/feature.ts'

let p: World
let id: string
const change = (method: string, path: string, body?: object) => p.call(p.owner, method, `/boxes/${id}${path}`, body)
const shown = async () => (await p.admin('GET', '/boxes')).data[0]
async function pageAt(path: string) {
  const headers = { Cookie: `__Host-panel=${p.owner.cookie}` }
  const response = await p.controller.router.fetch(new Request(`http://localhost${path}`, { headers }))
  return { status: response.status, text: await response.text() }
}
beforeAll(async () => {
  p = await world({ features: [boxesFeature] })
  id = (
    await p.admin('POST', '/admin/boxes', {
      ownerId: p.customer.id,
      nodeGroupId: p.location,
      imageId: p.image,
      memoryMb: 1024,
    })
  ).boxId
  await p.settle()
})
afterAll(() => p.close())

test('it is listed and has a page', async () => {
  const { data, total } = await p.admin('GET', '/boxes')
  expect([total, data[0].id, data[0].status]).toEqual([1, id, 'running'])
  expect((await p.admin('GET', '/boxes?status=stopped')).total).toBe(0)
  expect((await p.admin('GET', '/admin/boxes?q=box1&sort=-name')).data).toEqual(data)
  expect((await p.admin('GET', '/admin/boxes?q=box2')).total).toBe(0)
  expect((await p.call(p.account('customer', 'Stan'), 'GET', '/boxes')).body.total).toBe(0)
  const page = await pageAt('/admin/boxes')
  expect([page.status, page.text.includes('box1: running')]).toEqual([200, true])
})

test('it is renamed and labelled, and has a restart policy', async () => {
  expect((await change('PATCH', '', { name: 'Crate' })).body).toMatchObject({ id, name: 'Crate' })
  expect((await change('POST', '/labels', { add: ['red'] })).body).toEqual({ labels: ['red'] })
  expect((await change('PUT', '/restart-policy', { restartPolicy: 'never' })).status).toBe(200)
  expect(await shown()).toMatchObject({ name: 'Crate', restartPolicy: 'never' })
})

test('the identifier of the billing system is its own, and no server takes it', async () => {
  expect((await change('PATCH', '/billing', { billingServiceId: 'service-7' })).body.billingServiceId).toBe('service-7')
  const order = { ...p.order, billingServiceId: 'service-7' }
  const { status, body } = await p.call(p.owner, 'POST', '/admin/servers', order)
  expect([status, body.error.code]).toEqual([409, 'billing_service_id_taken'])
})

test('it is suspended and comes back, as its state table says', async () => {
  expect((await change('POST', '/unsuspend')).body.error.code).toBe('not_suspended')
  expect((await change('POST', '/suspend', { reason: 'overdue' })).status).toBe(202)
  await p.settle()
  expect(await shown()).toMatchObject({ status: 'suspended', suspendReason: 'overdue' })
  expect((await change('POST', '/suspend', { reason: 'overdue' })).body.error).toMatchObject({
    code: 'already_suspended',
    message: 'Crate is suspended.',
  })
  p.turnClock(60_000)
  expect((await change('POST', '/unsuspend')).status).toBe(202)
  await p.settle()
  expect(await shown()).toMatchObject({ status: 'running', suspendReason: null })
})

test('its usage is in the ledger, with its suspension and the identifier', async () => {
  p.turnClock(60_000)
  const { secondsByState, services } = await p.admin('GET', `/boxes/${id}/usage`)
  expect(secondsByState.suspended).toBeGreaterThanOrEqual(60)
  expect(secondsByState.active).toBeGreaterThanOrEqual(60)
  expect(services).toEqual(['service-7'])
})

test('its usage has a line in the report of the month, with its page and its spreadsheet', async () => {
  const { data, total } = (await p.call(p.customer, 'GET', '/reports/box-usage')).body
  expect([total, data[0].boxId, data[0].billingServiceId]).toEqual([1, id, 'service-7'])
  expect(data[0].seconds).toBeGreaterThanOrEqual(120)
  expect((await p.call(p.account('customer', 'Stella'), 'GET', '/reports/box-usage')).body.total).toBe(0)
  expect((await pageAt('/admin/usage/boxes')).text).toContain('Usage by box')
  const { text } = await pageAt('/api/v1/reports/box-usage.csv')
  expect(text).toContain(id)
})

test('its list is a spreadsheet', async () => {
  const { text } = await pageAt('/api/v1/admin/boxes.csv')
  expect(text).toContain(`"${id}","Crate","running","service-7"`)
})

test('when it fails it is under Needs attention', async () => {
  p.db.$client.run("UPDATE workloads SET lifecycle = 'failed', failure = 'burnt' WHERE id = ?", [id])
  const { attention } = (await p.call(p.customer, 'GET', '/overview')).body
  expect(JSON.stringify(attention)).toContain('The box Crate has failed.')
})

test('the registry knows its rows', () => {
  expect(Object.keys(stateTableOf([boxesFeature], 'box'))).toEqual(['rename', 'restart_policy', 'suspend', 'unsuspend'])
})
