// The monthly check of finance: every difference between their list and the servers, and nothing else.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gpuWorld, orderInstance } from '../../support/nodes/instances.ts'
import { type World, world } from '../../support/world/panel.ts'

let p: World
const ids: Record<string, string> = {}
beforeAll(async () => {
  p = await world()
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { billingProductId: 'shop:1' })
  await p.admin('PATCH', `/customers/${p.customer.id}`, { externalId: 'client-1' })
  for (const name of ['same', 'suspended', 'product', 'owner', 'forgotten', 'gone']) {
    const order = { ...p.order, hostname: name, billingServiceId: `s-${name}` }
    ids[name] = (await p.admin('POST', '/admin/servers', order)).serverId
    await p.settle()
  }
  await p.admin('POST', `/servers/${ids['suspended']}/actions/suspend`, { reason: 'overdue' })
  await p.admin('DELETE', `/servers/${ids['gone']}`)
  await p.settle()
}, 60_000)
afterAll(() => p.close())

const whole = { ownerExternalId: 'client-1', billingProductId: 'shop:1', state: 'active' }
const list = () => [
  { billingServiceId: 's-same', ...whole },
  { billingServiceId: 's-suspended', ...whole },
  { serverId: ids['product'], ...whole, billingProductId: 'shop:2' },
  { billingServiceId: 's-owner', ...whole, ownerExternalId: 'client-9' },
  { billingServiceId: 's-gone', ...whole },
  { billingServiceId: 's-never', ...whole },
  { billingServiceId: 's-cancelled', ...whole, state: 'terminated' },
  { serverId: ids['same'], state: 'active' },
]
const check = (body: object, who: object = p.owner) => p.call(who, 'POST', '/usage/reconciliation', body)
const kinds = (body: any) => body.differences.map((d: any) => [d.kind, d.line, d.hostname])
const expected = [
  ['other_state', 2, 'suspended'],
  ['other_product', 3, 'product'],
  ['other_owner', 4, 'owner'],
  ['missing_here', 5, null],
  ['missing_here', 6, null],
  ['listed_twice', 8, 'same'],
  ['missing_there', null, 'forgotten'],
]

