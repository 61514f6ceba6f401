// Consoles over the real way: a viewer's WebSocket, the controller, the agent's own code, and the fake host's screen
// and serial line.
import { describe, expect, test } from 'bun:test'
import { createConnection } from 'node:net'
import { mostConsoles } from '../../../src/compute/console/consoles.ts'
import { consoles } from '../../support/console/consoles.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type Panel, type World, world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'

async function running() {
  const p = await world()
  const { serverId } = (await p.call(p.owner, 'POST', '/admin/servers', p.order)).body
  await p.settle()
  const c = consoles(p)
  return Object.assign(c, {
    p,
    serverId: serverId as string,
    host: p.node.agent.host,
    async [Symbol.asyncDispose]() {
      await c.stop()
      await Bun.sleep(5)
      p.close()
    },
  })
}
const lines = (p: Panel) =>
  p
    .auditLines()
    .filter(({ operation }) => operation.startsWith('consoles.'))
    .map(({ operation, details }) => [operation, details] as const)

describe('a serial console', () => {
  test('shows what the guest writes, takes what is typed, and is in the audit log from beginning to end', async () => {
    await using c = await running()
    const viewer = await c.view(c.p.customer, c.serverId)
    await viewer.until('fake login: ')
    viewer.send('root\r')
    await viewer.until('root')
    expect(c.host.consoles.typed.get(c.serverId)).toBe('root\r')
    viewer.socket.send(JSON.stringify({ type: 'ping', n: 7 }))
    await eventually(() => viewer.frames.length > 1)
    expect(viewer.frames).toEqual([{ type: 'open' }, { type: 'pong', n: 7 }])
    viewer.socket.close()
    await viewer.closed
    await eventually(() => lines(c.p).length > 2)
    expect(lines(c.p)).toEqual([
      ['consoles.create-ticket', { kind: 'serial' }],
      ['consoles.opened', { kind: 'serial' }],
      [
        'consoles.closed',
        {
          kind: 'serial',
          reason: 'closed',
          seconds: expect.any(Number),
          sentBytes: expect.any(Number),
          receivedBytes: 5,
        },
      ],
    ])
    const activity = await c.p.controller.router.fetch(
      new Request(`http://localhost/servers/${c.serverId}/activity`, {
        headers: { Cookie: `__Host-panel=${c.p.customer.cookie}` },
      }),
    )
    const text = await activity.text()
    // A visit is one line, with both times.
    expect(
      text.match(/<b>[^<]*[Cc]onsole[^<]*<\/b><small>opened <time [^>]*>[\d:]+<\/time>, closed <time/g),
    ).toHaveLength(1)
    expect(text.match(/<b>[^<]*[Cc]onsole[^<]*<\/b>/g)).toEqual(['<b>Used the console</b>'])
    for (const path of [`/servers/${c.serverId}/activity`, '/account/activity']) {
      const { body } = await c.p.call(c.p.customer, 'GET', path)
      const visits = body.data.filter((line: any) => line.operation.startsWith('consoles.'))
      expect(visits).toEqual([expect.objectContaining({ operation: 'consoles.opened', until: expect.any(String) })])
      expect(body.total).toBe(body.data.length)
    }
    const { target, actor_id } = c.p.auditLines().at(-1) as any
    expect([target, actor_id ?? c.p.customer.id]).toEqual([c.serverId, c.p.customer.id])
  })
  test('is shared: a second viewer gets the last bytes and both see the same', async () => {
    await using c = await running()
    const first = await c.view(c.p.customer, c.serverId)
    await first.until('fake login: ')
    first.send('uptime\r')
    await first.until('uptime')
    const second = await c.view(c.p.owner, c.serverId)
    await second.until('uptime')
    expect(second.text).toStartWith('\x1bc')
    c.host.consoles.says(c.serverId, 'to both')
    await Promise.all([first.until('to both'), second.until('to both')])
  })
})

