import { expect, test } from 'bun:test'
import type { PortPolicy } from '../../../agent/protocol/firewall.ts'
import { letsSshIn, ruleFrom } from '../../../src/network/firewall-records/rule.ts'
import { followLimits } from '../../../src/network/firewalls/limits.ts'
import { type World, world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'

async function ordered(p: World, more: object = {}): Promise<string> {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, ...more })
  await p.settle()
  return serverId
}
const onNode = (p: World, id: string): PortPolicy | undefined =>
  p.node.agent.host.state.portRules().find(({ workload }) => workload === id)?.policy
const change = async (p: World, id: string, body: object, who: object = p.customer) => {
  const reply = await p.call(who as typeof p.customer, 'PATCH', `/servers/${id}/firewall`, body)
  await p.settle()
  return reply
}
const ssh = { direction: 'in', action: 'accept', protocol: 'tcp', ports: ['22'] } as const
const web = {
  name: 'Web',
  direction: 'in',
  action: 'accept',
  protocol: 'tcp',
  ports: ['80', '443', '8000-8080'],
} as const

test('a server has no firewall of its own, closed mail ports and limits from its installation on', async () => {
  using p = await world()
  const id = await ordered(p)
  expect(onNode(p, id)).toEqual({
    revision: 0,
    closedPorts: [25],
    newConnectionsPerSecond: 500,
    packetsPerSecond: 200_000,
    firewall: null,
  })
  expect((await p.call(p.customer, 'GET', `/servers/${id}/firewall`)).body).toMatchObject({
    enabled: false,
    defaultIn: 'drop',
    defaultOut: 'accept',
    rules: [],
    shared: [],
    inForce: true,
    smtpAllowed: false,
  })
})

test('the node gets every change of rules, in their order, with addresses as networks', async () => {
  using p = await world()
  const id = await ordered(p)
  const rules = [
    {
      ...ssh,
      remotes: ['192.0.2.77/24', '2001:DB8::1/32', '::ffff:198.51.100.7', '::ffff:c633:6407', '::FFFF:10.0.0.0/104'],
    },
    web,
  ]
  const { status, body } = await change(p, id, { enabled: true, rules })
  expect(status).toBe(202)
  expect(body.firewall.rules.map((rule: any) => [rule.ports, rule.remotes])).toEqual([
    [['22'], ['192.0.2.0/24', '2001:db8::/32', '198.51.100.7/32', '10.0.0.0/8']],
    [['80', '443', '8000-8080'], []],
  ])
  expect(onNode(p, id)).toMatchObject({
    revision: 1,
    firewall: {
      in: 'drop',
      out: 'accept',
      rules: [
        { ports: [[22, 22]] },
        {
          ports: [
            [80, 80],
            [443, 443],
            [8000, 8080],
          ],
        },
      ],
    },
  })
  const first = body.firewall.rules[0].id
  await p.call(p.customer, 'POST', `/servers/${id}/firewall/rules`, { ...web, name: 'First', place: 1 })
  await p.call(p.customer, 'PUT', `/servers/${id}/firewall/rules/${first}`, { ...ssh, place: 3 })
  await p.settle()
  const now = (await p.call(p.customer, 'GET', `/servers/${id}/firewall`)).body
  expect(now.rules.map((rule: any) => rule.name)).toEqual(['First', 'Web', ''])
  expect(now.inForce).toBe(true)
  await p.call(p.customer, 'DELETE', `/servers/${id}/firewall/rules/${now.rules[0].id}`)
  await change(p, id, { enabled: false })
  expect(onNode(p, id)).toMatchObject({ revision: 5, firewall: null })
})

