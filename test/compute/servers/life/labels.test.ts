// Labels: words of the owner and words of the staff, by which lists are filtered.
import { expect, test } from 'bun:test'
import { type Who, type World, world } from '../../../support/world/panel.ts'
import { share } from '../../../support/world/team.ts'

async function labelled() {
  const p = await world()
  const order = async (hostname: string) =>
    (await p.admin('POST', '/admin/servers', { ...p.order, hostname })).serverId as string
  const [one, two] = [await order('web01'), await order('web02')]
  await p.settle()
  return Object.assign(p, { one, two })
}
const label = (p: World, who: Who, id: string, body: object) => p.call(who, 'POST', `/servers/${id}/labels`, body)
const ids = async (p: World, who: Who, path: string) => (await p.call(who, 'GET', path)).body.data.map((s: any) => s.id)

test('are added, removed and replaced, each once whatever its case', async () => {
  using p = await labelled()
  const { body } = await label(p, p.customer, p.one, { add: ['shop', 'Shop', 'blue'] })
  expect(body).toEqual({ serverId: p.one, labels: ['blue', 'shop'] })
  expect((await label(p, p.customer, p.one, { remove: ['SHOP'] })).body.labels).toEqual(['blue'])
  expect((await label(p, p.customer, p.one, { labels: ['a', 'b'] })).body.labels).toEqual(['a', 'b'])
  const many = Array.from({ length: 19 }, (_, i) => `l${i}`)
  const before = p.fingerprint(['audit', 'sessions'])
  expect((await label(p, p.customer, p.one, { add: many })).body.error.code).toBe('limit_reached')
  expect(p.fingerprint(['audit', 'sessions'])).toBe(before)
})

test('of the staff are read and found by staff alone; those of the owner by all who see the server', async () => {
  using p = await labelled()
  const mate = p.account('customer', 'Mia')
  await share(p, p.customer, mate, 'view')
  await label(p, p.customer, p.one, { add: ['shop'] })
  await label(p, p.owner, p.two, { add: ['abuse'] })
  expect((await p.call(p.customer, 'GET', `/servers/${p.two}`)).body).toMatchObject({ labels: [], staffLabels: null })
  expect((await p.call(p.owner, 'GET', `/servers/${p.two}`)).body.staffLabels).toEqual(['abuse'])
  expect(await ids(p, p.customer, '/servers?label=abuse')).toEqual([])
  expect(await ids(p, p.owner, '/admin/servers?label=abuse')).toEqual([p.two])
  expect(await ids(p, mate, '/servers?label=shop')).toEqual([p.one])
  expect((await label(p, mate, p.one, { add: ['x'] })).status).toBe(403)
  // A list says at once what the record says.
  expect((await p.call(p.customer, 'GET', '/servers?label=shop')).body.data[0].labels).toEqual(['shop'])
})

test('of the owner do not go to the next owner', async () => {
  using p = await labelled()
  await label(p, p.customer, p.one, { add: ['shop'] })
  await label(p, p.owner, p.one, { add: ['vip'] })
  const nora = p.account('customer', 'Nora')
  await p.call(p.owner, 'POST', `/servers/${p.one}/actions/change-owner`, { ownerId: nora.id })
  expect(await p.admin('GET', `/servers/${p.one}`)).toMatchObject({ labels: [], staffLabels: ['vip'] })
})