describe('the screen', () => {
  test('speaks RFB through both proxies, always shared and without a password', async () => {
    await using c = await running()
    const viewer = await c.view(c.p.customer, c.serverId, 'vnc')
    await viewer.until('RFB 003.008\n')
    viewer.send('RFB 003.008\n')
    await Bun.sleep(30)
    viewer.socket.send(Buffer.from([1]))
    viewer.socket.send(Buffer.from([0]))
    await viewer.until('fake')
    // The key A by its place, and a request for the picture.
    viewer.socket.send(Buffer.from([2, 0, 0, 1, 0xff, 0xff, 0xfe, 0xfe]))
    viewer.socket.send(Buffer.from([255, 0, 0, 1, 0, 0, 0, 0x61, 0, 0, 0, 0x1e]))
    viewer.socket.send(Buffer.from([3, 0, 0, 0, 0, 0, 2, 128, 1, 144]))
    const before = viewer.bytes
    while (viewer.bytes < before + 640 * 400 * 4) await Bun.sleep(5)
    expect(c.host.consoles.typed.get(c.serverId)).toBe('1e ')
  })
  test('a viewer that speaks something else is cut off before the vm reads it', async () => {
    await using c = await running()
    const viewer = await c.view(c.p.customer, c.serverId, 'vnc')
    await viewer.until('RFB 003.008\n')
    viewer.send('GET / HTTP/1.1\r\n\r\n')
    expect(await viewer.closed).toEqual({
      code: 4400,
      reason: 'This viewer sent something that the server does not take.',
    })
  })
})

describe('S43: a ticket', () => {
  const opens = async (viewer: { socket: WebSocket; closed: Promise<unknown> }) =>
    Promise.race([
      new Promise<boolean>((resolve) => viewer.socket.addEventListener('open', () => resolve(true))),
      viewer.closed.then(() => false),
    ])

  test('works once, within 30 seconds, and for its maker’s own session only', async () => {
    await using c = await running()
    const { p, serverId } = c
    const ticket = async (who = p.customer) => (await c.ticket(who, serverId)).body.protocols as string[]
    const used = await ticket()
    expect(await opens(c.connect(p.customer, used))).toBe(true)
    const late = await ticket()
    p.turnClock(30_000)
    const another = p.signIn(p.customer.id)
    const before = lines(p).length
    const refused: [string, Parameters<typeof c.connect>][] = [
      ['used', [p.customer, used]],
      ['late', [p.customer, late]],
      ['another session of the same person', [another, await ticket()]],
      ['another account', [p.owner, await ticket()]],
      ['a token of the same person', [p.token(p.customer.id), await ticket()]],
      ['nobody', [{ cookie: 'x' }, await ticket()]],
      ['made up', [p.customer, ['berth.console.v1', `ticket.${'a'.repeat(43)}`]]],
      ['none', [p.customer, ['berth.console.v1']]],
      ['another site', [p.customer, await ticket(), { Origin: 'https://evil.test' }]],
    ]
    for (const [name, args] of refused) expect([name, await opens(c.connect(...args))]).toEqual([name, false])
    expect(lines(p).filter(([operation]) => operation === 'consoles.opened')).toHaveLength(1)
    expect(lines(p).length).toBe(before + 5)
    expect(await opens(c.connect(p.customer, await ticket(), { Origin: 'https://panel.test' }))).toBe(true)
  })
  test('is in no address, no audit line and no row', async () => {
    await using c = await running()
    const { body } = await c.ticket(c.p.customer, c.serverId)
    const value = body.protocols[1].slice('ticket.'.length)
    expect(body.path).toBe('/console/v1/')
    for (const table of ['audit', 'idempotency', 'sessions'])
      expect(JSON.stringify(c.p.db.$client.query(`SELECT * FROM ${table}`).all())).not.toContain(value)
  })
  test('is for a token too, which opens the console with itself', async () => {
    await using c = await running()
    const token = c.p.token(c.p.customer.id, ['servers:power'])
    const viewer = await c.view(token, c.serverId)
    await viewer.until('fake login: ')
  })
})

describe('who may open a console', () => {
  test('the owner, staff and the reseller who may power it, and a team that operates or manages it', async () => {
    await using c = await running()
    const { p, serverId } = c
    const rita = p.account('reseller', 'Rita')
    const mate = p.account('customer', 'Mia')
    p.db.$client.run('UPDATE workloads SET reseller_id = ? WHERE id = ?', [rita.id, serverId])
    const code = async (who: Parameters<typeof c.ticket>[0]) => {
      const { status, body } = await c.ticket(who, serverId)
      return `${status} ${body.error?.code ?? ''}`.trim()
    }
    expect(await code(p.customer)).toBe('201')
    expect(await code(rita)).toBe('201')
    expect(await code(p.staff(['servers.see_all', 'servers.power']))).toBe('201')
    expect(await code(p.staff(['servers.see_all']))).toBe('403 forbidden')
    expect(await code(p.token(p.customer.id, ['servers:read']))).toBe('403 missing_scope')
    expect(await code(mate)).toBe('404 server_not_found')
    for (const [role, expected] of [
      ['view', '403 forbidden'],
      ['operate', '201'],
      ['manage', '201'],
    ] as const) {
      const member = p.account('customer', role)
      await share(p, p.customer, member, role)
      expect([role, await code(member)]).toEqual([role, expected])
    }
  })
  test('nobody in a support session', async () => {
    await using c = await running()
    const { p, serverId } = c
    const path = `/customers/${p.customer.id}/support-session`
    const { headers } = await p.call(p.owner, 'POST', path, { reason: 'They asked' })
    const cookie = /__Host-panel=([^;]+)/.exec(headers.get('Set-Cookie')!)![1]!
    const { csrf } = p.db.$client.query('SELECT csrf FROM sessions WHERE support_of IS NOT NULL').get() as any
    const before = p.fingerprint()
    expect((await c.ticket({ cookie, csrf }, serverId)).body.error.code).toBe('support_session')
    expect(p.fingerprint()).toBe(before)
  })
})

