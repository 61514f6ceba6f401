// The checks of servers that have moved. The title of each test of the specification is its sentence.
import { expect, test } from 'bun:test'
import { wantSwitch } from '../../../src/compute/readdressing/switch.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { refused } from '../world.ts'
import { at, checked, checkTurn, type Moved, moved } from './world.ts'

const results = (row: { checks: { code: string; result: string }[] }) =>
  row.checks.map(({ code, result }) => `${code} ${result}`)
const words = (row: { checks: { words: string }[] }) => row.checks.map(({ words }) => words).join(' ')
/** Replaces how the host of the node reaches its vms. */
const network = (p: Moved, values: object) => Object.assign(p.node.agent.host.network, values)
const silent = { pinged: async () => [], answering: async () => [], accepts: async () => false }
/** Its addresses are new, and its system has the old one still. */
const readdressed = (p: Moved) =>
  write(p.db, (tx) => wantSwitch(tx, { serverId: p.workloadId, leave: ['198.51.100.11'], now: p.now(), endsAt: null }))
const counts = (p: Moved) => p.admin('GET', `/admin/migrations/${p.id}/verification`)

test(
  'Verify: each migrated server lists checks (runs on its node; first address answers ping; for servers given new ' +
    'addresses, the switch inside succeeded)',
  async () => {
    using p = await moved({ sourceIds: ['1', '2'] })
    readdressed(p)
    expect(await counts(p)).toMatchObject({ moved: 2, waiting: 2, passed: 0, open: 0 })
    await checkTurn(p)
    const [one, other] = [await checked(p), await checked(p, p.made[1]!.serverId)]
    expect(results(other)).toEqual(['runs passed', 'reached passed'])
    expect(words(other)).toBe(`It runs on ${other.node.name}. ${other.address} answers ping.`)
    expect(other).toMatchObject({ result: 'passed', isAddressNew: false, byHand: null, nextCheckAt: null })
    expect(results(one)).toEqual(['runs passed', 'reached passed', 'addresses open'])
    expect(one).toMatchObject({ result: 'open', isAddressNew: true, oldAddress: '198.51.100.11' })
    expect(await counts(p)).toMatchObject({ moved: 2, waiting: 0, passed: 1, open: 1 })
    const { data } = await p.admin('GET', `/admin/migrations/${p.id}/moves?result=open`)
    expect(data.map(({ serverId }: { serverId: string }) => serverId)).toEqual([one.id])
    // Its guest agent is told, and the check is repeated by itself.
    p.turnClock(11_000)
    await p.admin('POST', at(p, 'actions/check'))
    await checkTurn(p)
    await checkTurn(p)
    expect(results(await checked(p))).toEqual(['runs passed', 'reached passed', 'addresses passed'])
    expect(await counts(p)).toMatchObject({ passed: 2, open: 0 })
  },
)

test('Check again switches addresses first if not yet done, then re-runs the checks.', async () => {
  using p = await moved()
  await checkTurn(p)
  readdressed(p)
  expect(p.job((await p.admin('GET', '/jobs?limit=1')).data[0].id).kind).not.toBe('switch_addresses')
  expect(await p.admin('POST', at(p, 'actions/check'))).toMatchObject({ isAsked: true })
  await checkTurn(p)
  const [job] = (await p.admin('GET', '/jobs?limit=1')).data
  expect(p.job(job.id)).toMatchObject({ kind: 'switch_addresses', state: 'succeeded' })
  // The job has ended: only now it is checked.
  expect(await checked(p)).toMatchObject({ isAsked: true })
  await checkTurn(p)
  expect(await checked(p)).toMatchObject({ isAsked: false, result: 'passed' })
  expect(results(await checked(p))).toEqual(['runs passed', 'reached passed', 'addresses passed'])
})

test('a switch that was given up is taken up again by Check again', async () => {
  using p = await moved()
  readdressed(p)
  p.db.$client.run("UPDATE guest_switches SET state = 'given_up', tries = 9000")
  await checkTurn(p)
  expect(words(await checked(p))).toContain('Tried 9,000 times.')
  await p.admin('POST', at(p, 'actions/check'))
  await checkTurn(p)
  await checkTurn(p)
  expect(await checked(p)).toMatchObject({ result: 'passed' })
})

