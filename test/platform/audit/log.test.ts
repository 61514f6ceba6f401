// The audit log as it is read: what changed, through what, found by filters, and taken away as files.
import { describe, expect, test } from 'bun:test'
import { system } from '../../../src/kernel/api/actor.ts'
import { auditLine } from '../../../src/kernel/audit/audit.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { type World, world } from '../../support/world/panel.ts'

const log = async (p: World, query = '') => (await p.admin('GET', `/admin/audit?limit=1000&${query}`)).data as any[]
/** Lines that nothing in the product wrote, to fill the log. */
const lines = (p: World, n: number, of: Partial<Parameters<typeof auditLine>[2]> = {}) =>
  write(p.db, (tx) => {
    for (let i = 0; i < n; i++)
      auditLine(tx, p.controller.app, {
        actor: system,
        operation: 'test.line',
        target: null,
        from: '192.0.2.7',
        requestId: '',
        result: 'done',
        details: { i },
        ...of,
      })
  })

describe('a line of a change', () => {
  test('says what was there before and what after, of what differs only', async () => {
    using p = await world()
    await p.call(p.owner, 'PATCH', `/customers/${p.customer.id}`, { name: 'Cal Ender', organization: 'Moon Ltd' })
    const [line] = await log(p, 'operation=customers.update')
    expect(line).toMatchObject({ target: p.customer.id, targetName: 'Cal Ender' })
    expect(line.changes).toEqual([
      { field: 'name', before: 'Cal', after: 'Cal Ender' },
      { field: 'organization', before: null, after: 'Moon Ltd' },
    ])
    await p.call(p.owner, 'POST', `/customers/${p.customer.id}/actions/lock`, { reason: 'Chargeback' })
    const [locked] = await log(p, 'operation=customers.lock')
    expect(locked.changes).toEqual([
      { field: 'lockedAt', before: null, after: expect.stringMatching(/^20\d\d-.*Z$/) },
      { field: 'lockReason', before: null, after: 'Chargeback' },
    ])
  })
  test('never holds a secret of the row: a rotated token is another, and that is all', async () => {
    using p = await world()
    const { body } = await p.call(p.owner, 'POST', '/account/tokens', { name: 'Own', scopes: ['servers:read'] })
    await p.call(p.owner, 'POST', `/tokens/${body.id}/actions/rotate`, { overlapHours: 1 })
    const [line] = await log(p, 'operation=tokens.rotate')
    expect(line.changes).toContainEqual({ field: 'tokenHash', before: '***', after: '***' })
    const hashes = p.db.$client.query<{ token_hash: string }, []>('SELECT token_hash FROM tokens').all()
    for (const { token_hash } of hashes) expect(JSON.stringify(p.auditLines())).not.toContain(token_hash)
  })
  test('names what is gone, and has nothing where nothing differs', async () => {
    using p = await world()
    const key = await p.admin('POST', `/customers/${p.customer.id}/ssh-keys`, {
      name: 'laptop',
      publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl test',
    })
    await p.admin('DELETE', `/ssh-keys/${key.id}`)
    expect((await log(p, 'operation=ssh-keys.remove'))[0].changes).toEqual([
      { field: 'name', before: 'laptop', after: null },
    ])
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { name: 'KVM 2G' })
    expect((await log(p, 'operation=packages.update'))[0].changes).toEqual([])
  })
  test('says by what it came: page, token by its name, support session, System', async () => {
    using p = await world()
    const staff = p.staff(undefined, 'Sam')
    const change = (who: any, name: string) => p.call(who, 'PATCH', `/admin/packages/${p.pack}`, { name })
    await change(staff, 'a')
    const { body } = await p.call(staff, 'POST', '/account/tokens', { name: 'Billing', scopes: ['packages:write'] })
    await change({ token: body.token }, 'b')
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { name: 'c' })
    lines(p, 1, {
      operation: 'packages.update',
      actor: {
        ...system,
        name: 'Cal',
        via: { type: 'support', sessionId: 'ses_1', confirmedAt: 0, staffId: staff.id, staffName: 'Sam', until: 0 },
      },
    })
    expect((await log(p, 'operation=packages.update')).map((l) => [l.actor.name, l.via.type, l.via.name])).toEqual([
      ['Sam as Cal', 'support', null],
      ['System', 'system', null],
      ['Sam', 'token', 'Billing'],
      ['Sam', 'page', null],
    ])
  })
})

