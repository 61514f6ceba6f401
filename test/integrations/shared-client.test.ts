// The client that all PHP modules share: one installation, one owner, one service, one try, and every body that a
// gateway can send.
import { describe, expect, test } from 'bun:test'
import { presets } from '../../src/identity/tokens/presets.ts'
import { type Berth, berth, isPhpThere, php } from './berth.ts'

type Said = { error: string | null; code: string | null; answer: any; logged: [string, string, any, any][] }
type Names = {
  system?: string
  installation?: string
  service?: string
  client?: string
  name?: string
  email?: string
  organization?: string
  formerId?: string
  formerClientId?: string
}
const ada = { service: '17', client: '4711', name: 'Ada Lovelace', email: 'ada@billing.example' }
const orders = (call: { method: string; path: string }) => call.method === 'POST' && call.path === '/admin/servers'

const asked = (
  p: Berth,
  action: string,
  names: Names = {},
  given: unknown[] = [],
  token = p.billing,
): Promise<Said> => {
  const service = { system: 'whmcs', installation: 'k3v9x2ab', ...ada, ...names }
  const name = Buffer.from(service.name, 'latin1').toString('base64')
  const input = { url: `http://127.0.0.1:${p.port}`, token, service: { ...service, name }, action, given }
  return php('test/integrations/platforms/client.php', input)
}
const order = (p: Berth) => ({
  packageId: p.pack,
  nodeGroupId: p.location,
  imageId: p.image,
  hostname: 'web17',
  access: { mode: 'password' },
})
const create = (p: Berth, names: Names = {}) => asked(p, 'createOnce', names, [order(p)])
const customers = (p: Berth) =>
  (p.db.$client.query("SELECT count(*) AS n FROM accounts WHERE email LIKE '%@billing.example'").get() as { n: number })
    .n
const living = (p: Berth) =>
  (p.db.$client.query('SELECT count(*) AS n FROM workloads WHERE terminated_at IS NULL').get() as { n: number }).n