describe('S43: an open console is closed within two seconds', () => {
  type Case = [string, { code: number; reason: string }, (c: Awaited<ReturnType<typeof running>>) => unknown]
  const run = (p: World, sql: string, ...values: string[]) => p.db.$client.run(sql, values)
  const signedOut = { code: 4401, reason: 'You were signed out, or the token was revoked.' }
  const noRight = { code: 4403, reason: 'You may not use this console any more.' }
  const gone = { code: 4404, reason: 'The server is gone, or it is not yours any more.' }
  const suspended = { code: 4409, reason: 'The server or its account is suspended.' }
  const away = { code: 4411, reason: 'The server cannot be reached now.' }
  const off = { code: 4410, reason: 'The server is off.' }
  const cases: Case[] = [
    ['the session ends', signedOut, ({ p }) => void run(p, 'DELETE FROM sessions WHERE account_id = ?', p.customer.id)],
    [
      'the server is suspended',
      suspended,
      ({ p, serverId }) => p.admin('POST', `/servers/${serverId}/actions/suspend`, { reason: 'overdue' }),
    ],
    [
      'the owner is locked',
      suspended,
      ({ p }) => p.admin('POST', `/customers/${p.customer.id}/actions/lock`, { reason: 'overdue' }),
    ],
    ['the server is terminated', gone, ({ p, serverId }) => p.admin('DELETE', `/servers/${serverId}`)],
    [
      'the server gets another owner',
      gone,
      ({ p, serverId }) =>
        void run(p, 'UPDATE workloads SET owner_id = ? WHERE id = ?', p.account('customer', 'Eve').id, serverId),
    ],
    [
      'the credential of its node is revoked',
      away,
      ({ p }) => p.admin('POST', `/admin/nodes/${p.node.id}/actions/revoke-credential`),
    ],
    [
      'the server is switched off',
      off,
      async ({ p, serverId, host }) => {
        await p.admin('POST', `/servers/${serverId}/actions/power`, { action: 'off' })
        await host.consoles.forget(serverId)
      },
    ],
  ]
  for (const [name, close, act] of cases)
    test(`when ${name}`, async () => {
      await using c = await running()
      const viewer = await c.view(c.p.customer, c.serverId)
      await viewer.until('fake login: ')
      const began = performance.now()
      await act(c)
      expect(await viewer.closed).toEqual(close)
      expect(performance.now() - began).toBeLessThan(2000)
      c.host.consoles.says(c.serverId, 'a secret')
      await Bun.sleep(30)
      expect(viewer.text).not.toContain('a secret')
    })
  test('when a member of the team loses the right, and the owner’s own stays open', async () => {
    await using c = await running()
    const mate = c.p.account('customer', 'Mia')
    await share(c.p, c.p.customer, mate, 'operate')
    const [theirs, own] = [await c.view(mate, c.serverId), await c.view(c.p.customer, c.serverId)]
    await Promise.all([theirs.until('login'), own.until('login')])
    run(c.p, "UPDATE team_members SET role = 'view'")
    expect(await theirs.closed).toEqual(noRight)
    own.send('still here\r')
    await own.until('still here')
  })
  test('when its token is revoked', async () => {
    await using c = await running()
    const viewer = await c.view(c.p.token(c.p.customer.id), c.serverId)
    await viewer.until('login')
    run(c.p, 'DELETE FROM tokens')
    expect(await viewer.closed).toEqual(signedOut)
  })
})