describe('the log is found', () => {
  test('by who: a name, an address, an id', async () => {
    using p = await world()
    const staff = p.staff(undefined, 'Zoe Quill')
    await p.call(staff, 'PATCH', `/admin/packages/${p.pack}`, { name: 'z' })
    for (const who of ['quill', staff.id])
      expect((await log(p, `who=${who}`)).map((l) => l.operation)).toEqual(['packages.update'])
    expect(await log(p, 'who=nobody-at-all')).toEqual([])
    expect((await log(p, 'who=system')).every((l) => l.actor.id === 'system')).toBe(true)
    expect(await log(p, "who=' OR 1=1 --")).toEqual([])
  })
  test('by result: refused sign-ins are the refused', async () => {
    using p = await world()
    await p.call(undefined, 'POST', '/sessions', { email: 'no@body.test', password: 'x' })
    expect((await log(p, 'result=refused')).map((l) => l.result)).toEqual(['sign_in_failed'])
    expect((await log(p, 'result=sign_in_failed')).length).toBe(1)
    expect((await log(p, 'result=done')).some((l) => l.result !== 'done')).toBe(false)
  })
  test('by time, to the millisecond and by whole days; a time that is none is refused', async () => {
    using p = await world()
    p.turnClock(10 * 86_400_000)
    lines(p, 3)
    const at = (await log(p, 'operation=test.line')).map((l) => l.at).reverse()
    expect((await log(p, `since=${at[1]}`)).map((l) => l.at).reverse()).toEqual([at[1], at[2]])
    expect((await log(p, `since=${at[0]}&until=${at[1]}`)).map((l) => l.at).reverse()).toEqual([at[0], at[1]])
    const day = at[0].slice(0, 10)
    expect((await log(p, `since=${day}&until=${day}`)).length).toBe(3)
    expect(await log(p, 'since=2099-01-01')).toEqual([])
    for (const bad of ['since=yesterday', 'until=2026-13-01', 'since=1'])
      expect((await p.call(p.staff(), 'GET', `/admin/audit?${bad}`)).body.error.code).toBe('invalid_request')
  })
  test('50 at a time, 1000 at most, and a page starts after the one before', async () => {
    using p = await world()
    lines(p, 1100)
    const page = async (query: string) =>
      (await p.call(p.owner, 'GET', `/admin/audit?operation=test.line${query}`)).body
    expect((await page('')).data.length).toBe(50)
    const whole = await page('&limit=5000')
    expect([whole.data.length, whole.total]).toEqual([1000, 1100])
    const rest = await page(`&limit=1000&cursor=${whole.nextCursor}`)
    expect([rest.data.length, rest.nextCursor]).toEqual([100, null])
    expect(new Set([...whole.data, ...rest.data].map((l: any) => l.details.i)).size).toBe(1100)
  })
})

