// The WHMCS module under real PHP, against a running Berth with a fake node.
import { afterAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signedHeaders } from '../../src/billing/webhooks/signature.ts'
import { presets } from '../../src/identity/tokens/presets.ts'
import { freePort } from '../support/world/program.ts'
import { type Berth, berth, isPhpThere, php, refusal } from './berth.ts'

const SECRET = 'whsec_c2VjcmV0'
const root = mkdtempSync(join(tmpdir(), 'berth-whmcs-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A WHMCS with one service, whose product orders the package of this Berth. */
async function whmcs(p: Berth) {
  const home = mkdtempSync(join(root, 'one-'))
  const folder = join(home, 'modules/servers/berth')
  mkdirSync(folder, { recursive: true })
  cpSync('integrations/whmcs/berth', folder, { recursive: true })
  writeFileSync(
    join(home, 'init.php'),
    `<?php require '${process.cwd()}/test/integrations/platforms/whmcs-standin.php';`,
  )
  const stateFile = join(home, 'state.json')
  const service = { id: 17, server: 3, status: 'Pending', dedicatedip: '', bwusage: 0, bwlimit: 0, disklimit: 0 }
  const state = {
    tblhosting: [service],
    tblservers: [{ id: 3, type: 'berth', password: btoa(SECRET) }],
    properties: {} as Record<string, string>,
  }
  writeFileSync(stateFile, JSON.stringify(state))
  const env = { STANDIN_STATE: stateFile, MODULE: folder }
  const params = {
    serviceid: 17,
    userid: 4711,
    serverid: 3,
    domain: 'web17.example.com',
    serverhostname: '127.0.0.1',
    serverport: String(p.port),
    serversecure: false,
    serveraccesshash: p.billing,
    configoption1: p.pack,
    configoption2: p.location,
    configoption3: p.image,
    configoptions: {},
    clientsdetails: { firstname: 'Cal', lastname: 'Customer', email: 'cal@example.com', companyname: '' },
  }
  return {
    env,
    home,
    /** `timeout`: how long the module bears a silence, in seconds. */
    call: (name: string, more: object = {}, timeout?: number) =>
      php(
        'test/integrations/platforms/whmcs.php',
        { function: name, params: { ...params, ...more } },
        { ...env, ...(timeout && { TIMEOUT: String(timeout) }) },
      ),
    state: () => JSON.parse(readFileSync(stateFile, 'utf8')) as typeof state,
    log: () => readFileSync(`${stateFile}.log`, 'utf8'),
  }
}
const serverOf = (p: Berth, state: { properties: Record<string, string> }) =>
  p.server(state.properties['Berth server']!)

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
  }, 30_000)

  test('carries a service from its order to its termination', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    expect(await w.call('CreateAccount')).toBe('success')
    await p.settle()
    const { properties } = w.state()
    expect(properties['Password']).toMatch(/^[A-Za-z2-9]{20}$/)
    expect(properties).toMatchObject({ 'Dedicated IP': '203.0.113.10', Username: 'root' })
    expect(serverOf(p, w.state())).toMatchObject({ status: 'running', hostname: 'web17.example.com' })
    expect((await p.admin('GET', '/admin/customers?externalId=whmcs:4711')).data).toMatchObject([
      { name: 'Cal Customer', email: 'cal@example.com' },
    ])

    expect(await w.call('SuspendAccount', { suspendreason: 'Invoice 2041 is overdue' })).toBe('success')
    await p.settle()
    expect(serverOf(p, w.state())).toMatchObject({ status: 'suspended', suspendReason: 'Invoice 2041 is overdue' })
    expect(await w.call('SuspendAccount')).toBe('success')
    expect(await w.call('UnsuspendAccount')).toBe('success')
    expect(await w.call('UnsuspendAccount')).toBe('success')
    await p.settle()
    expect(serverOf(p, w.state()).status).toBe('running')

    expect(await w.call('ChangePackage', { configoption1: p.larger })).toBe('success')
    await p.settle()
    expect(serverOf(p, w.state())).toMatchObject({ packageId: p.larger, memoryMb: 4096 })
    expect(await w.call('ChangePackage', { configoptions: { Package: 'KVM 2G' } })).toContain('A disk cannot shrink')

    for (const [button, status] of [
      ['ShutDown', 'stopped'],
      ['Start', 'running'],
      ['Restart', 'running'],
    ] as const) {
      expect(await w.call(button)).toBe('success')
      await p.settle()
      expect(serverOf(p, w.state()).status).toBe(status)
    }
    expect(await w.call('AdminServicesTabFields')).toMatchObject({ State: 'running', Location: 'Frankfurt' })
    expect((await w.call('ClientArea')).vars.server.name).toBe('web17.example.com')
    // Nothing was measured yet: what WHMCS has stays, and is not overwritten with 0.
    expect(await w.call('UsageUpdate')).toBe('success')
    expect(w.state().tblhosting[0]).toMatchObject({ bwusage: 0 })
    p.db.$client.run('INSERT INTO traffic_days SELECT id, ?, owner_id, 3000000000, 1500000000, 3600 FROM workloads', [
      Math.floor(p.now() / 86_400_000),
    ])
    expect(await w.call('UsageUpdate')).toBe('success')
    expect(w.state().tblhosting[0]).toMatchObject({ bwusage: 4500 })
    expect(w.state().tblhosting[0]).toMatchObject({ disklimit: 40 * 1024 })
    expect((await w.call('ListAccounts')).accounts).toMatchObject([{ domain: 'web17.example.com', status: 'Active' }])
    expect((await w.call('ServiceSingleSignOn')).redirectTo).toMatch(/^https:\/\/panel\.test\//)

    // The preset has no right to it; a token that has it resets the password, which is stored with the service.
    const before = w.state().properties['Password']
    expect(await w.call('ResetPassword')).toContain('missing_scope')
    expect(w.state().properties['Password']).toBe(before!)
    const serveraccesshash = p.token(p.owner.id, [...presets.billing, 'servers:settings']).token
    expect(await w.call('ResetPassword', { serveraccesshash })).toBe('success')
    await p.settle()
    const after = w.state().properties['Password']!
    expect(after).toMatch(/^[A-Za-z2-9]{20}$/)
    expect(after).not.toBe(before!)
    expect(p.node.agent.host.guestAgent.password(w.state().properties['Berth server']!)).toStartWith('$6$')

    const id = w.state().properties['Berth server']!
    expect(await w.call('TerminateAccount')).toBe('success')
    await p.settle()
    expect(p.server(id).status).toBe('terminated')
    // The same service can be ordered anew on the same day.
    expect(await w.call('CreateAccount')).toBe('success')
    await p.settle()
    expect(w.state().properties['Berth server']).not.toBe(id)
    expect(serverOf(p, w.state()).status).toBe('running')
    expect(w.log()).not.toContain(p.billing)
    expect(w.log()).not.toContain(w.state().properties['Password']!)
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
    expect(serverOf(p, w.state())).toMatchObject({ status: 'running', resellerId: rita.id })
    await done('SuspendAccount')
    await done('UnsuspendAccount')
    await done('ChangePackage', { configoption1: p.larger })
    await done('UsageUpdate')
    const id = w.state().properties['Berth server']!
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
    expect(serverOf(p, w.state()).status).toBe('pending_setup')
  }, 30_000)

  test('orders one server when the answer is lost, and when Create is run twice', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    p.fault(
      (call) => call.path === '/admin/servers' && call.method === 'POST',
      () => 'lose',
    )
    expect(await w.call('CreateAccount')).toBe('success')
    const { properties } = w.state()
    expect(properties['Password']).toMatch(/^[A-Za-z2-9]{20}$/)
    expect(
      new Set(p.calls.filter((c) => c.method === 'POST' && c.path === '/admin/servers').map((c) => c.key)).size,
    ).toBe(1)
    expect(await w.call('CreateAccount')).toBe('success')
    expect([p.servers(), w.state().properties['Berth server']]).toEqual([1, properties['Berth server']!])
  }, 30_000)

  const orders = (call: { method: string; path: string }) => call.method === 'POST' && call.path === '/admin/servers'
  test('says in words why an order is refused, and orders nothing', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    await p.admin('PATCH', `/admin/node-groups/${p.location}`, { open: false })
    expect(await w.call('CreateAccount')).toMatch(
      /^Berth: Frankfurt is closed for new servers.*location_closed, request/,
    )
    await p.admin('PATCH', `/admin/node-groups/${p.location}`, { open: true })
    await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [] })
    expect(await w.call('CreateAccount')).toContain('Out of stock: add an address pool')
    expect(p.servers()).toBe(0)
    const weak = p.token(
      p.owner.id,
      presets.billing.filter((scope) => scope !== 'servers:create'),
    ).token
    expect((await w.call('TestConnection', { serveraccesshash: weak })).error).toBe(
      'Berth: the token lacks servers:create.',
    )
    expect(await w.call('CreateAccount', { serveraccesshash: 'pnl_wrong' })).toContain('Check the token')
  }, 30_000)

  test('waits as long as Berth asks for a moment, and tells when it takes longer', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    p.fault(orders, refusal(429, 'rate_limited', 'Too many calls.', { 'Retry-After': '1' }))
    expect(await w.call('CreateAccount')).toBe('success')
    const busy = () =>
      p.fault((c) => c.method === 'DELETE', refusal(503, 'restarting', 'Berth is restarting.', { 'Retry-After': '60' }))
    busy()
    expect(await w.call('TerminateAccount')).toBe(
      'Berth: Berth is restarting. Run the action again in a minute. (restarting, request req-1)',
    )
    expect(await w.call('TerminateAccount')).toBe('success')
  }, 30_000)

  test('tells when nobody answers, and a later try goes on', async () => {
    await using p = await berth()
    const w = await whmcs(p)
    p.fault(orders, () => 'hang up', 99)
    const said = await w.call('CreateAccount')
    expect(said).toContain('There was no answer')
    expect(said).toContain('Run the action again: what was done already is not done twice.')
    expect([p.servers(), p.calls.filter(orders).length]).toEqual([0, 4])
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
    p.fault(orders, () => 'silence')
    expect(await w.call('CreateAccount', {}, 1.5)).toBe('success')
    const placed = p.calls.filter(orders)
    expect([placed.length > 1, new Set(placed.map(({ key }) => key)).size, p.servers()]).toEqual([true, 1, 1])
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
      const send = async (type: string, server: object, secret = SECRET, at = Date.now() / 1000) => {
        const body = JSON.stringify({ id: 'evt_1', type, created_at: '', data: { server, reason: 'overdue' } })
        const facts = { deliveryId: 'dlv_1', eventId: 'evt_1', type, timestamp: Math.floor(at), body }
        const answer = await fetch(url, { method: 'POST', headers: signedHeaders([secret], facts), body })
        return [answer.status, w.state().tblhosting[0]!.status]
      }
      const ours = { id: 'srv_1', ipv4: '203.0.113.10', billingServiceId: 'whmcs:17' }
      expect(await send('server.suspended', ours)).toEqual([200, 'Suspended'])
      expect(await send('server.unsuspended', ours)).toEqual([200, 'Active'])
      expect(await send('server.terminated', ours, 'whsec_b3RoZXI=')).toEqual([401, 'Active'])
      expect(await send('server.terminated', ours, SECRET, Date.now() / 1000 - 301)).toEqual([401, 'Active'])
      expect(await send('server.terminated', { ...ours, billingServiceId: 'whmcs:18' })).toEqual([200, 'Active'])
      expect(await send('server.provisioned', ours)).toEqual([200, 'Active'])
      expect(w.state().tblhosting[0]!.dedicatedip).toBe('203.0.113.10')
      expect(await send('server.terminated', ours)).toEqual([200, 'Terminated'])
    } finally {
      php.kill()
      await php.exited
    }
  }, 30_000)
})
