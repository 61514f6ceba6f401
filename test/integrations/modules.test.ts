// The modules for FOSSBilling, Paymenter and Blesta under real PHP, against a running Berth with a fake node: the same
// promises for each.
import { describe, expect, test } from 'bun:test'
import { presets } from '../../src/identity/tokens/presets.ts'
import { type Berth, berth, isPhpThere, php, refusal } from './berth.ts'
import { packaged } from './packaged.ts'

type Answer = { error: string | null; answer: unknown }
/** `timeout`: how long the module bears a silence, in seconds. */
type More = { token?: string; pack?: string; timeout?: number }
type Shop = {
  call(action: string, more?: More): Promise<Answer>
  /** Everything that the platform stores in plain text or logs. */
  stored(): string
}
type Platform = {
  name: string
  /** Berth's customer is called so. */
  externalId: string
  open(p: Berth): Shop
  /** Hands the root password to the client. */
  hasPassword: boolean
}
const folder = (name: string, timeout = 0) => ({
  MODULE: packaged(name),
  ...(timeout && { TIMEOUT: String(timeout) }),
})
const script = (name: string) => `test/integrations/platforms/${name}.php`

const platforms: Platform[] = [
  {
    name: 'FOSSBilling',
    externalId: 'fossbilling:k3v9x2ab:4711',
    hasPassword: false,
    open(p) {
      let db: Record<string, Record<string, unknown>> = {
        setting: { berth_installation: 'k3v9x2ab@billing.example' },
        Client: { 4711: { id: 4711, name: 'Cal Customer', email: 'cal@example.com', company: null } },
        ClientOrder: { 81: { id: 81, client_id: 4711, service_id: 17 } },
        // Before it is activated, a service has the address of the panel.
        ServiceHosting: {
          17: { id: 17, client_id: 4711, username: null, sld: 'web17', tld: '.example.com', ip: '192.0.2.1' },
        },
      }
      return {
        async call(action, { token = p.billing, pack = p.pack, timeout } = {}) {
          const options = { host: '127.0.0.1', port: p.port, secure: false, accesshash: token }
          const plan = { berth_package: pack, berth_location: p.location }
          const said = await php(script('fossbilling'), { action, options, db, plan }, folder('fossbilling', timeout))
          db = said.db
          return said
        },
        stored: () => JSON.stringify(db),
      }
    },
  },
  {
    name: 'Paymenter',
    externalId: 'paymenter:k3v9x2ab:4711',
    hasPassword: true,
    open(p) {
      let properties: Record<string, string> = { hostname: '' }
      return {
        async call(action, { token = p.billing, pack = p.pack, timeout } = {}) {
          const config = { host: `http://127.0.0.1:${p.port}`, token }
          const settings = { package: pack, location: p.location, image: p.image }
          const said = await php(
            script('paymenter'),
            { action, config, settings, properties },
            folder('paymenter', timeout),
          )
          properties = said.properties
          return said
        },
        stored: () => JSON.stringify(properties),
      }
    },
  },
  {
    name: 'Blesta',
    externalId: 'blesta:abcd2345:4711',
    hasPassword: true,
    open(p) {
      let fields: { key: string; value: string; encrypted: number }[] = []
      let logged: string[] = []
      return {
        async call(action, { token = p.billing, pack = p.pack, timeout } = {}) {
          const installation = 'abcd2345@billing.example.com'
          const row = { panel_name: 'Frankfurt', address: `http://127.0.0.1:${p.port}`, token, installation }
          const meta = { package: pack, location: p.location, image: p.image }
          const order = { use_module: 'true', berth_hostname: 'web17.example.com', berth_service: '5e41ce17' }
          const vars = action === 'test' ? row : order
          const said = await php(script('blesta'), { action, row, meta, fields, vars }, folder('blesta', timeout))
          if (action === 'create' && said.answer) fields = said.answer
          logged = [...logged, ...said.log]
          return said
        },
        stored: () => JSON.stringify([fields.filter((field) => !field.encrypted), logged]),
      }
    },
  },
]

const only = (p: Berth) => p.server((p.db.$client.query('SELECT id FROM servers').get() as { id: string }).id)
const orders = (call: { method: string; path: string }) => call.method === 'POST' && call.path === '/admin/servers'