describe.skipIf(!isPhpThere)('one order', () => {
  test('makes one server when it is sent three times at once, and each gets the root password', async () => {
    await using p = await berth()
    const said = await Promise.all([create(p), create(p), create(p)])
    expect(said.map(({ error }) => error)).toEqual([null, null, null])
    expect(new Set(said.map(({ answer }) => `${answer.serverId} ${answer.rootPassword}`)).size).toBe(1)
    expect(said[0]!.answer.rootPassword).toMatch(/^\S{16,}$/)
    expect([p.servers(), customers(p)]).toEqual([1, 1])
  }, 60_000)

  test('that another process places between its look-ups is the same one, with its root password', async () => {
    // After each of its calls in turn, the other process runs from its start to its end.
    for (let after = 1, isLast = false; !isLast; after++) {
      await using p = await berth()
      let n = 0
      let other: Promise<Said> | undefined
      p.delay(async () => {
        if (++n !== after) return
        other = create(p)
        await other
      })
      const { error, answer } = await create(p)
      isLast = other === undefined
      const theirs = isLast ? { error: null, answer } : await other!
      expect([after, error, theirs.error]).toEqual([after, null, null])
      expect([after, answer.rootPassword]).toEqual([after, theirs.answer.rootPassword])
      expect([after, p.servers(), customers(p)]).toEqual([after, 1, 1])
    }
  }, 60_000)

  test('whose answer never came has its root password in the answer to the next click', async () => {
    await using p = await berth()
    p.fault(orders, () => 'lose', 4)
    const lost = await create(p)
    expect([lost.code, p.servers()]).toEqual(['no_answer', 1])
    await p.settle()
    const again = await create(p)
    expect(again.answer.rootPassword).toMatch(/^\S{16,}$/)
    expect([p.servers(), new Set(p.calls.filter(orders).map(({ key }) => key)).size]).toEqual([1, 1])
  }, 60_000)

  test('after the server was terminated in Berth is a new one, as often as it happens on one day', async () => {
    await using p = await berth()
    const made = new Set<string>()
    for (let n = 0; n < 3; n++) {
      const { error, answer } = await create(p)
      expect([n, error]).toEqual([n, null])
      expect(answer.rootPassword).toMatch(/^\S{16,}$/)
      made.add(answer.serverId)
      await p.settle()
      await p.admin('DELETE', `/servers/${answer.serverId}`, {})
      await p.settle()
    }
    expect([made.size, p.servers(), living(p)]).toEqual([3, 3, 0])
  }, 60_000)

  test('is not needed for a server that is brought back: it is taken over, without another password', async () => {
    await using p = await berth()
    const first = (await create(p)).answer.serverId
    await p.settle()
    await p.admin('DELETE', `/servers/${first}`, {})
    await p.settle()
    await p.admin('POST', `/servers/${first}/actions/undelete`, {})
    await p.settle()
    p.turnClock(30 * 3_600_000)
    const { error, answer } = await create(p)
    expect([error, answer.serverId, answer.rootPassword, p.servers()]).toEqual([null, first, null, 1])
  }, 60_000)

  test('does not take over the server of somebody else that has its identifier', async () => {
    await using p = await berth()
    const { answer } = await create(p)
    await p.settle()
    const other = { client: '4712', name: 'Bob', email: 'bob@billing.example' }
    for (const action of ['createOnce', 'ownServer'])
      expect([action, (await asked(p, action, other, action === 'createOnce' ? [order(p)] : [])).code]).toEqual([
        action,
        'foreign_server',
      ])
    expect(p.servers()).toBe(1)
    // The service itself is still ended by its number: a server that nobody can end is one that nobody pays for.
    expect((await asked(p, 'terminateOnce', other)).error).toBeNull()
    await p.settle()
    expect(p.server(answer.serverId).status).toBe('terminated')
    expect((await asked(p, 'terminateOnce', other)).error).toBeNull()
  }, 60_000)

  test('of another installation with the same numbers is another server of another customer', async () => {
    await using p = await berth()
    await create(p)
    const copy = await create(p, { installation: 'm4n5p6q7', email: 'eve@billing.example' })
    expect([copy.error, p.servers(), customers(p)]).toEqual([null, 2, 2])
    const sameAddress = await create(p, { installation: 'zzzzzzzz' })
    expect([sameAddress.code, p.servers()]).toEqual(['email_taken', 2])
  }, 60_000)

  test('of a reseller is one server as well, after each termination another', async () => {
    await using p = await berth()
    const rita = p.account('reseller', 'Rita')
    await p.admin('PATCH', `/resellers/${rita.id}`, { packageIds: [p.pack], locationIds: [p.location] })
    const token = p.token(rita.id, presets['reseller-billing']).token!
    for (let n = 1; n <= 2; n++) {
      const said = await Promise.all([1, 2].map(() => asked(p, 'createOnce', {}, [order(p)], token)))
      expect([n, ...said.map(({ error }) => error)]).toEqual([n, null, null])
      expect([p.servers(), living(p), customers(p)]).toEqual([n, 1, 1])
      await p.settle()
      for (const _ of [1, 2])
        expect((await asked(p, 'terminateOnce', {}, [said[0]!.answer.serverId], token)).error).toBeNull()
      await p.settle()
    }
    expect(living(p)).toBe(0)
  }, 60_000)

  test('that is refused leaves no customer behind', async () => {
    await using p = await berth()
    await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [] })
    expect((await create(p)).error).toMatch(/^Berth: .*Out of stock.*\(no_addresses, request .+\)$/)
    for (const wrong of [{ packageId: 'pkg_00000000000000000000000000' }, { imageId: 'img_1' }, { hostname: 'a b' }])
      expect((await asked(p, 'createOnce', {}, [{ ...order(p), ...wrong }])).code).toBe('validation_failed')
    expect([p.servers(), customers(p)]).toEqual([0, 0])
  }, 60_000)
})