test('a change that would close SSH is refused and changes nothing until it is confirmed', async () => {
  using p = await world()
  const id = await ordered(p)
  const before = p.fingerprint(['audit'])
  expect(await change(p, id, { enabled: true })).toMatchObject({ status: 409, body: { error: { code: 'ssh_closed' } } })
  expect(p.fingerprint(['audit'])).toBe(before)
  expect(await change(p, id, { enabled: true, acceptClosedSsh: true })).toMatchObject({ status: 202 })
  await change(p, id, { rules: [ssh] })
  const [{ id: rule }] = (await p.call(p.customer, 'GET', `/servers/${id}/firewall`)).body.rules
  expect((await p.call(p.customer, 'DELETE', `/servers/${id}/firewall/rules/${rule}`)).status).toBe(409)
  expect((await p.call(p.customer, 'DELETE', `/servers/${id}/firewall/rules/fwr_x`)).body.error.code).toBe(
    'rule_not_found',
  )
  const drop = ruleFrom({ direction: 'in', action: 'drop', protocol: 'any' })
  expect(letsSshIn([drop, ruleFrom({ ...ssh, ports: ['22'] })], 'accept')).toBe(false)
  expect(letsSshIn([ruleFrom({ ...ssh, ports: ['1-100'] }), drop], 'drop')).toBe(true)
  expect(letsSshIn([{ ...drop, remotes: ['192.0.2.0/24'] }], 'accept')).toBe(true)
})

test('ready rules let services in and switch the firewall on', async () => {
  using p = await world()
  const id = await ordered(p)
  const allow = (services: string[]) =>
    p.call(p.customer, 'POST', `/servers/${id}/firewall/actions/allow-services`, { services })
  expect((await allow(['http'])).body.error.code).toBe('ssh_closed')
  expect((await allow(['ssh', 'http', 'https', 'ping'])).status).toBe(202)
  const { body } = await allow(['ssh', 'ping6'])
  expect(body.firewall).toMatchObject({ enabled: true })
  expect(body.firewall.rules.map((rule: any) => rule.name)).toEqual(['SSH', 'HTTP', 'HTTPS', 'Ping', 'Ping over IPv6'])
})

test('nonsense in a rule is refused in words', async () => {
  using p = await world()
  const id = await ordered(p)
  for (const [rule, field] of [
    [{ ...ssh, ports: ['90-80'] }, 'ports'],
    [{ ...ssh, ports: ['70000'] }, 'ports'],
    [{ ...ssh, protocol: 'icmp' }, 'ports'],
    [{ ...ssh, remotes: ['10.0.0.1/33'] }, 'remotes'],
    [{ ...ssh, remotes: ['; drop table'] }, 'remotes'],
    [{ ...ssh, remotes: ['fe80::1%eth0'] }, 'remotes'],
    [{ direction: 'in', action: 'accept', protocol: 'icmpv6', remotes: ['10.0.0.0/8'] }, 'remotes'],
  ] as const) {
    const { status, body } = await p.call(p.customer, 'POST', `/servers/${id}/firewall/rules`, rule)
    expect([status, body.error.code]).toEqual([422, 'validation_failed'])
    expect(JSON.stringify(body.error)).toContain(`"${field}`)
  }
})

test('a node that is away gets the newest firewall when it is back, also one that closed meanwhile', async () => {
  using p = await world()
  const id = await ordered(p)
  p.node.agent.disconnect()
  const replies = []
  for (const rules of [[ssh], [ssh, web]])
    replies.push(await p.call(p.customer, 'PATCH', `/servers/${id}/firewall`, { enabled: true, rules }))
  expect(replies.map(({ status }) => status)).toEqual([202, 202])
  expect((await p.call(p.customer, 'GET', `/servers/${id}/firewall`)).body.inForce).toBe(false)
  expect(onNode(p, id)!.firewall).toBe(null)
  p.node.agent.connect()
  for (let i = 0; i < 200 && onNode(p, id)!.revision < 2; i++) await Promise.all([p.settle(), Bun.sleep(10)])
  await p.settle()
  expect(onNode(p, id)).toMatchObject({ revision: 2, firewall: { rules: [{}, {}] } })
  expect((await p.call(p.customer, 'GET', `/servers/${id}/firewall`)).body.inForce).toBe(true)
})

test('a firewall stays with its server over a reinstallation and before a set-up', async () => {
  using p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', {
    ...p.order,
    imageId: undefined,
    hostname: undefined,
    access: undefined,
  })
  expect((await change(p, serverId, { enabled: true, rules: [ssh] })).body.jobId).toBe(null)
  const installation = { imageId: p.image, access: { mode: 'password' } }
  await p.call(p.customer, 'POST', `/servers/${serverId}/actions/setup`, { ...installation, hostname: 'web09' })
  await p.settle()
  expect(onNode(p, serverId)).toMatchObject({ revision: 1, firewall: { in: 'drop' } })
  expect((await p.call(p.customer, 'GET', `/servers/${serverId}/firewall`)).body.inForce).toBe(true)
  await p.admin('POST', `/servers/${serverId}/actions/reinstall`, installation)
  await p.settle()
  expect(onNode(p, serverId)).toMatchObject({ revision: 1, firewall: { in: 'drop' } })
})