describe('a reconciliation', () => {
  test('answers every difference, with both values and in words', async () => {
    const { status, body } = await check({ services: list() })
    expect([status, body.listed, body.servers]).toEqual([200, 8, 5])
    expect(kinds(body)).toEqual(expected)
    const [state, product, owner, gone, never] = body.differences
    expect([state.there, state.here]).toEqual(['active', 'suspended'])
    expect([product.there, product.here]).toEqual(['shop:2', 'shop:1'])
    expect(owner.words).toBe('The owner of owner is client-9 in the list and client-1 here.')
    expect(gone.words).toContain('was terminated here at 20')
    expect(never.words).toBe('s-never is in the list and there is no such server or GPU instance here.')
  })
  test('takes the same list as CSV, whatever its separator', async () => {
    for (const separator of [',', ';', '\t']) {
      const columns = ['serverId', 'billingServiceId', 'ownerExternalId', 'billingProductId', 'state']
      const rows = list().map((one: any) => columns.map((column) => one[column] ?? '').join(separator))
      const { body } = await check({ csv: [columns.join(separator), ...rows].join('\r\n') })
      expect(kinds(body)).toEqual(expected)
    }
  })
  test('finds nothing where both are the same, and compares only what the list says', async () => {
    const names = ['same', 'suspended', 'product', 'owner', 'forgotten']
    const services = names.map((name) => ({ billingServiceId: `s-${name}` }))
    expect((await check({ services })).body).toEqual({
      ...{ listed: 5, servers: 5, instances: 0, resold: 0, found: 0 },
      differences: [],
    })
  })
  test('of a reseller is about its own and its customers’ servers', async () => {
    const reseller = p.account('reseller', 'Rita')
    expect((await check({ services: [] }, reseller)).body).toEqual({
      listed: 0,
      servers: 0,
      instances: 0,
      resold: 0,
      found: 0,
      differences: [],
    })
    const { body } = await check({ services: [{ billingServiceId: 's-gone' }] }, reseller)
    expect(body.differences[0].words).toBe('s-gone is in the list and there is no such server or GPU instance here.')
  })
  test('changes nothing, and its audit line holds no list', async () => {
    const before = p.fingerprint(['audit', 'sessions'])
    await check({ services: list() })
    await check({ csv: 'billingServiceId\ns-same' })
    expect(p.fingerprint(['audit', 'sessions'])).toBe(before)
    const lines = p.auditLines().filter(({ operation }) => operation === 'usage.reconcile')
    expect(lines.slice(-2).map(({ details }) => details)).toEqual([{ services: 8 }, { csv: 23 }])
  })
  test('waits for the one before; the ninth at once of one account is refused, and others are not', async () => {
    const services = Array.from({ length: 500 }, (_, i) => ({ billingServiceId: `s${i}` }))
    const other = p.staff()
    const nine = Array.from({ length: 9 }, () => check({ services }))
    const statuses = await Promise.all([...nine, check({ services }, other)])
    expect(statuses.map(({ status }) => status).toSorted()).toEqual([...Array.from({ length: 9 }, () => 200), 429])
    expect(statuses.at(-1)!.status).toBe(200)
    expect((await check({ services })).status).toBe(200)
  })
  test('takes 20,000 lines as CSV in one call, and more values than another call', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `service-${i},shop:1,active`)
    const csv = `billingServiceId,billingProductId,state\n${lines.join('\n')}`
    const { status, body } = await check({ csv })
    expect([status, body.listed, body.found, body.differences.length]).toEqual([200, 20_000, 20_005, 10_000])
    const services = Array.from({ length: 6000 }, (_, i) => ({ billingServiceId: `s${i}`, state: 'active' }))
    expect((await check({ services })).body.listed).toBe(6000)
  })
  test('reads a list in every form in which spreadsheet programs write it', async () => {
    const csv = 'billingServiceId;ownerExternalId;billingProductId;state\r\ns-same;client-1;shop:1;active\r\n'
    const [header, line] = csv.split('\r\n') as [string, string]
    const forms = {
      'capital states': csv.replace('active', 'Active'),
      'states in capitals': csv.replace('active', 'ACTIVE'),
      'capital columns': csv.replace('billingServiceId', 'BillingServiceID'),
      'a byte order mark': `\ufeff${csv}`,
      'sep=;': `sep=;\r\n${csv}`,
      'sep=; behind a byte order mark': `\ufeffsep=;\r\n${csv}`,
      'sep=, quoted': `"sep=,"\n${csv.replaceAll(';', ',')}`,
      'a trailing empty column': `${header};\n${line};\n`,
      'a trailing separator in its lines alone': `${header}\n${line};;\n`,
      'empty lines of separators': `${header}\n;;;\n${line}\n;;;\n\n`,
      'carriage returns alone': csv.replaceAll('\r\n', '\r'),
      'commas inside cells that semicolons part': `${header}\n${line}\n"s-a,b";;;terminated`,
    }
    const bare = (await check({ csv })).body
    expect([bare.listed, bare.found]).toEqual([1, 4])
    for (const [form, text] of Object.entries(forms)) {
      const { status, body } = await check({ csv: text })
      const lines = form.startsWith('commas') ? 2 : 1
      expect([form, status, body]).toEqual([form, 200, { ...bare, listed: lines }])
    }
  })
  test('takes 1001.0 for the identifier 1001, as a spreadsheet program writes it', async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, billingServiceId: '1001' })
    await p.settle()
    await p.admin('PATCH', `/customers/${p.customer.id}`, { externalId: '17' })
    for (const csv of [
      'billingServiceId,ownerExternalId\n1001.0,17.0',
      `serverId,billingServiceId\n${serverId},1001.00`,
    ])
      expect((await p.call(p.owner, 'POST', '/usage/reconciliation', { csv })).body).toMatchObject({
        listed: 1,
        differences: [],
      })
  })
  test('refuses in words what it cannot read, and never finds an empty list in it', async () => {
    const csv = 'billingServiceId,state\ns-same,active\n'
    const utf16 = Buffer.from(`\ufeff${csv}`, 'utf16le')
    for (const [text, words] of [
      [utf16.toString('latin1'), 'not text in UTF-8'],
      [utf16.toString('utf8'), 'not text in UTF-8'],
      [Buffer.from(utf16).swap16().toString('utf8'), 'not text in UTF-8'],
      ['billingServiceId,state\n', 'no line below its header'],
      ['billingServiceId,colour\n', 'a column that is none of'],
      ['sep=;\n', 'no line below its header'],
      [`sep=x\n${csv}`, 'names a separator'],
      [csv.replace('active', 'active,more'), 'line 1 has a cell in a column without a name'],
      [csv.replace('s-same', '1.23E+15'), 'line 1: billingServiceId is a shortened number'],
      [csv.replace('s-same', '"s-same'), 'is not CSV'],
      ['state,state\nactive,active', 'two columns of one name'],
    ] as const) {
      const { status, body } = await check({ csv: text })
      expect([words, status, body.error?.message]).toEqual([words, 422, expect.stringContaining(words)])
    }
  })
  test('tells a line whose identifiers name two, or name one that the server does not have', async () => {
    const line = (one: object) => ({ services: [one] })
    const { body } = await check(line({ serverId: ids['same'], billingServiceId: 's-product' }))
    expect(body.differences[0]).toMatchObject({
      kind: 'other_identifier',
      line: 1,
      serverId: ids['same'],
      there: 's-product',
      here: 's-same',
      words: 'Line 1 names two: same, and by its billingServiceId product. One is not billed.',
    })
    const ended = (await check(line({ serverId: ids['gone'], billingServiceId: 's-same' }))).body
    expect(ended.differences[0]).toMatchObject({ kind: 'other_identifier', there: ids['gone'], here: ids['same'] })
    const unknown = (await check(line({ serverId: ids['same'], billingServiceId: 's-never' }))).body
    expect(unknown.differences[0].words).toBe('The billingServiceId of same is s-never in the list and s-same here.')
    const right = (await check(line({ serverId: ids['same'], billingServiceId: 's-same' }))).body
    expect(kinds(right).filter(([kind]: string[]) => kind !== 'missing_there')).toEqual([])
  })
  test('refuses what is no list', async () => {
    for (const body of [
      {},
      { services: [], csv: '' },
      { services: [{ state: 'active' }] },
      { services: [{ billingServiceId: 'x', state: 'paid' }] },
      { csv: 'billingServiceId,colour\na,red' },
      { csv: 'billingServiceId,state\na,paid' },
      { csv: 'billingServiceId,state\na' },
      { csv: ' \n' },
    ])
      expect(await check(body)).toMatchObject({ status: 422, body: { error: { code: 'validation_failed' } } })
    expect((await check({ services: [] }, p.customer)).status).toBe(403)
  })
})