describe.skipIf(!isPhpThere)('a client', () => {
  test('whose name, address or organization changed is changed in Berth with the next call', async () => {
    await using p = await berth()
    await create(p)
    await asked(p, 'ownServer', { name: 'Ada King', email: 'Countess@Billing.Example', organization: 'Engines Ltd' })
    const { data } = await p.admin('GET', '/admin/customers?externalId=whmcs:k3v9x2ab:4711')
    expect(data).toMatchObject([{ name: 'Ada King', email: 'countess@billing.example', organization: 'Engines Ltd' }])
    await p.admin('POST', '/admin/customers', { name: 'Cal', email: 'cal@example.com' })
    // An address that somebody else has does not keep the rest from its place, nor the service from its suspension.
    const taken = await asked(p, 'ownServer', {
      name: 'A. King',
      email: 'cal@example.com',
      organization: 'Engines Ltd',
    })
    expect([taken.error, (await p.admin('GET', `/customers/${data[0].id}`)).name]).toEqual([null, 'A. King'])
    expect((await p.admin('GET', `/customers/${data[0].id}`)).email).toBe('countess@billing.example')
  }, 60_000)

  test('with a name that is no UTF-8, too long or of several lines still gets its server', async () => {
    await using p = await berth()
    const { error } = await create(p, { name: `Jos\xe9\n\tM\xfcller ${'x'.repeat(200)}` })
    expect(error).toBeNull()
    const { data } = await p.admin('GET', '/admin/customers?externalId=whmcs:k3v9x2ab:4711')
    expect(data[0].name).toMatch(/^Jos\ufffd M\ufffdller x+$/)
  }, 60_000)
})

describe.skipIf(!isPhpThere)('names of before there were installations', () => {
  const former = { formerId: 'whmcs:17', formerClientId: 'whmcs:4711' }
  async function withOld(p: Berth, email: string) {
    const body = { name: 'Ada', email, externalId: 'whmcs:4711' }
    const { id: ownerId } = await p.admin('POST', '/admin/customers', body)
    const placed = { ...order(p), ownerId, billingServiceId: 'whmcs:17' }
    const { serverId } = await p.admin('POST', '/admin/servers', placed)
    await p.settle()
    return serverId as string
  }
  test('are replaced when the client is the same', async () => {
    await using p = await berth()
    const id = await withOld(p, 'ada@billing.example')
    const { answer } = await asked(p, 'server', former)
    expect([answer.id, answer.billingServiceId]).toEqual([id, 'whmcs:k3v9x2ab:17'])
    expect((await p.admin('GET', '/admin/customers?externalId=whmcs:k3v9x2ab:4711')).data).toHaveLength(1)
    const { answer: again } = await create(p, former)
    expect([again.serverId, p.servers()]).toEqual([id, 1])
  }, 60_000)
  test('stop a termination when the owner is not known: taken for gone, the server would run on unpaid', async () => {
    await using p = await berth()
    const id = await withOld(p, 'somebody.else@billing.example')
    const said = await asked(p, 'terminateOnce', former)
    expect(said.error).toContain(
      `The server ${id} is called whmcs:17, and its owner has another e-mail than this client.`,
    )
    expect((await asked(p, 'terminateOnce', { service: '18', formerId: 'whmcs:18' }, [id])).code).toBe('foreign_server')
    expect(living(p)).toBe(1)
  }, 60_000)
  test("are left alone when they are another installation's, whose numbers are the same", async () => {
    await using p = await berth()
    const id = await withOld(p, 'somebody.else@billing.example')
    expect((await asked(p, 'server', former)).answer).toBeNull()
    const { answer } = await create(p, former)
    expect([answer.serverId === id, p.servers()]).toEqual([false, 2])
    expect((await p.admin('GET', `/servers/${id}`)).billingServiceId).toBe('whmcs:17')
  }, 60_000)
})

describe.skipIf(!isPhpThere)('the installation', () => {
  test('is eight characters, kept with the host that it was made for', async () => {
    await using p = await berth()
    const made = new Set<string>()
    for (let n = 0; n < 3; n++) made.add((await asked(p, 'newInstallation', {}, ['Billing.Example'])).answer)
    expect(made.size).toBe(3)
    for (const kept of made) {
      expect(kept).toMatch(/^[a-z2-9]{8}@billing\.example$/)
      expect((await asked(p, 'installation', {}, [kept, 'billing.example'])).answer).toBe(kept.slice(0, 8))
      expect((await asked(p, 'installation', {}, [kept, ''])).answer).toBe(kept.slice(0, 8))
      const copied = await asked(p, 'installation', {}, [kept, 'staging.example'])
      expect(copied.error).toContain('belongs to billing.example, and this billing system runs at staging.example')
    }
    expect((await asked(p, 'installation', {}, ['short', ''])).code).toBe('installation_copied')
  }, 60_000)
})

