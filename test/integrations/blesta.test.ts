// The Blesta module under real PHP: what is Blesta's own. The promises of all modules are in modules.test.ts.
import { describe, expect, test } from 'bun:test'
import { type Berth, berth, isPhpThere, php } from './berth.ts'
import { packaged } from './packaged.ts'

type Field = { key: string; value: string; encrypted: number }
type Said = { error: string | null; answer: any; log: string[] }
const hostname = 'web17.example.com'
const isOrder = (call: { method: string; path: string }) => call.method === 'POST' && call.path === '/admin/servers'

/** A Blesta with one panel. It stores the fields of a service when a call of the module succeeded, as Blesta does. */
function blesta(p: Berth, { installation = 'abcd2345@billing.example.com', host = 'billing.example.com' } = {}) {
  const row = { panel_name: 'Frankfurt', address: `http://127.0.0.1:${p.port}`, token: p.billing!, installation }
  const meta = { package: p.pack, location: p.location, image: p.image }
  const cal = { id: 4711, email: 'cal@example.com', last_name: 'Customer' }
  const call = (action: string, more: object = {}): Promise<Said> =>
    php(
      'test/integrations/platforms/blesta.php',
      { action, row, meta, client: cal, host, ...more },
      { MODULE: packaged('blesta') },
    )
  return {
    row,
    call,
    service(id: number, client = cal) {
      const service = {
        fields: [] as Field[],
        get known() {
          return Object.fromEntries(service.fields.map(({ key, value }) => [key, value]))
        },
        /** `dies`: Blesta is killed before it stores what the module answered. */
        async call(action: string, { vars, dies = false }: { vars?: object; dies?: boolean } = {}) {
          const said = await call(action, { service: id, fields: service.fields, client, vars })
          if (action === 'create' && said.answer && !dies) service.fields = said.answer
          return said.error
        },
        /** A client's order: noted while it is not paid. */
        order: (sent: object = {}) =>
          service.call('create', { vars: { use_module: 'false', berth_hostname: hostname, ...sent } }),
        activate: (more: { dies?: boolean } = {}) =>
          service.call('create', { vars: { ...service.known, use_module: 'true' }, ...more }),
      }
      return service
    },
  }
}
const password = async (p: Berth, key: string, order: object) =>
  (await p.call({ token: p.billing! }, 'POST', '/admin/servers', order, { 'Idempotency-Key': key })).body.rootPassword