describe('as a file', () => {
  const get = (p: World, path: string) => p.call(p.owner, 'GET', path)

  test('JSON lines hold each line once, newest first, under the same filters', async () => {
    using p = await world()
    lines(p, 1203)
    const { status, body, headers } = await get(p, '/admin/audit.jsonl?operation=test.line')
    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toBe('application/jsonl; charset=utf-8')
    expect(headers.get('Content-Disposition')).toBe('attachment; filename="audit.jsonl"')
    const described =
      typeof body === 'string'
        ? body
            .trimEnd()
            .split('\n')
            .map((l) => JSON.parse(l))
        : []
    expect(described.map((l) => l.details.i)).toEqual(Array.from({ length: 1203 }, (_, i) => 1202 - i))
    expect(described[0]).toEqual((await log(p, 'operation=test.line'))[0])
    expect((await get(p, '/admin/audit.jsonl?since=nonsense')).body.error.code).toBe('invalid_request')
  })
  test('CSV cannot run a formula in a spreadsheet, and quotes what must be (security S8)', async () => {
    using p = await world()
    for (const name of ['=1+1', '+2', '-3', '@SUM(A1)', '\t=x', 'plain, "quoted"\nsecond', 'web; =1+1;@x', 'a;b=c'])
      lines(p, 1, { actor: { ...system, name } })
    const { body, headers } = await get(p, '/admin/audit.csv?operation=test.line')
    expect(headers.get('Content-Type')).toBe('text/csv; charset=utf-8')
    const [head, ...rows] = body.split(/\n(?="20\d\d-)/)
    expect(head).toBe(
      [
        'time',
        'who',
        'who_id',
        'via',
        'operation',
        'target',
        'target_name',
        'result',
        'from',
        'request',
        'changes',
        'sent',
        'id',
      ]
        .map((name) => `"${name}"`)
        .join(','),
    )
    expect(rows.map((r: string) => /^[^,]+,("(?:[^"]|"")*"|[^,]*)/.exec(r)![1]).reverse()).toEqual([
      `"'=1+1"`,
      `"'+2"`,
      `"'-3"`,
      `"'@SUM(A1)"`,
      `"'\t'=x"`,
      '"plain, ""quoted""\nsecond"',
      // A spreadsheet that cuts at semicolons cuts inside quotes too.
      `"web; '=1+1;'@x"`,
      '"a;b=c"',
    ])
  })
  test('is sent in pieces, between which others have their turn', async () => {
    using p = await world()
    lines(p, 5000)
    const answer = await p.controller.router.fetch(
      new Request('http://localhost/api/v1/admin/audit.jsonl', {
        headers: { Cookie: `__Host-panel=${p.owner.cookie}` },
      }),
    )
    let turns = 0
    const timer = setInterval(() => turns++, 0)
    const reader = answer.body!.getReader()
    let chunks = 0
    while (!(await reader.read()).done) chunks++
    clearInterval(timer)
    expect(chunks).toBeGreaterThanOrEqual(10)
    expect(turns).toBeGreaterThan(3)
  })
  test('is for who may read the log', async () => {
    using p = await world()
    for (const path of ['/admin/audit.csv', '/admin/audit.jsonl'])
      expect((await p.call(p.staff(['nodes.read']), 'GET', path)).body.error.code).toBe('forbidden')
  })
})

test('verifying goes in slices: others are answered meanwhile', async () => {
  using p = await world()
  lines(p, 9000)
  let answered = 0
  const timer = setInterval(() => answered++, 0)
  const { lines: n, ok } = await p.admin('GET', '/admin/audit/verify')
  clearInterval(timer)
  expect(ok).toBe(true)
  expect(n).toBeGreaterThan(9000)
  expect(answered).toBeGreaterThan(2)
})

test('a change is told with what it changed, also what stands in other tables than its thing', async () => {
  using p = await world()
  const rita = p.account('reseller', 'Rita')
  const changes = async (operation: string) => (await log(p, `operation=${operation}`))[0].changes
  await p.call(p.customer, 'PATCH', '/account', { name: 'Calvin' })
  expect(await changes('account.update')).toContainEqual({ field: 'name', before: 'Cal', after: 'Calvin' })
  await p.call(p.owner, 'PATCH', `/resellers/${rita.id}`, { packageIds: [p.pack], locationIds: [p.location] })
  await p.call(p.owner, 'PATCH', `/resellers/${rita.id}`, { packageIds: [] })
  expect(await changes('resellers.update')).toEqual([{ field: 'packages', before: ['KVM 2G'], after: [] }])
  await p.call(p.owner, 'PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [] })
  expect(await changes('pools.attach')).toEqual([{ field: 'nodes', before: ['fra-01'], after: [] }])
})