const answer = (status: number, body: string | null, headers: Record<string, string> = {}) =>
  new Response(body, { status, headers: { 'Content-Type': 'text/html', ...headers } })
const json = { 'Content-Type': 'application/json' }
/** Answers of a gateway, and how the client takes them: it sends the call again under its key, or tells of it. */
const bodies: [string, () => Response, 'again' | 'told'][] = [
  ['an HTML page with 502', () => answer(502, '<html><h1>502 Bad Gateway</h1></html>'), 'again'],
  ['an HTML page with 200', () => answer(200, '<html>Under maintenance</html>'), 'again'],
  ['nothing with 200', () => answer(200, ''), 'again'],
  ['half a JSON text', () => answer(201, '{"serverId":"srv_1', json), 'again'],
  ['null', () => answer(201, 'null', json), 'again'],
  ['a number', () => answer(200, '7', json), 'again'],
  ['bytes that are no UTF-8', () => answer(200, '{"a":"\ud800"}\xff', json), 'again'],
  ['an error that is a text', () => answer(503, '{"error":"busy"}', json), 'again'],
  ['an error without a code', () => answer(500, '{"error":{"message":["x"]}}', json), 'again'],
  ['an error whose code is a number', () => answer(502, '{"error":{"code":5,"message":null}}', json), 'again'],
  ['a list with 504', () => answer(504, '[1,2]', json), 'again'],
  ['429 with a date to come back', () => answer(429, '', { 'Retry-After': new Date().toUTCString() }), 'again'],
  ['503 with nonsense to come back', () => answer(503, '', { 'Retry-After': 'soon' }), 'again'],
  ['520 of a CDN', () => answer(520, 'error code: 520'), 'again'],
  ['an empty object', () => answer(200, '{}', json), 'told'],
  ['an empty list', () => answer(200, '[]', json), 'told'],
  ['rows of the wrong type', () => answer(200, '{"data":[1],"serverId":[]}', json), 'told'],
  ['no content', () => new Response(null, { status: 204 }), 'told'],
  ['a page of another site', () => answer(404, '<html>Not here</html>'), 'told'],
  ['a redirection', () => answer(301, '', { Location: 'https://other.example/' }), 'told'],
  ['a page to sign in', () => answer(401, 'Unauthorized'), 'told'],
]

describe.skipIf(!isPhpThere)('a gateway that answers', () => {
  for (const [what, body, taken] of bodies)
    test(`${what}: the call is ${taken === 'again' ? 'sent again' : 'told in words'}, one server made`, async () => {
      await using p = await berth()
      for (const when of [orders, (call: { path: string }) => call.path.startsWith('/admin/customers')]) {
        p.fault(when, body)
        const first = await create(p)
        if (taken === 'again') expect(first.error).toBeNull()
        else expect(first.error).toMatch(/^Berth: .*(wrong_answer|no_answer)/)
        expect((await create(p)).error).toBeNull()
        expect(p.servers()).toBe(1)
      }
    }, 60_000)

  test('16 MB of anything: it is cut off and told', async () => {
    await using p = await berth()
    p.fault(
      () => true,
      () => answer(200, 'x'.repeat(17_000_000)),
      4,
    )
    expect((await create(p)).error).toContain('it was too long')
    expect(p.servers()).toBe(0)
  }, 60_000)

  test('the same page of a list for ever: the list ends', async () => {
    await using p = await berth()
    p.fault(
      () => true,
      () => answer(200, '{"data":[{"id":"x"}],"nextCursor":"same"}', json),
      20,
    )
    expect((await asked(p, 'all', {}, ['/images'])).code).toBe('wrong_answer')
  }, 60_000)

  test("another's customer or server: it is not taken for the one that was asked for", async () => {
    await using p = await berth()
    await create(p)
    const stale =
      '{"data":[{"id":"srv_x","billingServiceId":"whmcs:k3v9x2ab:1","owner":{"id":"usr_x"}}],"nextCursor":null}'
    p.fault(
      (call) => call.path.startsWith('/admin/servers?billingServiceId'),
      () => answer(200, stale, json),
    )
    expect((await asked(p, 'terminateOnce')).code).toBe('wrong_answer')
    expect(living(p)).toBe(1)
  }, 60_000)
})