describe('servers of customers of a reseller', () => {
  test('are not missing in the list of the house; a line with one says who bills it', async () => {
    using p = await world()
    const reseller = p.account('reseller', 'Rex')
    await p.admin('PATCH', `/resellers/${reseller.id}`, { packageIds: [p.pack], locationIds: [p.location] })
    const resold = p.account('customer', 'Rita', reseller.id)
    const order = async (ownerId: string, hostname: string) =>
      (await p.admin('POST', '/admin/servers', { ...p.order, ownerId, hostname, billingServiceId: 'service-1' }))
        .serverId as string
    const theirs = await order(resold.id, 'theirs')
    await order(p.customer.id, 'ours')
    const check = async (who: object, services: object[]) =>
      (await p.call(who, 'POST', '/usage/reconciliation', { services })).body
    expect(await check(p.owner, [{ billingServiceId: 'service-1' }])).toMatchObject({
      servers: 1,
      resold: 1,
      differences: [],
    })
    const named = await check(p.owner, [{ billingServiceId: 'service-1' }, { serverId: theirs, state: 'suspended' }])
    expect(named.differences).toMatchObject([
      {
        kind: 'billed_by_reseller',
        line: 2,
        serverId: theirs,
        here: 'Rex',
        words: 'theirs of Rita is in the list. It is not billed here, but by Rex.',
      },
    ])
    expect(await check(reseller, [{ billingServiceId: 'service-1' }])).toMatchObject({
      servers: 1,
      resold: 0,
      differences: [],
    })
    // The identifier of the reseller's own billing is not the house's that is gone.
    await p.admin('DELETE', `/servers/${theirs}`)
    await p.settle()
    const [gone] = (await check(p.owner, [{ billingServiceId: 'service-1' }, { serverId: theirs }])).differences
    expect(gone).toMatchObject({ kind: 'missing_here', line: 2, here: 'terminated' })
  })
})

test('GPU instances are compared as servers are, by their offers, identifiers and suspension', async () => {
  using p = await gpuWorld({ cards: 4, offer: { billingProductId: 'shop:80' } })
  const check = async (services: object[]) =>
    (await p.call(p.owner, 'POST', '/usage/reconciliation', { services })).body as {
      instances: number
      servers: number
      differences: { kind: string; instanceId: string | null; serverId: string | null; words: string }[]
    }
  const same = await orderInstance(p, { billingServiceId: 'g-same', name: 'same' })
  const suspended = await orderInstance(p, { billingServiceId: 'g-suspended' })
  const forgotten = await orderInstance(p)
  const gone = await orderInstance(p, { billingServiceId: 'g-gone' })
  await p.admin('POST', `/admin/gpu-instances/${suspended}/suspend`, { reason: 'overdue' })
  await p.admin('DELETE', `/admin/gpu-instances/${gone}`)
  await p.settle()

  const whole = { billingProductId: 'shop:80', state: 'active' }
  const found = await check([
    { billingServiceId: 'g-same', ...whole },
    { billingServiceId: 'g-suspended', ...whole },
    { billingServiceId: 'g-gone', ...whole },
    { instanceId: same, billingProductId: 'shop:81' },
  ])
  expect(found).toMatchObject({ servers: 0, instances: 3 })
  expect(found.differences.map(({ kind, instanceId }) => [kind, instanceId])).toEqual([
    ['other_state', suspended],
    ['missing_here', null],
    ['listed_twice', same],
    ['other_product', same],
    ['missing_there', forgotten],
  ])
  expect(found.differences.every(({ serverId }) => serverId === null)).toBe(true)
  expect(found.differences[1]!.words).toStartWith('g-gone is in the list and was terminated here at 20')
  expect(await check([{ instanceId: same }, { instanceId: suspended }, { instanceId: forgotten }])).toMatchObject({
    differences: [],
  })
})