test('A node whose agent is older than the controller reports that, and the agent must be updated first.', async () => {
  using p = await moved()
  const { capabilities } = await import('../../../agent/protocol/wire.ts')
  const older = capabilities.filter((name) => name !== 'reach.look')
  ;(p.controller.hub as any).capabilities.set(p.server(p.workloadId).nodeId, new Set(older))
  await checkTurn(p)
  const row = await checked(p)
  expect(row).toMatchObject({ result: 'open' })
  expect(row.checks).toEqual([
    {
      ...{ code: 'asked', result: 'open', next: 'update_agent' },
      words: `The agent of ${row.node.name} is older than the controller: update it first.`,
    },
  ])
  ;(p.controller.hub as any).capabilities.delete(p.server(p.workloadId).nodeId)
  await p.admin('POST', at(p, 'actions/check'))
  await checkTurn(p)
  expect(await checked(p)).toMatchObject({ result: 'passed' })
})

test(
  'For Windows guests (detected through the guest agent) addresses are set with PowerShell, and an answering Remote ' +
    'Desktop port 3389 also counts as reachable because ping is blocked by default.',
  async () => {
    using p = await moved()
    network(p, { ...silent, accepts: async (_: string, port: number) => port === 3389 })
    await checkTurn(p)
    const before = await checked(p)
    // A Linux that drops pings is not taken for reachable.
    expect(results(before)).toEqual(['runs passed', 'reached open'])
    const { guestAgent } = p.node.agent.host as any
    const info = guestAgent.info.bind(guestAgent)
    guestAgent.info = async (id: string) => ({ ...(await info(id)), osId: 'mswindows' })
    readdressed(p)
    const scripts: string[] = []
    const powershell = guestAgent.powershell.bind(guestAgent)
    guestAgent.powershell = async (id: string, script: string, options: object) => {
      scripts.push(script)
      return await powershell(id, script, options)
    }
    await p.admin('POST', at(p, 'actions/check'))
    await checkTurn(p)
    await checkTurn(p)
    const row = await checked(p)
    expect(results(row)).toEqual(['runs passed', 'reached passed', 'addresses passed'])
    expect(words(row)).toContain(`Remote Desktop answers at ${row.address} on port 3389.`)
    expect(scripts.join()).toContain('New-NetIPAddress')
  },
)

test('a server that drops pings is open, says what answers instead, and a person marks it as fine', async () => {
  using p = await moved()
  network(p, { ...silent, accepts: async (_: string, port: number) => port === 22 })
  await checkTurn(p)
  const row = await checked(p)
  expect(row.checks[1]).toEqual({
    ...{ code: 'reached', result: 'open', next: 'accept' },
    words: `${row.address} does not answer ping, which may be blocked inside. SSH on port 22 answers there.`,
  })
  expect(await p.admin('POST', at(p, 'actions/accept'))).toMatchObject({ result: 'accepted', acceptedBy: 'System' })
  expect(await counts(p)).toMatchObject({ open: 0, accepted: 1 })
  const { lines } = await p.admin('GET', `/admin/migrations/${p.id}/log`)
  expect(lines.at(-1).text).toBe('System marked server1.source.test as fine, with 1 open check.')
  expect(await refused(p, 'POST', at(p, 'actions/accept'))).toEqual([409, 'already_done'])
  // It is not repeated any more.
  p.turnClock(3_600_000)
  network(p, { pinged: async () => Promise.reject(new Error('it was asked')) })
  await checkTurn(p)
  expect(await checked(p)).toMatchObject({ result: 'accepted', nextCheckAt: null })
})

test('an open check is repeated by itself until it passes, with growing pauses', async () => {
  using p = await moved()
  network(p, silent)
  const pauses: number[] = []
  for (let n = 0; n < 75; n++) {
    await checkTurn(p)
    const { nextCheckAt } = await checked(p)
    pauses.push(Math.round((Date.parse(nextCheckAt) - p.now()) / 1000))
    p.turnClock(Date.parse(nextCheckAt) - p.now() + 1)
  }
  expect([pauses[0], pauses[20], pauses[74]]).toEqual([10, 60, 3600])
  network(p, { pinged: async (all: string[]) => [...all] })
  await checkTurn(p)
  expect(await checked(p)).toMatchObject({ result: 'passed', nextCheckAt: null })
})

