// The timeline of a GPU instance, and the navigation: it leads only those to GPU instances who have one.
import { describe, expect, test } from 'bun:test'
import { checkCards, ends, gpuWorld, orderInstance, power } from '../../support/nodes/instances.ts'
import type { Who, World } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'

type Entry = { kind: string; operation: string | null; title: string | null; result: string; who: { name: string } }
const timeline = async (p: World, who: Who, id: string): Promise<Entry[]> =>
  (await p.call(who, 'GET', `/gpu-instances/${id}/timeline`)).body.data
const told = (entries: readonly Entry[]) =>
  entries.map(({ kind, operation, title, result }) => `${kind} ${title ?? operation} ${result}`).toReversed()

describe('the timeline of a GPU instance', () => {
  test('has its changes, jobs and unexpected ends in the order in which they happened', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p, { name: 'train' })
    p.turnClock(60_000)
    await power(p, id, 'restart')
    await ends(p, id, 'left_off')
    p.turnClock(60_000)
    await p.admin('POST', `/admin/gpu-instances/${id}/suspend`, { reason: 'Invoice 7 is overdue' })
    await p.settle()
    expect(told(await timeline(p, p.owner, id))).toEqual([
      'change gpu-instances.create succeeded',
      'change gpu-instances.power succeeded',
      'crash workloads.crashed done',
      'change gpu-instances.suspend succeeded',
    ])
    const ofCustomer = JSON.stringify(await timeline(p, p.customer, id))
    expect(ofCustomer).not.toContain('Invoice 7')
    expect(ofCustomer).not.toContain('Ada')
  })
  test('is read by whoever the instance is shared with, and by nobody else', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const [friend, stranger] = [p.account('customer', 'Fay'), p.account('customer', 'Stan')]
    await share(p, p.customer, friend, 'view')
    expect((await timeline(p, friend, id)).length).toBeGreaterThan(0)
    const { status, body } = await p.call(stranger, 'GET', `/gpu-instances/${id}/timeline`)
    expect([status, body.error.code]).toEqual([404, 'gpu_instance_not_found'])
  })
})

test('the navigation and the search lead customers and resellers to GPU instances once they see one', async () => {
  using p = await gpuWorld()
  const rex = p.account('reseller', 'Rex')
  const clara = p.account('customer', 'Clara', rex.id)
  const friend = p.account('customer', 'Fay')
  const leads = async (who: Who, home: string, href: string) => {
    const request = new Request(`http://localhost${home}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } })
    const text = await (await p.controller.router.fetch(request)).text()
    const { data } = (await p.call(who, 'GET', '/search?q=gpu%20instances')).body
    const [shown, found] = [text.includes(`<a href="${href}"`), data.some((one: { href: string }) => one.href === href)]
    expect([href, found]).toEqual([href, shown])
    return shown
  }
  const people = () =>
    Promise.all([
      leads(p.customer, '/account/activity', '/gpu'),
      leads(friend, '/account/activity', '/gpu'),
      leads(clara, '/account/activity', '/gpu'),
      leads(rex, '/account/activity', '/reseller/gpu'),
      leads(p.owner, '/account/activity', '/admin/gpu-instances'),
    ])
  expect(await people()).toEqual([false, false, false, false, true])
  await p.admin('PATCH', `/resellers/${rex.id}`, { locationIds: [p.location], quotas: { gpus: 1 } })
  const id = await orderInstance(p, { ownerId: clara.id })
  expect(await people()).toEqual([false, false, true, true, true])
  await p.admin('DELETE', `/admin/gpu-instances/${id}`)
  await p.settle()
  await checkCards(p)
  await orderInstance(p)
  await share(p, p.customer, friend, 'view')
  expect(await people()).toEqual([true, true, false, false, true])
})