test('a shared firewall reaches every server that has it, after the server’s own rules', async () => {
  using p = await world()
  const ids = [await ordered(p), await ordered(p, { hostname: 'web02' })]
  const made = (
    await p.call(p.customer, 'POST', `/customers/${p.customer.id}/firewalls`, { name: 'web-public', rules: [web] })
  ).body
  for (const id of ids) await change(p, id, { enabled: true, rules: [ssh], firewallIds: [made.id] })
  const shared = await p.call(p.customer, 'POST', `/firewalls/${made.id}/rules`, {
    ...web,
    name: 'More',
    ports: ['9000'],
  })
  await p.settle()
  expect(shared.body.serverIds.toSorted()).toEqual(ids.toSorted())
  for (const id of ids) expect(onNode(p, id)!.firewall!.rules.map(({ ports }) => ports[0]![0])).toEqual([22, 80, 9000])
  expect((await p.call(p.customer, 'DELETE', `/firewalls/${made.id}`)).body.error.code).toBe('in_use')
  for (const id of ids) await change(p, id, { firewallIds: [] })
  expect((await p.call(p.customer, 'DELETE', `/firewalls/${made.id}`)).status).toBe(200)
  expect(onNode(p, ids[0]!)!.firewall!.rules).toHaveLength(1)
})

test('a server that changes its owner keeps its own rules and loses the shared ones', async () => {
  using p = await world()
  const id = await ordered(p)
  const { body: made } = await p.call(p.customer, 'POST', `/customers/${p.customer.id}/firewalls`, {
    name: 'web-public',
    rules: [web],
  })
  await change(p, id, { enabled: true, rules: [ssh], firewallIds: [made.id] })
  const eve = p.account('customer', 'Eve')
  await p.admin('POST', `/servers/${id}/actions/change-owner`, { ownerId: eve.id })
  await p.settle()
  expect(onNode(p, id)!.firewall!.rules.map(({ ports }) => ports)).toEqual([[[22, 22]]])
  expect((await p.call(eve, 'GET', `/servers/${id}/firewall`)).body).toMatchObject({ shared: [], inForce: true })
  expect((await p.call(p.customer, 'GET', `/firewalls/${made.id}`)).body.serverIds).toEqual([])
})

test('nobody uses or sees the firewalls of another account', async () => {
  using p = await world()
  const id = await ordered(p)
  const eve = p.account('customer', 'Eve')
  const { body: hers } = await p.call(eve, 'POST', `/customers/${eve.id}/firewalls`, { name: 'hers', rules: [web] })
  const refused = await change(p, id, { firewallIds: [hers.id] })
  expect([refused.status, refused.body.error.code]).toEqual([422, 'validation_failed'])
  expect((await p.call(p.customer, 'GET', `/firewalls/${hers.id}`)).status).toBe(404)
  expect((await p.call(eve, 'GET', `/servers/${id}/firewall`)).status).toBe(404)
  const mate = p.account('customer', 'Mia')
  await share(p, p.customer, mate, 'operate')
  expect((await p.call(mate, 'GET', `/servers/${id}/firewall`)).status).toBe(200)
  expect((await p.call(mate, 'PATCH', `/servers/${id}/firewall`, { enabled: false })).status).toBe(403)
})

test('staff open the mail ports of a server, a package those of its servers, and a package sets limits', async () => {
  using p = await world()
  const id = await ordered(p)
  expect((await p.call(p.customer, 'PUT', `/servers/${id}/smtp`, { allowed: true })).status).toBe(403)
  await p.admin('PUT', `/servers/${id}/smtp`, { allowed: true })
  await p.settle()
  expect(onNode(p, id)!.closedPorts).toEqual([])
  const { id: packageId } = await p.admin('POST', '/admin/packages', {
    name: 'Mail',
    vcpus: 2,
    memoryMb: 2048,
    diskGb: 20,
    smtpAllowed: true,
    newConnectionsPerSecond: 50,
    packetsPerSecond: 9000,
  })
  const other = await ordered(p, { packageId, hostname: 'mail' })
  expect(onNode(p, other)).toMatchObject({ closedPorts: [], newConnectionsPerSecond: 50, packetsPerSecond: 9000 })
  await p.admin('PUT', `/servers/${other}/smtp`, { allowed: false })
  await p.admin('POST', `/servers/${id}/actions/change-package`, { packageId })
  await p.settle()
  expect(onNode(p, other)!.closedPorts).toEqual([25])
  expect(onNode(p, id)).toMatchObject({ newConnectionsPerSecond: 50 })
})