test('what a silent address means is said as far as anybody knows it', async () => {
  using p = await moved()
  const { address } = (await checked(p))!
  const said = async (values: object) => {
    network(p, { ...silent, ...values })
    await p.admin('POST', at(p, 'actions/check'))
    await checkTurn(p)
    return (await checked(p)).checks[1]
  }
  expect(await said({ answering: async (_: object, all: string[]) => all })).toMatchObject({
    words:
      `${address} does not answer ping, which may be blocked inside. Its network card answers for this address, so ` +
      'its system has it.',
    next: 'accept',
  })
  Object.assign(p.node.agent.host.guestAgent, {
    interfaces: async () => [{ name: 'eth0', mac: p.server(p.workloadId).mac, addresses: ['192.0.2.71/24'] }],
  })
  expect(await said({})).toMatchObject({
    words: `${address} does not answer ping, and its system does not have this address.`,
    next: 'console',
  })
  Object.assign(p.node.agent.host.guestAgent, { ping: async () => false })
  expect(await said({})).toMatchObject({ words: `${address} does not answer ping, and nothing else answers there.` })
})

test('a server that went off is open, and one that was off at its source is not', async () => {
  using p = await moved({ sourceIds: ['1'] })
  await p.node.agent.host.hypervisor.stop(p.workloadId, 0)
  await checkTurn(p)
  expect((await checked(p)).checks).toMatchObject([{ code: 'runs', result: 'open', next: 'start' }])
  p.db.$client.run('UPDATE import_moves SET was_running = 0')
  await p.admin('POST', at(p, 'actions/check'))
  await checkTurn(p)
  expect((await checked(p)).checks).toMatchObject([{ code: 'runs', result: 'skipped' }])
  expect(await checked(p)).toMatchObject({ result: 'passed' })
})

test('a node that is away is no verdict about its servers', async () => {
  using p = await moved()
  p.agents.get(p.server(p.workloadId).nodeId)!.disconnect()
  await checkTurn(p)
  const row = await checked(p)
  expect(row.checks).toMatchObject([{ code: 'asked', result: 'open', next: 'check' }])
  expect(words(row)).toBe(`${row.node.name} is not connected, so nothing was checked.`)
  p.agents.get(p.server(p.workloadId).nodeId)!.connect()
  p.turnClock(11_000)
  await checkTurn(p)
  expect(await checked(p)).toMatchObject({ result: 'passed' })
})

test('Check all asks for every server with an open check, and for no other', async () => {
  using p = await moved({ sourceIds: ['1', '2'] })
  network(p, { ...silent, pinged: async (all: string[]) => all.filter((one) => one === second) })
  const second = (await checked(p, p.made[1]!.serverId)).address
  await checkTurn(p)
  expect(await counts(p)).toMatchObject({ open: 1, passed: 1 })
  expect(await p.admin('POST', `/admin/migrations/${p.id}/actions/check-all`)).toEqual({ servers: 1 })
  expect(await checked(p)).toMatchObject({ isAsked: true })
  expect(await checked(p, p.made[1]!.serverId)).toMatchObject({ isAsked: false })
})

test('where the guest does not let Berth in, the lines for its console are shown, with its own addresses', async () => {
  using p = await moved()
  readdressed(p)
  Object.assign(p.node.agent.host.guestAgent, {
    ping: async () => false,
    info: async () => Promise.reject(new Error('nobody')),
  })
  await checkTurn(p)
  const { byHand, address } = await checked(p)
  const { mac } = p.server(p.workloadId)
  expect(byHand.system).toBe('linux')
  expect(byHand.lines).toEqual([
    `card=$(basename "$(dirname "$(grep -il ${mac} /sys/class/net/*/address | head -n 1)")")`,
    'ip addr flush dev "$card" scope global',
    expect.stringMatching(new RegExp(`^ip addr add ${address}/\\d+ dev "\\$card"$`)),
    expect.stringMatching(/^ip route replace default via [0-9.]+ dev "\$card"$/),
  ])
})

test('a server that has not moved is not checked', async () => {
  using p = await moved()
  const other = (p.db.$client.query("SELECT id FROM import_servers WHERE source_id = '2'").get() as { id: string }).id
  for (const action of ['actions/check', 'actions/accept'])
    expect(await refused(p, 'POST', at(p, action, other))).toEqual([409, 'import_server_not_moved'])
})

test('a server that was terminated here is not open any more', async () => {
  using p = await moved()
  await p.admin('DELETE', `/servers/${p.workloadId}`)
  await p.settle()
  await checkTurn(p)
  expect((await checked(p)).checks).toMatchObject([{ code: 'ended', result: 'skipped' }])
})