for (const { name, externalId, open, hasPassword } of platforms)
  describe.skipIf(!isPhpThere)(`the module for ${name}`, () => {
    test('carries a service from its order to its termination', async () => {
      await using p = await berth()
      const shop = open(p)
      const done = async (action: string, more = {}) => {
        const { error, answer } = await shop.call(action, more)
        expect([action, error]).toEqual([action, null])
        await p.settle()
        return answer
      }
      await done('test')
      const made = await done('create')
      expect(only(p)).toMatchObject({ status: hasPassword ? 'running' : 'pending_setup' })
      expect((await p.admin('GET', `/admin/customers?externalId=${externalId}`)).data).toMatchObject([
        { email: 'cal@example.com' },
      ])
      const password = /\b[A-Za-z2-9]{20}(?=")/.exec(JSON.stringify(made))?.[0]
      expect(password !== undefined).toBe(hasPassword)
      if (password) expect(shop.stored()).not.toContain(password)
      expect(shop.stored()).not.toContain(p.billing)
      if (!hasPassword) {
        const access = { mode: 'password' }
        await p.admin('POST', `/servers/${only(p).id}/actions/setup`, { imageId: p.image, hostname: 'web17', access })
        await p.settle()
      }

      for (const _ of [1, 2]) await done('suspend')
      expect(only(p).status).toBe('suspended')
      for (const _ of [1, 2]) await done('unsuspend')
      expect(only(p).status).toBe('running')
      await done('upgrade', { pack: p.larger })
      expect(only(p)).toMatchObject({ packageId: p.larger, memoryMb: 4096, diskGb: 40 })
      expect((await shop.call('upgrade')).error).toContain('A disk cannot shrink')
      if (name === 'Blesta') {
        await p.admin('POST', `/servers/${only(p).id}/bandwidth`, { action: 'add', gb: 500 })
        expect(await done('status')).toMatch(/0\.0 GB, (not limited|of \d+ GB)/)
      }
      expect(JSON.stringify(await done('link'))).toMatch(/https:\\?\/\\?\/panel\.test/)
      for (const _ of [1, 2]) await done('terminate')
      expect(only(p).status).toBe('terminated')
    }, 60_000)

    test('orders one server when an answer is lost, also when it is run again', async () => {
      await using p = await berth()
      const shop = open(p)
      p.fault(orders, () => 'lose')
      expect((await shop.call('create')).error).toBeNull()
      expect(new Set(p.calls.filter(orders).map(({ key }) => key)).size).toBe(1)
      expect((await shop.call('create')).error).toBeNull()
      expect(p.servers()).toBe(1)
    }, 60_000)

    test('says in words what is refused, and what to do', async () => {
      await using p = await berth()
      const shop = open(p)
      await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [] })
      expect((await shop.call('create')).error).toMatch(/^Berth: .*Out of stock.*\(no_addresses, request .+\)$/)
      expect((await shop.call('create', { token: 'pnl_wrong' })).error).toContain('Check the token')
      expect(p.servers()).toBe(0)
      const weak = p.token(
        p.owner.id,
        presets.billing.filter((scope) => scope !== 'servers:resize'),
      ).token!
      const tested = await shop.call('test', { token: weak })
      expect(tested.error ?? tested.answer).toBe('Berth: the token lacks servers:resize.')
    }, 60_000)

    test('waits a moment for 429, and tells of 503 and of nothing', async () => {
      await using p = await berth()
      const shop = open(p)
      p.fault(orders, refusal(429, 'rate_limited', 'Too many calls.', { 'Retry-After': '0' }))
      p.fault((call) => orders(call), refusal(503, 'restarting', 'Berth is restarting.', { 'Retry-After': '60' }))
      expect((await shop.call('create')).error).toContain('Berth is restarting. Run the action again in a minute.')
      expect(p.servers()).toBe(0)
      p.fault(orders, () => 'hang up', 4)
      expect((await shop.call('create')).error).toContain('what was done already is not done twice')
      expect((await shop.call('create')).error).toBeNull()
      expect(p.servers()).toBe(1)
    }, 60_000)

    test('ends a call that gets no answer, and orders one server when it comes back', async () => {
      await using p = await berth()
      const shop = open(p)
      p.fault(
        () => true,
        () => 'hang',
        4,
      )
      const { error } = await shop.call('create', { timeout: 0.3 })
      expect(error).toMatch(
        /^Berth: There was no answer \(.*timed out.*\)\. Run the action again: what was done already is/,
      )
      expect([p.calls.length, p.servers()]).toEqual([4, 0])
      p.fault(orders, () => 'silence')
      expect((await shop.call('create', { timeout: 1.5 })).error).toBeNull()
      const placed = p.calls.filter(orders)
      expect([placed.length > 1, new Set(placed.map(({ key }) => key)).size, p.servers()]).toEqual([true, 1, 1])
    }, 60_000)
  })

describe.skipIf(!isPhpThere)('more of', () => {
  test('Paymenter: an empty hostname is none, and its page shows where the server is', async () => {
    await using p = await berth()
    const shop = platforms[1]!.open(p)
    await shop.call('create')
    expect((await shop.call('actions')).answer).toMatchObject([
      { type: 'text', label: 'Hostname', text: 'server17' },
      { type: 'text', label: 'Address', text: '203.0.113.10' },
      { type: 'text', label: 'User', text: 'root' },
      { type: 'button' },
    ])
  }, 60_000)
  test('FOSSBilling: a service has the address of its server once it is ordered', async () => {
    await using p = await berth()
    const shop = platforms[0]!.open(p)
    await shop.call('create')
    expect(shop.stored()).toContain('"ip":"203.0.113.10"')
  }, 60_000)
  test('FOSSBilling: the state is synchronized, and a password is not set from outside', async () => {
    await using p = await berth()
    const shop = platforms[0]!.open(p)
    await shop.call('create')
    await p.admin('POST', `/servers/${only(p).id}/actions/suspend`, { reason: 'by hand' })
    expect((await shop.call('status')).answer).toMatchObject({ ip: '203.0.113.10', suspended: true })
    expect((await shop.call('password')).error).toContain('sets no password from outside')
  }, 60_000)
  test('Paymenter and Blesta: the options of a product come from Berth', async () => {
    await using p = await berth()
    for (const platform of platforms.slice(1)) {
      const { answer } = await platform.open(p).call('options')
      expect((answer as { options: object }[]).map(({ options }) => Object.values(options))).toEqual([
        ['KVM 2G', 'KVM 4G'],
        ['Frankfurt'],
        ['None: the client chooses it', 'Debian 13'],
      ])
    }
  }, 60_000)
})