describe('limits', () => {
  test('of a server, of an account, and given back when a console closes', async () => {
    await using c = await running()
    const viewers = []
    for (let i = 0; i < mostConsoles.perServer; i++) {
      const viewer = await c.view(c.p.customer, c.serverId)
      await viewer.until('login')
      viewers.push(viewer)
    }
    const refused = await c.ticket(c.p.owner, c.serverId)
    expect([refused.status, refused.body.error.message]).toEqual([
      422,
      '4 consoles of this server are open. Close one first.',
    ])
    viewers[0]!.socket.close()
    await viewers[0]!.closed
    await eventually(async () => (await c.ticket(c.p.owner, c.serverId)).status === 201)
    expect((await c.ticket(c.p.owner, c.serverId)).status).toBe(201)
  })
  test('a frame that is too large, and too much at once, end the console', async () => {
    await using c = await running()
    const large = await c.view(c.p.customer, c.serverId)
    await large.until('login')
    large.socket.send(Buffer.alloc((64 << 10) + 1))
    expect((await large.closed).code).toBe(4407)
    const much = await c.view(c.p.customer, c.serverId)
    await much.until('login')
    for (let i = 0; i < 5000; i++) much.socket.send(Buffer.from('x'))
    expect((await much.closed).code).toBe(4407)
    const wrong = await c.view(c.p.customer, c.serverId)
    await wrong.until('login')
    wrong.socket.send('{"type":"ack","bytes":1}')
    expect((await wrong.closed).code).toBe(4400)
  })
  test('a viewer who does not read costs no memory, and gets the end of it when they read again', async () => {
    await using c = await running()
    const other = await c.view(c.p.owner, c.serverId)
    await other.until('login')
    const stalled = await stalledViewer(c)
    const piece = Buffer.alloc(64 << 10, 'x'.repeat(78) + '\r\n')
    Bun.gc(true)
    const before = process.memoryUsage.rss()
    for (let i = 0; i < 1600; i++) {
      c.host.consoles.says(c.serverId, piece)
      if (i % 16 === 0) await Bun.sleep(2)
    }
    c.host.consoles.says(c.serverId, 'the very end')
    await other.until('the very end', 15_000)
    Bun.gc(true)
    // 100 MB were written; what is held of them is windows and rings.
    expect(process.memoryUsage.rss() - before).toBeLessThan(40e6)
    expect(await stalled.readUntil('the very end')).toBe(true)
  }, 60_000)
})

test('a viewer of the screen who asks for 100 pictures and reads none holds the screen back', async () => {
  await using c = await running()
  const stalled = await stalledViewer(c, 'vnc')
  const asked = Buffer.from([3, 0, 0, 0, 0, 0, 2, 128, 1, 144])
  for (const message of ['RFB 003.008\n', '\x01', '\x01']) stalled.send(Buffer.from(message, 'latin1'))
  for (let n = 0; n < 100; n++) stalled.send(asked)
  await Bun.sleep(3000)
  stalled.end()
  const end = () => lines(c.p).find(([operation]) => operation === 'consoles.closed')
  await eventually(() => !!end())
  const [, closed] = end() as any
  // 100 MB were asked for: the window, and what the kernel takes for a socket.
  expect(closed.sentBytes).toBeGreaterThan(500_000)
  expect(closed.sentBytes).toBeLessThan(16e6)
}, 60_000)

/** A viewer over a bare TCP connection, which stops reading once it is open. */
async function stalledViewer(c: Awaited<ReturnType<typeof running>>, kind: 'serial' | 'vnc' = 'serial') {
  const { body } = await c.ticket(c.p.customer, c.serverId, kind)
  const socket = createConnection({ port: c.port, host: '127.0.0.1' })
  let text = ''
  const collect = (data: Buffer) => {
    text = (text + data.toString('latin1')).slice(-300_000)
  }
  socket.on('data', collect)
  socket.write(
    [
      'GET /console/v1/ HTTP/1.1',
      `Host: 127.0.0.1:${c.port}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      `Sec-WebSocket-Protocol: ${body.protocols.join(', ')}`,
      `Cookie: __Host-panel=${c.p.customer.cookie}`,
      '',
      '',
    ].join('\r\n'),
  )
  for (let i = 0; !text.includes(kind === 'vnc' ? 'RFB 003.008' : 'fake login'); i++) {
    if (i > 1000) throw new Error(`the viewer is not connected: ${text.slice(0, 500)}`)
    await Bun.sleep(5)
  }
  socket.pause()
  return {
    end: () => void socket.destroy(),
    /** One masked frame, with a mask of zeros. */
    send: (bytes: Buffer) =>
      void socket.write(Buffer.concat([Buffer.from([0x82, 0x80 | bytes.length, 0, 0, 0, 0]), bytes])),
    async readUntil(what: string) {
      socket.resume()
      const end = performance.now() + 10_000
      while (!text.includes(what) && performance.now() < end) await Bun.sleep(10)
      socket.destroy()
      return text.includes(what)
    },
  }
}
