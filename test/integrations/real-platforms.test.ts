// The modules inside the platforms' own open code: their base classes, finders of managers and extensions, and jobs.
// BERTH_FOSSBILLING and BERTH_PAYMENTER name checkouts, which stay as they are and are no part of the project.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Berth, berth, isPhpThere, php } from './berth.ts'
import { packaged } from './packaged.ts'

const fossbilling = process.env['BERTH_FOSSBILLING'] ?? ''
const paymenter = process.env['BERTH_PAYMENTER'] ?? ''
let scratch = ''
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'berth-platforms-'))
  mkdirSync(join(scratch, 'copies'))
})
afterAll(() => rmSync(scratch, { recursive: true }))

type Tables = Record<string, Record<string | number, any>>
type Answer = { error: string | null; answer: any }
const orders = (call: { method: string; path: string }) => call.method === 'POST' && call.path === '/admin/servers'
const serversOf = (p: Berth) =>
  p.db.$client
    .query('SELECT w.id, w.billing_service_id AS name, w.owner_id AS owner FROM workloads w JOIN servers s USING (id)')
    .all() as { id: string; name: string; owner: string }[]

const ipOf = async (p: Berth, id: string) => (await p.admin('GET', `/servers/${id}`)).ipv4 as string

describe.skipIf(!isPhpThere || fossbilling === '')('in FOSSBilling itself', () => {
  let library = ''
  beforeAll(() => {
    library = join(scratch, 'library')
    cpSync(join(fossbilling, 'src/library/Server'), join(library, 'Server'), { recursive: true })
    cpSync(join(packaged('fossbilling'), 'library'), library, { recursive: true })
    writeFileSync(join(library, 'config.php'), '<?php return [];')
  })
  const client = (id: number, email: string, name = 'Cal') => ({
    id,
    email,
    first_name: name,
    last_name: 'Customer',
    company: null,
  })
  const order = (id: number, clientId: number, name = `web${id}`) => ({
    id,
    client_id: clientId,
    service_type: 'hosting',
    service_id: null,
    status: 'pending_setup',
    product_id: null,
    period: null,
    expires_at: null,
    config: JSON.stringify({ server_id: 1, hosting_plan_id: 1, sld: name, tld: '.example.com' }),
  })
  const plan = (id: number, pack: string, location: string) => ({
    id,
    name: `Plan ${id}`,
    config: JSON.stringify({ berth_package: pack, berth_location: location }),
  })
  /** A FOSSBilling with its tables. */
  function open(p: Berth, url = 'https://billing.example/') {
    const panel = {
      id: 1,
      name: 'Berth',
      manager: 'Berth',
      hostname: '127.0.0.1',
      port: p.port,
      secure: 0,
      ip: '192.0.2.1',
      accesshash: p.billing,
    }
    const shop = {
      db: {
        Client: { 7: client(7, 'cal@billing.example') },
        ClientOrder: { 81: order(81, 7) },
        ServiceHostingServer: { 1: panel },
        ServiceHostingHp: { 1: plan(1, p.pack, p.location), 2: plan(2, p.larger, p.location) },
      } as Tables,
      run: (action: string, more: object = {}): Promise<Answer & { db: Tables }> =>
        php(
          'test/integrations/platforms/real/fossbilling.php',
          { action, db: shop.db, order: 81, ...more },
          { BERTH_FOSSBILLING: fossbilling, LIBRARY: library, COPIES: join(scratch, 'copies'), SYSTEM_URL: url },
        ),
      async call(action: string, more: object = {}): Promise<Answer> {
        const { db, ...said } = await shop.run(action, more)
        shop.db = db
        await p.settle()
        return said
      },
      async done(action: string, more: object = {}) {
        const { error, answer } = await shop.call(action, more)
        expect([action, error]).toEqual([action, null])
        return answer
      },
      /** The record of order 81, as its pages show it. */
      shown: () => shop.db['ServiceHosting']![shop.db['ClientOrder']![81].service_id],
    }
    return shop
  }

  test('the page for a new server lists every manager with its label, and Berth with its fields', async () => {
    await using p = await berth()
    const managers = await open(p).done('managers')
    for (const [name, form] of Object.entries<any>(managers))
      expect([name, typeof form.label]).toEqual([name, 'string'])
    expect(managers.Berth.form.credentials.fields.map((field: any) => field.name)).toEqual(['accesshash', 'username'])
    expect(managers.Berth.form.credentials.fields[1].placeholder).toMatch(/[a-z2-9]{8}@billing\.example/)
    expect(await open(p).done('secrets')).toContain('accesshash')
  }, 60_000)

  test('a service goes from its order to its cancellation and back, and shows the address of its server', async () => {
    await using p = await berth()
    const shop = open(p)
    expect(await shop.done('test')).toBe(true)
    expect((await shop.done('page'))[0]).toContain('http://127.0.0.1')
    await shop.done('create')
    const [server] = serversOf(p)
    expect(server!.name).toMatch(/^fossbilling:[a-z2-9]{8}:81$/)
    expect(shop.shown().ip).toBe(await ipOf(p, server!.id))
    expect((await p.admin('GET', `/customers/${server!.owner}`)).externalId).toMatch(/^fossbilling:[a-z2-9]{8}:7$/)
    const setup = { imageId: p.image, hostname: 'web81', access: { mode: 'password' } }
    await p.admin('POST', `/servers/${server!.id}/actions/setup`, setup)
    await p.settle()
    await shop.done('suspend')
    expect(p.server(server!.id).status).toBe('suspended')
    await shop.done('unsuspend')
    await shop.done('upgrade', { plan: 2 })
    expect(p.server(server!.id).packageId).toBe(p.larger)
    shop.db['ServiceHosting']![shop.shown().id].ip = '198.51.100.9'
    await shop.done('sync')
    expect(shop.shown().ip).toBe(await ipOf(p, server!.id))
    expect(await shop.done('link')).toStartWith('https://panel.test')
    for (const _ of [1, 2]) await shop.done('terminate')
    expect(p.server(server!.id).status).toBe('terminated')
    await shop.done('uncancel')
    expect(serversOf(p)).toHaveLength(2)
    expect(shop.shown().ip).toBe(await ipOf(p, serversOf(p)[1]!.id))
  }, 60_000)

  test('an order is one server, also when its answer is lost and it is activated three times at once', async () => {
    await using p = await berth()
    const shop = open(p)
    p.fault(orders, () => 'lose', 4)
    expect((await shop.call('create')).error).toContain('what was done already is not done twice')
    expect([shop.db['ClientOrder']![81].status, serversOf(p).length]).toEqual(['failed_setup', 1])
    const said = await Promise.all([1, 2, 3].map(() => shop.run('create')))
    expect(said.map(({ error }) => error)).toEqual([null, null, null])
    expect(serversOf(p)).toHaveLength(1)
  }, 60_000)

  test('a client with an address that another had before gets an account of its own, or a refusal', async () => {
    await using p = await berth()
    const shop = open(p)
    await shop.done('create')
    // The first client took another address, and somebody new signs up with the old one.
    shop.db['Client']![7].email = 'cal.new@billing.example'
    shop.db['Client']![8] = client(8, 'cal@billing.example', 'Eve')
    shop.db['ClientOrder']![82] = order(82, 8)
    expect((await shop.call('create', { order: 82 })).error).toContain('email_taken')
    expect(serversOf(p)).toHaveLength(1)
    // Any call for the first client brings its new address, which frees the old one.
    await shop.done('link')
    await shop.done('create', { order: 82 })
    const [first, second] = serversOf(p)
    expect(first!.owner === second!.owner).toBe(false)
    expect((await p.admin('GET', `/customers/${first!.owner}`)).email).toBe('cal.new@billing.example')
  }, 60_000)

  test('orders of one run, of one domain and of two installations do not meet', async () => {
    await using p = await berth()
    const shop = open(p)
    shop.db['ClientOrder']![82] = order(82, 7)
    shop.db['ClientOrder']![83] = order(83, 7, 'web82')
    await shop.done('createAll', { orders: [81, 82, 83] })
    expect(new Set(serversOf(p).map(({ name }) => name.split(':')[2]))).toEqual(new Set(['81', '82', '83']))
    expect(new Set(serversOf(p).map(({ owner }) => owner)).size).toBe(1)
    const second = open(p, 'https://other.example/')
    second.db['Client']![7].email = 'other@billing.example'
    await second.done('create')
    expect(new Set(serversOf(p).map(({ name }) => name)).size).toBe(4)
    const copy = open(p, 'https://staging.example/')
    copy.db = structuredClone(shop.db)
    expect((await copy.call('terminate')).error).toContain('belongs to billing.example')
    expect(p.server(serversOf(p)[0]!.id).status).not.toBe('terminated')
  }, 60_000)

  test('what an earlier module ordered is taken over by its client', async () => {
    await using p = await berth()
    const shop = open(p)
    const body = { name: 'Cal Customer', email: 'cal@billing.example', externalId: 'fossbilling:cal@billing.example' }
    const { id: ownerId } = await p.admin('POST', '/admin/customers', body)
    const service = {
      packageId: p.pack,
      nodeGroupId: p.location,
      ownerId,
      billingServiceId: 'fossbilling:b0123456789abcd',
    }
    const { serverId } = await p.admin('POST', '/admin/servers', service)
    shop.db['ServiceHosting'] = {
      17: {
        id: 17,
        client_id: 7,
        service_hosting_server_id: 1,
        service_hosting_hp_id: 1,
        username: 'b0123456789abcd',
        sld: 'web81',
        tld: '.example.com',
        ip: '192.0.2.1',
        reseller: 0,
      },
    }
    Object.assign(shop.db['ClientOrder']![81], { service_id: 17, status: 'active' })
    await shop.done('suspend')
    expect(p.server(serverId).status).toBe('suspended')
    expect(serversOf(p)[0]!.name).toMatch(/^fossbilling:[a-z2-9]{8}:81$/)
  }, 60_000)
})