test('limits of settings and packages reach every server by themselves, also when its node is back', async () => {
  using p = await world()
  const [one, two] = [await ordered(p), await ordered(p, { hostname: 'web02' })]
  const turn = async () => {
    followLimits(p.db, p.now())
    await p.settle()
  }
  const jobs = () => p.db.$client.query("SELECT count(*) AS n FROM jobs WHERE kind = 'firewall'").get()
  const set = (name: string, value: unknown) => p.admin('PUT', '/admin/settings/values', { name, value })
  await turn()
  expect(jobs()).toEqual({ n: 0 })

  await set('firewalls.new_connections', 77)
  await set('firewalls.close_smtp', false)
  await turn()
  for (const id of [one, two]) {
    expect(onNode(p, id)).toMatchObject({ newConnectionsPerSecond: 77, closedPorts: [] })
    expect((await p.call(p.customer, 'GET', `/servers/${id}/firewall`)).body.inForce).toBe(true)
  }
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { packetsPerSecond: 1234 })
  await turn()
  expect(onNode(p, two)).toMatchObject({ packetsPerSecond: 1234, newConnectionsPerSecond: 77 })

  // The change of a server that was terminated is there when it is brought back.
  await p.admin('DELETE', `/servers/${two}`)
  await p.settle()
  p.node.agent.disconnect()
  await set('firewalls.new_connections', null)
  followLimits(p.db, p.now())
  expect((await p.call(p.customer, 'GET', `/servers/${one}/firewall`)).body.inForce).toBe(false)
  p.node.agent.connect()
  await p.settle()
  for (const id of [one, two]) expect(onNode(p, id)!.newConnectionsPerSecond).toBe(500)
})

test('a change while the server is installed is in force when it is', async () => {
  using p = await world()
  // The installation has read its firewall by then, and has not told its node yet.
  p.node.agent.fault({ command: 'image.ensure', mode: 'slow', ms: 200, times: 1 })
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  const isPlanned = () =>
    p.db.$client.query("SELECT 1 FROM jobs WHERE kind = 'install' AND step_name LIKE 'Getting the image%'").get() !==
    null
  for (let i = 0; i < 1000 && !isPlanned(); i++) await Bun.sleep(2)
  expect(isPlanned()).toBe(true)
  await p.call(p.customer, 'PATCH', `/servers/${serverId}/firewall`, { enabled: true, rules: [ssh] })
  await p.settle()
  expect(onNode(p, serverId)).toMatchObject({ revision: 1, firewall: { in: 'drop' } })
})

test('the counters of the node are shown after they were read', async () => {
  using p = await world()
  const id = await ordered(p)
  await change(p, id, { enabled: true, rules: [ssh] })
  expect((await p.call(p.customer, 'GET', `/servers/${id}/firewall`)).body.counters).toBe(null)
  await p.call(p.customer, 'POST', `/servers/${id}/firewall/actions/count`)
  await p.settle()
  const { counters, rules } = (await p.call(p.customer, 'GET', `/servers/${id}/firewall`)).body
  expect(counters.rules).toEqual([{ id: rules[0].id, packets: 0, bytes: 0 }])
})

test('an account and a firewall have no more than they may', async () => {
  using p = await world()
  const id = await ordered(p)
  const rules = Array.from({ length: 50 }, (_, n) => ({ ...ssh, ports: [`${n + 1}`] }))
  expect((await change(p, id, { rules })).status).toBe(202)
  const more = await p.call(p.customer, 'POST', `/servers/${id}/firewall/rules`, ssh)
  expect([more.status, more.body.error.code]).toEqual([422, 'limit_reached'])
})