describe.skipIf(!isPhpThere)('the Blesta module', () => {
  test('an order that is cut off at any call, and run again, makes one server and brings its password', async () => {
    let isWhole = false
    for (let cut = 1; !isWhole; cut++) {
      await using p = await berth()
      const service = blesta(p).service(17)
      await service.order()
      let n = 0
      p.fault(
        () => ++n >= cut,
        () => (n % 2 ? 'lose' : 'hang up'),
        Infinity,
      )
      const error = await service.activate()
      isWhole = error === null
      if (!isWhole) expect([cut, error]).toEqual([cut, expect.stringContaining('no_answer')])
      p.faults.length = 0
      expect([cut, await service.activate()]).toEqual([cut, null])
      await p.settle()
      const { berth_server: id, berth_service: own, berth_password } = service.known
      const { ownerId } = p.server(id!)
      const order = {
        packageId: p.pack,
        nodeGroupId: p.location,
        imageId: p.image,
        hostname,
        access: { mode: 'password' },
      }
      const sent = { ...order, ownerId, billingServiceId: `blesta:abcd2345:${own}` }
      expect([cut, p.servers(), berth_password]).toEqual([cut, 1, await password(p, p.calls.find(isOrder)!.key!, sent)])
      expect(berth_password).toMatch(/^[A-Za-z2-9]{20}$/)
    }
  }, 120_000)

  test('three activations at once, and one that died before it was stored, make one server', async () => {
    await using p = await berth()
    const service = blesta(p).service(17)
    await service.order()
    expect(await service.activate({ dies: true })).toBeNull()
    expect(await Promise.all([1, 2, 3].map(() => service.activate()))).toEqual([null, null, null])
    await p.settle()
    expect(p.servers()).toBe(1)
    const known = service.known
    // Two days later Berth remembers the order no more, and the password that is stored is right.
    p.turnClock(2 * 86_400_000)
    p.deleteExpired()
    expect(await service.activate()).toBeNull()
    expect([p.servers(), service.known]).toEqual([1, known])
  }, 60_000)

  test('a form of the staff that is sent again after a lost answer orders nothing twice', async () => {
    await using p = await berth()
    const b = blesta(p)
    const { answer: form } = await b.call('staff form')
    expect(form.berth_service).toMatch(/^[0-9a-f]{16}$/)
    expect((await b.call('staff form', { vars: form })).answer).toEqual(form)
    const send = () => b.service(18).call('create', { vars: { ...form, berth_hostname: hostname, use_module: 'true' } })
    p.fault(isOrder, () => 'lose', 4)
    expect(await send()).toContain('no_answer')
    expect(await send()).toBeNull()
    expect(p.servers()).toBe(1)
  }, 60_000)

  test('two services with one hostname are two, or refused; an id that a browser sends is not taken', async () => {
    await using p = await berth()
    const b = blesta(p)
    const [one, two] = [b.service(17), b.service(18)]
    await one.order()
    await two.order({ berth_service: one.known['berth_service'], berth_server: 'srv_1', berth_password: 'mine' })
    expect(two.known['berth_service']).not.toBe(one.known['berth_service'])
    expect(two.known).toMatchObject({ berth_server: '', berth_password: '' })
    expect((await b.call('client form')).answer).toEqual({ berth_hostname: '' })
    const other = b.service(19, { id: 4712, email: 'dora@example.com', last_name: 'Other' })
    await other.order()
    for (const service of [one, other]) expect(await service.activate()).toBeNull()
    // A client's second server of this name is refused, and is not the first one.
    expect(await two.activate()).toContain('hostname_taken')
    await two.order({ berth_hostname: 'web18.example.com' })
    expect(await two.activate()).toBeNull()
    await p.settle()
    expect(p.servers()).toBe(3)
    expect(await one.call('terminate')).toBeNull()
    await p.settle()
    const states = [one, two, other].map(({ known }) => p.server(known['berth_server']!).status)
    expect(states).toEqual(['terminated', 'running', 'running'])
  }, 60_000)

  test('a service that was noted without an id has its number', async () => {
    await using p = await berth()
    const service = blesta(p).service(23)
    const vars = { use_module: 'true', berth_hostname: hostname, service_id: 23 }
    expect(await service.call('create', { vars, dies: true })).toBeNull()
    expect(await service.call('create', { vars })).toBeNull()
    expect([p.servers(), p.server(service.known['berth_server']!).billingServiceId]).toEqual([1, 'blesta:abcd2345:23'])
  }, 60_000)

  test('panels are added, edited without their token, and deleted; all have one id of the installation', async () => {
    await using p = await berth()
    const b = blesta(p)
    const { installation: _, ...entered } = b.row
    const fieldOf = ({ answer }: Said, key: string) => answer.find((field: Field) => field.key === key).value
    const first = await b.call('test', { row: null, vars: { ...entered, installation: '' } })
    expect(fieldOf(first, 'installation')).toMatch(/^[a-z0-9]{8}@billing\.example\.com$/)
    expect(first.answer.filter(({ encrypted }: Field) => encrypted).map(({ key }: Field) => key)).toEqual(['token'])
    const second = await b.call('test', { vars: { ...entered, panel_name: 'Berlin' } })
    expect(fieldOf(second, 'installation')).toBe(b.row.installation)

    const edited = await b.call('edit', { vars: { ...b.row, panel_name: 'Munich', token: '' } })
    expect([fieldOf(edited, 'panel_name'), fieldOf(edited, 'token')]).toEqual(['Munich', p.billing!])
    expect((await b.call('edit', { vars: { ...b.row, panel_name: '' } })).error).toBe('Enter a name for the panel.')
    expect((await b.call('edit', { vars: { ...b.row, token: 'pnl_wrong' } })).error).toContain('invalid_token')

    const page = (await b.call('manage')).answer as string
    expect(page).toContain('href="/admin/settings/company/modules/addrow/2/"')
    expect(page).toContain('href="/admin/settings/company/modules/editrow/2/1/"')
    expect(page).toMatch(
      /action="\/admin\/settings\/company\/modules\/deleterow\/"[\s\S]*name="row_id" value="1"[\s\S]*type="submit"/,
    )
    expect(page).toContain('abcd2345@billing.example.com')
    expect((await b.call('manage', { row: null })).answer).toContain('There is no panel yet.')
    const form = (await b.call('edit form', { vars: {} })).answer as string
    expect(form).toContain('Edit panel')
    expect(form).toContain('name="panel_name" value="Frankfurt"')
    expect(form).not.toContain(p.billing!)
    expect((await b.call('add form', { row: null, vars: { address: 'x' } })).answer).toContain(
      'name="address" value="x"',
    )
    expect((await b.call('delete')).error).toBeNull()
  }, 60_000)

  test('two installations on one Berth do not meet, and a copy at another host does nothing', async () => {
    await using p = await berth()
    const one = blesta(p).service(17)
    const eve = { id: 4711, email: 'eve@example.net', last_name: 'Other' }
    const two = blesta(p, { installation: 'wxyz6789@brand.example.net', host: 'brand.example.net' }).service(17, eve)
    for (const service of [one, two]) {
      const vars = { use_module: 'true', berth_hostname: hostname, service_id: 17 }
      expect(await service.call('create', { vars })).toBeNull()
    }
    await p.settle()
    const [mine, theirs] = [one, two].map(({ known }) => p.server(known['berth_server']!))
    expect(mine!.ownerId).not.toBe(theirs!.ownerId)
    const copy = blesta(p, { host: 'staging.example.com' }).service(17)
    copy.fields = one.fields
    for (const action of ['suspend', 'terminate', 'upgrade', 'link'])
      expect([action, await copy.call(action)]).toEqual([action, expect.stringContaining('installation_copied')])
    const anew = blesta(p, { installation: 'newnew22@staging.example.com', host: 'staging.example.com' }).service(17)
    anew.fields = one.fields
    expect(await anew.call('suspend')).toContain('server_not_found')
    expect(await anew.call('terminate')).toContain('is there, and is called blesta:abcd2345:17')
    expect(await two.call('terminate')).toBeNull()
    await p.settle()
    expect(p.server(mine!.id).status).toBe('running')
  }, 60_000)

  test("another client's service does not lead into this one's server", async () => {
    await using p = await berth()
    const b = blesta(p)
    const one = b.service(17)
    await one.order()
    await one.activate()
    await p.settle()
    const other = b.service(18, { id: 4712, email: 'dora@example.com', last_name: 'Other' })
    other.fields = one.fields
    expect(await other.activate()).toContain('foreign_server')
    expect(await other.call('link')).toContain('foreign_server')
    expect(await other.call('status')).toContain('foreign_server')
  }, 60_000)

  test('cancelling twice is done; a changed client reaches Berth with a renewal', async () => {
    await using p = await berth()
    const b = blesta(p)
    const service = b.service(17)
    await service.order()
    await service.activate()
    await p.settle()
    const married = b.service(17, { id: 4711, email: 'cal@new.example', last_name: 'Married' })
    married.fields = service.fields
    expect(await married.call('renew')).toBeNull()
    expect((await p.admin('GET', '/admin/customers?externalId=blesta:abcd2345:4711')).data).toMatchObject([
      { name: 'Cal Married', email: 'cal@new.example' },
    ])
    for (const _ of [1, 2]) expect(await service.call('terminate')).toBeNull()
    await p.settle()
    expect(p.server(service.known['berth_server']!).status).toBe('terminated')
    // Blesta orders a cancelled service again: another server, with a password of its own.
    const before = service.known
    expect(await service.activate()).toBeNull()
    await p.settle()
    expect(service.known['berth_server']).not.toBe(before['berth_server'])
    expect(service.known['berth_password']).toMatch(/^[A-Za-z2-9]{20}$/)
  }, 60_000)
})
