// The WHMCS module under real PHP, against a running Berth with a fake node.
import { afterAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signedHeaders } from '../../src/billing/webhooks/signature.ts'
import { presets } from '../../src/identity/tokens/presets.ts'
import { freePort } from '../support/world/program.ts'
import { type Berth, berth, isPhpThere, php, refusal } from './berth.ts'
import { packaged } from './packaged.ts'

const SECRET = 'whsec_c2VjcmV0'
const root = mkdtempSync(join(tmpdir(), 'berth-whmcs-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A WHMCS with one service and one add-on, whose products order the package of this Berth. */
async function whmcs(p: Berth, { url = 'https://billing.example.com/', token = p.billing, userId = 4711 } = {}) {
  const home = mkdtempSync(join(root, 'one-'))
  const folder = join(home, 'modules/servers/berth')
  mkdirSync(folder, { recursive: true })
  cpSync(join(packaged('whmcs'), 'berth'), folder, { recursive: true })
  writeFileSync(
    join(home, 'init.php'),
    `<?php require '${process.cwd()}/test/integrations/platforms/whmcs-standin.php';`,
  )
  const stateFile = join(home, 'state.json')
  const options = { configoption1: p.pack, configoption2: p.location, configoption3: p.image }
  const state = {
    tblconfiguration: [{ setting: 'SystemURL', value: url }],
    tblclients: [
      { id: userId, firstname: 'Cal', lastname: 'Customer', email: 'cal@example.com', companyname: '' },
      { id: 4712, firstname: 'Dora', lastname: 'Other', email: 'dora@example.com', companyname: '' },
    ],
    tblproducts: [{ id: 12, options }],
    tbladdons: [{ id: 7, options }],
    tblhosting: [
      {
        id: 17,
        userid: userId,
        packageid: 12,
        server: 3,
        domain: 'web17.example.com',
        domainstatus: 'Pending',
        username: 'web17exa',
        // WHMCS makes one up before the module is called.
        password: 'whmcsMade1',
        dedicatedip: '',
        bwusage: 0,
        bwlimit: 0,
        disklimit: 0,
        lastupdate: '',
        fields: {} as Record<string, string>,
      },
    ],
    tblhostingaddons: [
      {
        id: 5,
        hostingid: 17,
        addonid: 7,
        userid: userId,
        server: 3,
        status: 'Pending',
        fields: {} as Record<string, string>,
      },
    ],
    tblservers: [
      {
        id: 3,
        type: 'berth',
        hostname: '127.0.0.1',
        port: String(p.port),
        secure: '',
        username: '',
        password: btoa(SECRET),
        accesshash: token,
      },
    ],
    mails: [] as { service: number; addon: number | null; password: string }[],
  }
  writeFileSync(stateFile, JSON.stringify(state))
  const env = { STANDIN_STATE: stateFile, MODULE: folder }
  const script = 'test/integrations/platforms/whmcs.php'
  const read = () => JSON.parse(readFileSync(stateFile, 'utf8')) as typeof state
  return {
    env,
    home,
    /** Calls a function for the service. `timeout`: how long it bears a silence, in seconds. */
    call: (name: string, params: object = {}, timeout?: number, more: object = {}) =>
      php(
        script,
        { function: name, service: 17, params, ...more },
        { ...env, ...(timeout && { TIMEOUT: String(timeout) }) },
      ),
    addon: (name: string) => php(script, { function: name, service: 17, addon: 5 }, env),
    state: read,
    service: () => read().tblhosting[0]!,
    serverId: () => read().tblhosting[0]!.fields['Berth server']!,
    installation: () => read().tblservers[0]!.username.split('@')[0]!,
    change(how: (state: ReturnType<typeof read>) => void) {
      const changed = read()
      how(changed)
      writeFileSync(stateFile, JSON.stringify(changed))
    },
    log: () => readFileSync(`${stateFile}.log`, 'utf8'),
  }
}
type Whmcs = Awaited<ReturnType<typeof whmcs>>
const serverOf = (p: Berth, w: Whmcs) => p.server(w.serverId())
const isOrder = (call: { method: string; path: string }) => call.method === 'POST' && call.path === '/admin/servers'

describe.skipIf(!isPhpThere)('the WHMCS module', () => {
  test('says what it is, and offers what can be sold', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    expect((await w.call('MetaData')).DisplayName).toBe('Berth')
    expect(Object.keys(await w.call('ConfigOptions'))).toEqual(['Package', 'Location', 'Image'])
    expect(await w.call('LoadPackages')).toEqual({ [p.pack]: 'KVM 2G', [p.larger]: 'KVM 4G' })
    expect(await w.call('LoadLocations')).toEqual({ [p.location]: 'Frankfurt' })
    expect(await w.call('LoadImages')).toMatchObject({ none: expect.any(String), [p.image]: 'Debian 13' })
    expect(await w.call('TestConnection')).toEqual({ success: true, error: '' })
  }, 60_000)

  test('carries a service from its order to its termination', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    expect(await w.call('CreateAccount')).toBe('success')
    await p.settle()
    expect(w.service().password).toMatch(/^[A-Za-z2-9]{20}$/)
    expect(w.service()).toMatchObject({ dedicatedip: '203.0.113.10', username: 'root', domainstatus: 'Active' })
    expect(w.state().mails.map(({ password }) => password)).toEqual([w.service().password])
    expect(serverOf(p, w)).toMatchObject({ status: 'running', hostname: 'web17.example.com' })
    expect((await p.admin('GET', `/admin/customers?externalId=whmcs:${w.installation()}:4711`)).data).toMatchObject([
      { name: 'Cal Customer', email: 'cal@example.com' },
    ])

    expect(await w.call('SuspendAccount', { suspendreason: 'Invoice 2041 is overdue' })).toBe('success')
    await p.settle()
    expect(serverOf(p, w)).toMatchObject({ status: 'suspended', suspendReason: 'Invoice 2041 is overdue' })
    expect(await w.call('SuspendAccount')).toBe('success')
    expect(await w.call('UnsuspendAccount')).toBe('success')
    expect(await w.call('UnsuspendAccount')).toBe('success')
    await p.settle()
    expect(serverOf(p, w).status).toBe('running')

    expect(await w.call('ChangePackage', { configoption1: p.larger })).toBe('success')
    await p.settle()
    expect(serverOf(p, w)).toMatchObject({ packageId: p.larger, memoryMb: 4096 })
    expect(await w.call('ChangePackage', { configoptions: { Package: 'KVM 2G' } })).toContain('A disk cannot shrink')

    for (const [button, status] of [
      ['ShutDown', 'stopped'],
      ['Start', 'running'],
      ['Restart', 'running'],
    ] as const) {
      expect(await w.call(button)).toBe('success')
      await p.settle()
      expect(serverOf(p, w).status).toBe(status)
    }
    expect(await w.call('AdminServicesTabFields')).toMatchObject({ State: 'running', Location: 'Frankfurt' })
    expect((await w.call('ClientArea')).vars.server.name).toBe('web17.example.com')
    // Nothing was measured yet: what WHMCS has stays, and is not overwritten with 0.
    expect(await w.call('UsageUpdate')).toBe('success')
    expect(w.service()).toMatchObject({ bwusage: 0 })
    p.db.$client.run(
      'INSERT INTO traffic_days SELECT id, ?, owner_id, 3000000000, 1500000000, 3600, 0 FROM workloads',
      [Math.floor(p.now() / 86_400_000)],
    )
    expect(await w.call('UsageUpdate')).toBe('success')
    expect(w.service()).toMatchObject({ bwusage: 4500 })
    expect(w.service()).toMatchObject({ disklimit: 40 * 1024 })
    expect((await w.call('ListAccounts')).accounts).toMatchObject([{ domain: 'web17.example.com', status: 'Active' }])
    expect((await w.call('ServiceSingleSignOn')).redirectTo).toMatch(/^https:\/\/panel\.test\//)

    // The preset has no right to it; a token that has it resets the password, which is stored with the service.
    const before = w.service().password
    expect(await w.call('ResetPassword')).toContain('missing_scope')
    expect(w.service().password).toBe(before)
    const serveraccesshash = p.token(p.owner.id, [...presets.billing, 'servers:settings']).token
    expect(await w.call('ResetPassword', { serveraccesshash })).toBe('success')
    await p.settle()
    const after = w.service().password
    expect(after).toMatch(/^[A-Za-z2-9]{20}$/)
    expect(after).not.toBe(before)
    expect(p.node.agent.host.guestAgent.password(w.serverId())).toStartWith('$6$')

    const id = w.serverId()
    expect(await w.call('TerminateAccount')).toBe('success')
    await p.settle()
    expect(p.server(id).status).toBe('terminated')
    // The same service can be ordered anew on the same day.
    expect(await w.call('CreateAccount')).toBe('success')
    await p.settle()
    expect(w.serverId()).not.toBe(id)
    expect(serverOf(p, w).status).toBe('running')
    expect(w.log()).not.toContain(p.billing)
    expect(w.log()).not.toContain(w.service().password)
  }, 60_000)

  test('does the same for a reseller with a token of its own', async () => {
    await using p = await berth()
    const rita = p.account('reseller', 'Rita')
    await p.admin('PATCH', `/resellers/${rita.id}`, { packageIds: [p.pack, p.larger], locationIds: [p.location] })
    const own = { serveraccesshash: p.token(rita.id, presets['reseller-billing']).token }
    const w = await whmcs(p)
    const done = async (name: string, more: object = {}) => {
      expect([name, await w.call(name, { ...own, ...more })]).toEqual([name, 'success'])
      await p.settle()
    }
    expect((await w.call('TestConnection', own)).success).toBe(true)
    expect(Object.values(await w.call('LoadPackages', own)).toSorted()).toEqual(['KVM 2G', 'KVM 4G'])
    await done('CreateAccount')
    expect(serverOf(p, w)).toMatchObject({ status: 'running', resellerId: rita.id })
    await done('SuspendAccount')
    await done('UnsuspendAccount')
    await done('ChangePackage', { configoption1: p.larger })
    await done('UsageUpdate')
    const id = w.serverId()
    // An answer that was lost: the second DELETE meets a server that a reseller no longer sees.
    p.fault(
      (call) => call.method === 'DELETE',
      () => 'lose',
    )
    await done('TerminateAccount')
    expect(p.server(id).status).toBe('terminated')
  }, 60_000)

  test('without an image leaves the choice to the client', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    expect(await w.call('CreateAccount', { configoptions: { Image: 'none' } })).toBe('success')
    expect(serverOf(p, w).status).toBe('pending_setup')
  }, 60_000)

  test('orders one server when the answer is lost, and when Create is run twice', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    p.fault(isOrder, () => 'lose')
    expect(await w.call('CreateAccount')).toBe('success')
    const [id, { password }] = [w.serverId(), w.service()]
    expect(password).toMatch(/^[A-Za-z2-9]{20}$/)
    expect(new Set(p.calls.filter(isOrder).map((c) => c.key)).size).toBe(1)
    expect(await w.call('CreateAccount')).toBe('success')
    expect([p.servers(), w.serverId(), w.service().password]).toEqual([1, id, password])
  }, 60_000)

  test('says in words why an order is refused, and orders nothing', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    await p.admin('PATCH', `/admin/node-groups/${p.location}`, { open: false })
    expect(await w.call('CreateAccount')).toMatch(/^Berth: .*Frankfurt.*\(location_closed, request .+\)$/)
    await p.admin('PATCH', `/admin/node-groups/${p.location}`, { open: true })
    await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [] })
    expect(await w.call('CreateAccount')).toContain('Out of stock: add an address pool')
    expect(p.servers()).toBe(0)
    expect((await p.admin('GET', `/admin/customers?externalId=whmcs:${w.installation()}:4711`)).total).toBe(0)
    const weak = p.token(
      p.owner.id,
      presets.billing.filter((scope) => scope !== 'servers:create'),
    ).token
    expect((await w.call('TestConnection', { serveraccesshash: weak })).error).toBe(
      'Berth: the token lacks servers:create.',
    )
    expect(await w.call('CreateAccount', { serveraccesshash: 'pnl_wrong' })).toContain('Check the token')
  }, 60_000)

  test('waits as long as Berth asks for a moment, and tells when it takes longer', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    p.fault(isOrder, refusal(429, 'rate_limited', 'Too many calls.', { 'Retry-After': '1' }))
    expect(await w.call('CreateAccount')).toBe('success')
    const busy = () =>
      p.fault((c) => c.method === 'DELETE', refusal(503, 'restarting', 'Berth is restarting.', { 'Retry-After': '60' }))
    busy()
    expect(await w.call('TerminateAccount')).toBe(
      'Berth: Berth is restarting. Run the action again in a minute. (restarting, request req-1)',
    )
    expect(await w.call('TerminateAccount')).toBe('success')
  }, 60_000)

  test('tells when nobody answers, and a later try goes on', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    p.fault(isOrder, () => 'hang up', 99)
    const said = await w.call('CreateAccount')
    expect(said).toContain('There was no answer')
    expect(said).toContain('Run the action again: what was done already is not done twice.')
    expect([p.servers(), p.calls.filter(isOrder).length]).toEqual([0, 4])
    expect(await w.call('TestConnection', { serverport: String(freePort()) })).toMatchObject({ success: false })
  }, 60_000)

  test('ends a call that gets no answer, and orders one server when it comes back', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    p.fault(
      () => true,
      () => 'hang',
      4,
    )
    const said = await w.call('CreateAccount', {}, 0.3)
    expect(said).toMatch(
      /^Berth: There was no answer \(.*timed out.*\)\. Run the action again: what was done already is/,
    )
    expect([p.calls.length, p.servers()]).toEqual([4, 0])
    p.fault(isOrder, () => 'silence')
    expect(await w.call('CreateAccount', {}, 1.5)).toBe('success')
    const placed = p.calls.filter(isOrder)
    expect([placed.length > 1, new Set(placed.map(({ key }) => key)).size, p.servers()]).toEqual([true, 1, 1])
  }, 60_000)

  test('an add-on is a service of its own', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    expect(await w.call('CreateAccount')).toBe('success')
    expect(await w.addon('CreateAccount')).toBe('success')
    await p.settle()
    const [addon] = w.state().tblhostingaddons
    const named = (id: string) => [p.server(id).billingServiceId, p.server(id).hostname, p.server(id).status]
    const own = [`whmcs:${w.installation()}:addon-5`, 'server17-5']
    expect(named(w.serverId())).toEqual([`whmcs:${w.installation()}:17`, 'web17.example.com', 'running'])
    expect(named(addon!.fields['Berth server']!)).toEqual([...own, 'running'])
    expect(addon!.fields['Password']).toMatch(/^[A-Za-z2-9]{20}$/)
    expect(addon!.fields['Password']).not.toBe(w.service().password)
    expect(w.state().mails.map(({ password }) => password)).toEqual([w.service().password, addon!.fields['Password']!])

    expect(await w.addon('SuspendAccount')).toBe('success')
    await p.settle()
    expect(named(addon!.fields['Berth server']!)).toEqual([...own, 'suspended'])
    expect(serverOf(p, w).status).toBe('running')
    expect(await w.addon('TerminateAccount')).toBe('success')
    await p.settle()
    expect(named(addon!.fields['Berth server']!)).toEqual([...own, 'terminated'])
    expect(serverOf(p, w).status).toBe('running')
  }, 60_000)

  test('a second Terminate is done; a server under another name is not forgotten', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    expect(await w.call('TerminateAccount')).toBe('success')
    await w.call('CreateAccount')
    await p.settle()
    const id = w.serverId()
    await p.admin('PATCH', `/servers/${id}/billing`, { billingServiceId: 'other:1' })
    expect(await w.call('TerminateAccount')).toContain(
      `The server ${id} of this service is there, and is called other:1`,
    )
    expect([p.server(id).status, w.service().domainstatus]).toEqual(['running', 'Active'])
    await p.admin('PATCH', `/servers/${id}/billing`, { billingServiceId: `whmcs:${w.installation()}:17` })
    for (const _ of [1, 2]) expect(await w.call('TerminateAccount')).toBe('success')
    await p.settle()
    expect(p.server(id).status).toBe('terminated')
  }, 60_000)

  test('a service whose server was terminated in Berth gets another one, with its password', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    await w.call('CreateAccount')
    await p.settle()
    const [id, { password }] = [w.serverId(), w.service()]
    await p.admin('DELETE', `/servers/${id}`, {})
    await p.settle()
    expect(await w.call('CreateAccount')).toBe('success')
    await p.settle()
    expect(w.serverId()).not.toBe(id)
    expect(w.service().password).toMatch(/^[A-Za-z2-9]{20}$/)
    expect(w.service().password).not.toBe(password)
    expect(serverOf(p, w).status).toBe('running')
  }, 60_000)

  /** The root password that the order of the server was answered with: its replay. */
  const orderedPassword = async (p: Berth, w: Whmcs) => {
    const server = serverOf(p, w)
    const body = {
      packageId: p.pack,
      nodeGroupId: p.location,
      imageId: p.image,
      hostname: server.hostname,
      access: { mode: 'password' },
      ownerId: server.ownerId,
      billingServiceId: server.billingServiceId,
    }
    const key = p.calls.find(isOrder)!.key!
    const said = await p.call({ token: p.billing }, 'POST', '/admin/servers', body, { 'Idempotency-Key': key })
    expect(said.headers.get('Idempotency-Replayed')).toBe('true')
    return said.body.rootPassword as string
  }

  test('Create that is cut off at any call, and run again, makes one server and mails its password', async () => {
    let calls = 99
    for (let cut = 1; cut <= calls; cut++) {
      await using p = await berth()
      const w = await whmcs(p)
      let n = 0
      // From this call on no answer arrives, and what is asked may or may not be done.
      p.fault(
        () => ++n >= cut,
        () => (n % 2 ? 'lose' : 'hang up'),
        Infinity,
      )
      const said = await w.call('CreateAccount')
      if (said === 'success') calls = 0
      else expect([cut, said, w.service().domainstatus]).toEqual([cut, expect.stringContaining('no_answer'), 'Pending'])
      p.faults.length = 0
      expect([cut, await w.call('CreateAccount')]).toEqual([cut, 'success'])
      await p.settle()
      expect([cut, p.servers(), w.service().password]).toEqual([cut, 1, await orderedPassword(p, w)])
      expect(w.state().mails.at(-1)!.password).toBe(w.service().password)
    }
  }, 120_000)

  test('each other action that is cut off at any call is done when it is run again', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    await w.call('CreateAccount')
    await p.settle()
    const server = serverOf(p, w)
    for (const [name, wanted, params] of [
      ['SuspendAccount', { status: 'suspended' }, {}],
      ['UnsuspendAccount', { status: 'running' }, {}],
      ['ChangePackage', { packageId: p.larger }, { configoption1: p.larger }],
      ['UsageUpdate', { status: 'running' }, {}],
      ['TerminateAccount', { status: 'terminated' }, {}],
    ] as const)
      for (let cut = 1, isWhole = false; !isWhole; cut++) {
        let n = 0
        p.fault(
          () => ++n >= cut,
          () => (n % 2 ? 'lose' : 'hang up'),
          Infinity,
        )
        const said = await w.call(name, params)
        isWhole = said === 'success'
        if (!isWhole) expect([name, cut, said]).toEqual([name, cut, expect.stringContaining('no_answer')])
        p.faults.length = 0
        expect([name, cut, await w.call(name, params)]).toEqual([name, cut, 'success'])
        await p.settle()
        expect([name, cut, p.server(server.id)]).toEqual([name, cut, expect.objectContaining(wanted)])
      }
    expect([p.servers(), w.service().domainstatus]).toEqual([1, 'Terminated'])
  }, 120_000)

  test('Create that died before WHMCS noted it keeps the password; repeated too late it mails none', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    await w.call('CreateAccount', {}, undefined, { dies: true })
    await p.settle()
    const { password } = w.service()
    expect([password, w.service().domainstatus]).toEqual([await orderedPassword(p, w), 'Pending'])
    // Two days later Berth remembers the order no more.
    p.turnClock(2 * 86_400_000)
    p.deleteExpired()
    expect(await w.call('CreateAccount')).toBe('success')
    expect([p.servers(), w.state().mails.at(-1)!.password]).toEqual([1, password])
    // The backup of WHMCS that is brought back knows nothing of the server.
    w.change(({ tblhosting: [service] }) => Object.assign(service!, { fields: {}, password: 'whmcsMade2' }))
    expect(await w.call('CreateAccount')).toBe('success')
    expect([p.servers(), w.state().mails.at(-1)!.password]).toEqual([1, ''])
  }, 60_000)

  test('three runs of Create at once make one server', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    const said = await Promise.all([1, 2, 3].map(() => w.call('CreateAccount')))
    expect(said).toEqual(['success', 'success', 'success'])
    await p.settle()
    expect([p.servers(), w.service().password]).toEqual([1, await orderedPassword(p, w)])
    expect((await p.admin('GET', '/admin/customers?q=cal@example.com')).total).toBe(1)
  }, 60_000)

  test('two installations on one Berth do not meet; a copy does nothing before it has its own id', async () => {
    await using p = await berth()
    const one = await whmcs(p)
    const two = await whmcs(p, { url: 'https://brand.example.net' })
    two.change(({ tblclients: [client] }) => Object.assign(client!, { firstname: 'Eve', email: 'eve@example.net' }))
    for (const w of [one, two]) expect(await w.call('CreateAccount')).toBe('success')
    await p.settle()
    expect(one.installation()).toMatch(/^[a-z0-9]{8}$/)
    expect(two.installation()).not.toBe(one.installation())
    expect([serverOf(p, one).ownerId, p.servers()]).not.toEqual([serverOf(p, two).ownerId, 2])
    expect(await two.call('TerminateAccount')).toBe('success')
    await p.settle()
    expect(serverOf(p, one).status).toBe('running')

    const copy = await whmcs(p)
    copy.change((state) =>
      Object.assign(state, one.state(), {
        tblconfiguration: [{ setting: 'SystemURL', value: 'https://staging.example.com/' }],
      }),
    )
    for (const name of ['TerminateAccount', 'SuspendAccount', 'ChangePackage', 'CreateAccount', 'UsageUpdate'])
      expect([name, await copy.call(name)]).toEqual([name, expect.stringContaining('installation_copied')])
    expect(await copy.call('ServiceSingleSignOn')).toMatchObject({ success: false })
    expect((await copy.call('TestConnection')).error).toContain('belongs to billing.example.com')
    // The first entry stays as it was copied; nothing of it is taken for the other one.
    copy.change(({ tblservers }) => void tblservers.push({ ...tblservers[0]!, id: 4, username: '' }))
    const test = (server: number) => copy.call('TestConnection', {}, undefined, { service: null, server })
    expect(await test(4)).toEqual({ success: true, error: '' })
    expect((await test(3)).error).toContain('belongs to billing.example.com')
    copy.change(({ tblservers: [server] }) => Object.assign(server!, { username: '' }))
    expect(await test(3)).toEqual({ success: true, error: '' })
    const [first, second] = copy.state().tblservers
    expect(second!.username).toBe(first!.username)
    expect(first!.username).toMatch(/^[a-z0-9]{8}@staging\.example\.com$/)
    expect(await copy.call('TestConnection')).toEqual({ success: true, error: '' })
    expect(await copy.call('SuspendAccount')).toContain('server_not_found')
    expect(await copy.call('TerminateAccount')).toContain('is there, and is called whmcs:')
    await p.settle()
    expect(serverOf(p, one).status).toBe('running')
  }, 60_000)

  test("a service of another client does not get this one's server", async () => {
    await using p = await berth()
    const w = await whmcs(p)
    await w.call('CreateAccount')
    await p.settle()
    w.change(({ tblhosting: [service] }) => Object.assign(service!, { userid: 4712 }))
    expect(await w.call('CreateAccount')).toContain('foreign_server')
    expect(await w.call('ServiceSingleSignOn')).toMatchObject({ success: false })
    expect((await w.call('ClientArea')).vars.server).toBeNull()
    expect(await w.call('AdminServicesTabFields')).toEqual({ Berth: expect.stringContaining('foreign_server') })
  }, 60_000)

  test('usage leaves out traffic that was bought, and is dated by the clock of WHMCS', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { trafficGb: 1000 })
    await w.call('CreateAccount')
    await w.addon('CreateAccount')
    await p.settle()
    p.db.$client.run(
      'INSERT INTO traffic_days SELECT id, ?, owner_id, 800000000000, 600000000000, 3600, 0 FROM workloads',
      [Math.floor(p.now() / 86_400_000)],
    )
    expect(await w.call('UsageUpdate')).toBe('success')
    expect(w.service()).toMatchObject({ bwusage: 1_400_000, bwlimit: 1_000_000 })
    await p.admin('POST', `/servers/${w.serverId()}/bandwidth`, { action: 'add', gb: 300 })
    expect(await w.call('UsageUpdate')).toBe('success')
    // WHMCS bills what is above the limit of the product: 100 GB of the 400 GB, because 300 GB are paid.
    expect(w.service()).toMatchObject({ bwusage: 1_100_000, bwlimit: 1_000_000, disklimit: 20 * 1024 })
    await p.admin('POST', `/servers/${w.serverId()}/bandwidth`, { action: 'add', gb: 9000 })
    expect(await w.call('UsageUpdate')).toBe('success')
    expect(w.service().bwusage).toBe(1_000_000)
    const here = new Date().toLocaleString('sv-SE', { timeZone: 'America/New_York' })
    expect(w.service().lastupdate.slice(0, 13)).toBe(here.slice(0, 13))
    expect(w.state().tblhostingaddons[0]!.fields).toMatchObject({ 'Bandwidth Usage': '1400000', 'Disk Limit': '20480' })
  }, 60_000)

  test("a client's new name and e-mail reach Berth, at once or with the next action", async () => {
    await using p = await berth()
    const w = await whmcs(p)
    await w.call('CreateAccount')
    await p.settle()
    const customer = async () =>
      (await p.admin('GET', `/admin/customers?externalId=whmcs:${w.installation()}:4711`)).data[0]
    const edit = (email: string, client = 4711) => {
      w.change((state) =>
        Object.assign(state.tblclients.find(({ id }) => id === client)!, { email, lastname: 'Married' }),
      )
      return w.call('ClientEdit', {}, undefined, { client })
    }
    // Some releases of WHMCS keep the token encrypted.
    w.change(({ tblservers: [server] }) => Object.assign(server!, { accesshash: btoa(p.billing!) }))
    await edit('cal@new.example')
    w.change(({ tblservers: [server] }) => Object.assign(server!, { accesshash: p.billing! }))
    expect(await customer()).toMatchObject({ name: 'Cal Married', email: 'cal@new.example' })
    p.calls.length = 0
    await edit('dora@new.example', 4712)
    expect(p.calls).toEqual([])
    p.fault(
      () => true,
      () => 'hang up',
      4,
    )
    await edit('cal@third.example')
    expect(w.log()).toContain('Client 4711 was changed and Berth does not know it yet.')
    expect(await customer()).toMatchObject({ email: 'cal@new.example' })
    expect((await w.call('ServiceSingleSignOn')).success).toBe(true)
    expect(await customer()).toMatchObject({ email: 'cal@third.example' })
  }, 60_000)

  test('takes over what changed in Berth, from genuine webhooks alone', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    const port = freePort()
    const php = Bun.spawn(['php', '-S', `127.0.0.1:${port}`, '-t', w.home], {
      env: { PATH: process.env['PATH']!, ...w.env },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    try {
      const url = `http://127.0.0.1:${port}/modules/servers/berth/webhook.php`
      for (
        let i = 0;
        i < 100 &&
        !(await fetch(url).then(
          () => true,
          () => false,
        ));
        i++
      )
        await Bun.sleep(50)
      let at = 1_000
      const send = async (
        type: string,
        server: object,
        { secret = SECRET, sentAt = Date.now() / 1000, happened = ++at } = {},
      ) => {
        const created_at = new Date(happened).toISOString()
        const body = JSON.stringify({ id: 'evt_1', type, created_at, data: { server, reason: 'overdue' } })
        const facts = { deliveryId: 'dlv_1', eventId: 'evt_1', type, timestamp: Math.floor(sentAt), body }
        const answer = await fetch(url, { method: 'POST', headers: signedHeaders([secret], facts), body })
        return [answer.status, w.service().domainstatus]
      }
      await w.call('TestConnection')
      const id = w.installation()
      const ours = { id: 'srv_1', ipv4: '203.0.113.10', status: 'running', billingServiceId: `whmcs:${id}:17` }
      expect(await send('server.suspended', ours)).toEqual([200, 'Suspended'])
      expect(await send('server.unsuspended', ours)).toEqual([200, 'Active'])
      expect(await send('server.terminated', ours, { secret: 'whsec_b3RoZXI=' })).toEqual([401, 'Active'])
      expect(await send('server.terminated', ours, { sentAt: Date.now() / 1000 - 301 })).toEqual([401, 'Active'])
      for (const billingServiceId of [
        `whmcs:${id}:18`,
        'whmcs:zzzzzzzz:17',
        'whmcs:17',
        `whmcs:${id}:17\n`,
        `whmcs:${id}:addon-17`,
      ])
        expect(await send('server.terminated', { ...ours, billingServiceId })).toEqual([200, 'Active'])
      expect(await send('server.provisioned', ours)).toEqual([200, 'Active'])
      expect(w.service().dedicatedip).toBe('203.0.113.10')
      // A delivery that was tried again after a later one changes nothing; the same one twice does the same.
      expect(await send('server.suspended', ours, { happened: 1_001 })).toEqual([200, 'Active'])
      expect(await send('server.terminated', ours)).toEqual([200, 'Terminated'])
      expect(await send('server.terminated', ours, { happened: at })).toEqual([200, 'Terminated'])
      expect(await send('server.undeleted', { ...ours, id: 'srv_1' })).toEqual([200, 'Active'])
      expect(w.serverId()).toBe('srv_1')
      expect(await send('server.undeleted', { ...ours, status: 'suspended' })).toEqual([200, 'Suspended'])
      // The service has another server meanwhile.
      expect(await send('server.terminated', { ...ours, id: 'srv_0' })).toEqual([200, 'Suspended'])

      const addon = { ...ours, id: 'srv_5', ipv4: '203.0.113.11', billingServiceId: `whmcs:${id}:addon-5` }
      await send('server.provisioned', addon)
      await send('server.suspended', addon)
      expect(w.state().tblhostingaddons).toMatchObject([
        { status: 'Suspended', fields: { 'Dedicated IP': '203.0.113.11' } },
      ])
      expect([w.service().domainstatus, w.service().dedicatedip]).toEqual(['Suspended', '203.0.113.10'])
    } finally {
      php.kill()
      await php.exited
    }
  }, 60_000)
})