describe.skipIf(!isPhpThere || paymenter === '')('in Paymenter itself', () => {
  let library = ''
  beforeAll(() => {
    library = join(scratch, 'paymenter')
    cpSync(join(paymenter, 'extensions/Servers'), join(library, 'extensions/Servers'), { recursive: true })
    cpSync(join(packaged('paymenter'), 'Berth'), join(library, 'extensions/Servers/Berth'), { recursive: true })
    mkdirSync(join(library, 'vendor/composer'), { recursive: true })
    writeFileSync(join(library, 'vendor/composer/autoload_classmap.php'), '<?php return [];')
  })
  /** A Paymenter with its tables. */
  function open(p: Berth, url = 'https://billing.example') {
    const shop = {
      db: {
        users: { 7: { name: 'Cal Customer', email: 'cal@billing.example' } },
        services: { 17: { user: 7, product: 1 }, 18: { user: 7, product: 1 }, 19: { user: 7, product: 3 } },
        products: {
          1: { package: p.pack, location: p.location, image: p.image },
          2: { package: p.larger, location: p.location, image: p.image },
          3: { package: p.pack, location: p.location, image: 'none' },
        },
        // A field of the checkout that the client left empty.
        properties: { 17: { hostname: '' }, 18: {}, 19: {} },
        server: { host: `http://127.0.0.1:${p.port}`, token: p.billing, installation: null },
        settings: {},
      } as Tables,
      run: (action: string, service = 17): Promise<Answer & { db: Tables }> =>
        php(
          'test/integrations/platforms/real/paymenter.php',
          { action, db: shop.db, service },
          { BERTH_PAYMENTER: paymenter, LIBRARY: library, COPIES: join(scratch, 'copies'), APP_URL: url },
        ),
      async call(action: string, service = 17): Promise<Answer> {
        const { db, ...said } = await shop.run(action, service)
        shop.db = db
        await p.settle()
        return said
      },
      async done(action: string, service = 17) {
        const { error, answer } = await shop.call(action, service)
        expect([action, error]).toEqual([action, null])
        return answer
      },
    }
    return shop
  }

  test('the extension is found among its own, with its settings and the options of products', async () => {
    await using p = await berth()
    const shop = open(p)
    const found = (await shop.done('extensions')).find(({ name }: { name: string }) => name === 'Berth')
    expect(found).toMatchObject({ type: 'server', meta: { name: 'Berth' } })
    const config = await shop.done('config')
    expect(config.map((field: any) => field.name)).toEqual(['host', 'token', 'installation'])
    expect(config[2].description).toMatch(/[a-z2-9]{8}@billing\.example/)
    expect(await shop.done('test')).toBe(true)
    expect((await shop.done('options')).map((field: any) => field.name)).toEqual(['package', 'location', 'image'])
    expect(await shop.done('checkout')).toMatchObject([{ name: 'hostname', required: false, default: '' }])
  }, 60_000)

  test('a service goes through the jobs of its queue, and shows where its server is', async () => {
    await using p = await berth()
    const shop = open(p)
    const [mail] = await shop.done('create')
    const [server] = serversOf(p)
    const ip = await ipOf(p, server!.id)
    expect(mail).toMatchObject({
      mail: 'serverCreatedNotification',
      data: { hostname: 'server17', ip, username: 'root' },
    })
    expect(mail.data.password).toMatch(/^\S{16,}$/)
    expect(server!.name).toMatch(/^paymenter:[a-z2-9]{8}:17$/)
    const page = await shop.done('page')
    expect(page.fields.map((field: any) => [field.label, field.text])).toEqual([
      ['Hostname', 'server17'],
      ['Address', ip],
      ['User', 'root'],
    ])
    expect(page.buttons).toHaveLength(1)
    await shop.done('suspend')
    expect(p.server(server!.id).status).toBe('suspended')
    await shop.done('unsuspend')
    shop.db['services']![17].product = 2
    await shop.done('upgrade')
    expect(p.server(server!.id).packageId).toBe(p.larger)
    expect(await shop.done('link')).toStartWith('https://panel.test')
    for (const _ of [1, 2]) await shop.done('terminate')
    expect(p.server(server!.id).status).toBe('terminated')
    expect((await shop.done('page')).fields).toEqual([])
    await shop.done('create')
    expect(serversOf(p)).toHaveLength(2)
  }, 60_000)

  test('services of a new client that are made at once have one customer, and one job is one server', async () => {
    await using p = await berth()
    const shop = open(p)
    // It was opened once, when the server was added.
    await shop.done('config')
    const said = await Promise.all([17, 17, 17, 18, 19].map((service) => shop.run('create', service)))
    expect(said.map(({ error }) => error)).toEqual([null, null, null, null, null])
    const passwords = said.slice(0, 3).map(({ answer }) => answer[0].data.password)
    expect(new Set(passwords).size).toBe(1)
    expect([serversOf(p).length, new Set(serversOf(p).map(({ owner }) => owner)).size]).toEqual([3, 1])
  }, 60_000)

  test('a changed address reaches Berth from the queue, and a copy of the installation changes nothing', async () => {
    await using p = await berth()
    const shop = open(p)
    await shop.done('create')
    shop.db['users']![7] = { name: 'Cal King', email: 'king@billing.example' }
    expect(await shop.done('changed')).toBe(1)
    const [server] = serversOf(p)
    const customer = await p.admin('GET', `/customers/${server!.owner}`)
    expect([customer.name, customer.email]).toEqual(['Cal King', 'king@billing.example'])
    const copy = open(p, 'https://staging.example')
    copy.db = structuredClone(shop.db)
    expect((await copy.call('terminate')).error).toContain('belongs to billing.example')
    const id = server!.name.split(':')[1]!
    copy.db['server']!['installation'] = 'staging2'
    expect((await copy.call('terminate')).error).toContain('instead of paymenter:staging2:17')
    expect(p.server(server!.id).status).toBe('running')
    // One that has moved is the same as before.
    const moved = open(p, 'https://new.example')
    moved.db = structuredClone(shop.db)
    moved.db['server']!['installation'] = id
    await moved.done('suspend')
    expect(p.server(server!.id).status).toBe('suspended')
  }, 60_000)
})
