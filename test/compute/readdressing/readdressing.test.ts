// Systems inside servers learn of addresses that were changed outside, by their guest agents.
import { expect, test } from 'bun:test'
import { OS_ID } from '../../../agent/drivers/guest-agent/fake.ts'
import { silentSwitches, switchOf } from '../../../src/compute/readdressing/queries.ts'
import { switchNow, tellGuests, wantSwitch } from '../../../src/compute/readdressing/switch.ts'
import { load } from '../../../src/compute/server-records/model.ts'
import { system } from '../../../src/kernel/api/actor.ts'
import { write } from '../../../src/kernel/db/open.ts'
import type { World } from '../../support/world/panel.ts'
import { openTwo } from '../transfers/two-locations.ts'
import { move, nodeNamed, order, where } from '../transfers/world.ts'

const OLD = '203.0.113.10'
const NEW = '198.51.100.10'
const DAY_MS = 24 * 3_600_000
const guestOn = (p: World, name: string) => p.agents.get(nodeNamed(p, name))!.host.guestAgent
const toHelsinki = async (p: World, id: string) => {
  await move(p, id, { nodeId: nodeNamed(p, 'hel-01'), readdress: true })
  await p.settle()
}
const turn = async (p: World) => {
  await tellGuests(p.controller)
  await p.settle()
}
const inside = async (p: World) => (await p.admin('GET', '/admin/transfers')).data[0].inside

test('after a move the guest agent of a Linux is told its new addresses, and its old ones', async () => {
  using p = await openTwo()
  const id = await order(p)
  await toHelsinki(p, id)
  expect([switchOf(p.db, id)?.leave, await inside(p)]).toEqual([[OLD], 'waiting'])
  await turn(p)
  const guest = guestOn(p, 'hel-01')
  expect(guest.addresses(id)).toEqual([`${NEW}/24`])
  expect(guest.programs(id).at(-1)!.argv.slice(-3)).toEqual(['4,198.51.100.1,0', expect.any(String), OLD])
  expect([await inside(p), (await where(p, id)).openJobs]).toEqual(['done', []])
  const told = guest.programs(id).length
  p.turnClock(DAY_MS)
  await turn(p)
  expect(guest.programs(id)).toHaveLength(told)
})

test('a guest that does not answer is asked again, and a Linux for a day', async () => {
  using p = await openTwo()
  const id = await order(p)
  await toHelsinki(p, id)
  guestOn(p, 'hel-01').behave(id, 'silent')
  const jobs = () => p.db.$client.query("SELECT count(*) AS n FROM jobs WHERE kind = 'switch_addresses'").get()
  await turn(p)
  expect([switchOf(p.db, id), jobs()]).toMatchObject([
    { state: 'waiting', error: 'No guest agent answers.', tries: 1 },
    { n: 0 },
  ])
  guestOn(p, 'hel-01').behave(id, 'well')
  await turn(p)
  expect(switchOf(p.db, id)?.state).toBe('waiting')
  p.turnClock(10_000)
  await turn(p)
  expect([switchOf(p.db, id)?.state, jobs()]).toEqual(['done', { n: 1 }])
  write(p.db, (tx) => wantSwitch(tx, { serverId: id, leave: [OLD], now: p.now(), endsAt: p.now() + DAY_MS }))
  guestOn(p, 'hel-01').behave(id, 'silent')
  p.turnClock(DAY_MS + 1)
  await turn(p)
  expect(await inside(p)).toBe('given_up')
})

test('a system that refuses keeps waiting, and says why', async () => {
  using p = await openTwo()
  const id = await order(p)
  guestOn(p, 'fra-01').answer(id, 'sh', { code: 1, output: 'no' })
  const jobId = write(p.db, (tx) => {
    wantSwitch(tx, { serverId: id, leave: ['192.0.2.9'], now: p.now(), endsAt: null })
    return switchNow(tx, load(tx, id), { by: system, now: p.now() })
  })
  p.controller.runner.kick()
  await p.settle()
  expect([p.job(jobId).state, switchOf(p.db, id)]).toMatchObject([
    'succeeded',
    { state: 'waiting', error: 'The system inside did not change its addresses: change them there.' },
  ])
})

test('Windows moves only where its guest agent answers, and is told by PowerShell until it has heard', async () => {
  using p = await openTwo()
  const id = await order(p)
  p.db.$client.run("UPDATE servers SET os = 'windows', pending_seed = NULL WHERE id = ?", [id])
  const refused = async () => {
    const to = { nodeId: nodeNamed(p, 'hel-01'), readdress: true }
    const { status, body } = await p.call(p.owner, 'POST', `/admin/servers/${id}/actions/move`, to)
    return `${status} ${body.error?.message}`
  }
  p.db.$client.run('UPDATE server_guests SET agent_answers = 0')
  expect(await refused()).toMatch(/^409 .*none answers: install one first/)
  p.db.$client.run("UPDATE workloads SET power = 'stopped' WHERE id = ?", [id])
  expect(await refused()).toMatch(/^409 .*start it first/)
  p.db.$client.run("UPDATE workloads SET power = 'running' WHERE id = ?", [id])
  p.db.$client.run('UPDATE server_guests SET agent_answers = 1')
  await toHelsinki(p, id)
  expect(await where(p, id)).toMatchObject({ status: 'running', stays: ['home on hel-01'], openJobs: [] })
  expect(p.db.$client.query('SELECT pending_seed AS seed FROM servers').get()).toEqual({ seed: null })
  const guest = guestOn(p, 'hel-01')
  guest.answer(id, OS_ID, { code: 0, output: 'mswindows' })
  guest.behave(id, 'silent')
  await turn(p)
  const change = async () => (await p.call(p.signIn(p.customer.id), 'GET', `/servers/${id}/address-change`)).body
  const attention = async () =>
    (await p.call(p.signIn(p.owner.id), 'GET', '/admin/overview')).body.attention.filter(({ what }: any) =>
      what.includes('new addresses'),
    )
  expect(await change()).toMatchObject({ state: 'waiting', error: 'No guest agent answers.' })
  // One that boots still is nothing to tell.
  expect(await attention()).toEqual([])
  p.turnClock(6 * 60_000)
  expect(await attention()).toMatchObject([
    {
      what: 'The system of web01 has not learned its new addresses.',
      effect: expect.stringMatching(/^No guest agent answers\. It cannot be reached/),
      href: `/admin/servers/${id}`,
    },
  ])
  const page = async () => {
    const cookie = `__Host-panel=${p.signIn(p.customer.id).cookie}`
    const request = new Request(`http://localhost/servers/${id}`, { headers: { Cookie: cookie } })
    return (await p.controller.router.fetch(request)).text()
  }
  const WORDS = 'Its system does not have its new addresses yet.'
  expect(await page()).toContain(WORDS)
  p.turnClock(30 * DAY_MS)
  guest.behave(id, 'well')
  await turn(p)
  expect([guest.addresses(id), await inside(p)]).toEqual([[`${NEW}/24`], 'done'])
  expect([await change(), silentSwitches(p.db, p.now(), 9)]).toMatchObject([{ state: 'done', error: null }, []])
  expect(await page()).not.toContain(WORDS)
  const [, script] = guest.programs(id).at(-1)!.argv
  expect(script).toContain(`$leave = @('${OLD}')`)
  expect(script).toContain("-NextHop '198.51.100.1'")
})
