// The program restarted under load, by a service manager that keeps its listening socket as systemd does: no connection
// is refused or reset, and each change is done or was refused with 503. Without one, none is reset.
import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { pathsIn } from '../../host/supervised.ts'
import { serviceManager } from '../../support/services/service-manager.ts'
import { installation } from '../../support/world/processes.ts'
import { program } from '../../support/world/program.ts'

const RESTARTS = 10

test(`${RESTARTS} restarts under load: no connection is refused or reset, and no change is lost`, async () => {
  const live = await installation()
  const manager = serviceManager(`${live.dir}/notify`)
  const start = () => {
    const { command, env, fds } = manager.passes([...program, 'serve'])
    return Bun.spawn(command, {
      env: { PATH: process.env['PATH']!, HOME: '/root', ...live.env, ...env },
      stdio: ['ignore', 'ignore', Bun.file(`${live.dir}/controller.log`), ...fds] as any,
    })
  }
  const until = async (what: string, look: () => unknown) => {
    for (const end = Date.now() + 30_000; ; await Bun.sleep(20)) {
      if (await look()) return
      if (Date.now() > end) throw new Error(`waited in vain: ${what}`)
    }
  }
  const answers = () =>
    fetch(`${live.url}/api/v1/status`).then(
      (r) => r.ok,
      () => false,
    )
  let controller = start()
  try {
    await until('the first start', answers)
    expect(manager.stored).toBeGreaterThan(0)
    const token = await live.ownerToken()

    let running = true
    const broken: string[] = []
    const count = { reads: 0, done: 0, refused: 0 }
    const sent: string[] = []
    /** One connection after another, as a loop of curl; or one that is kept open. */
    const client = async (name: string, request: (i: number) => Promise<void>) => {
      for (let i = 0; running; i++)
        await request(i).catch((error) => broken.push(`${name}: ${(error as { code?: string }).code ?? error}`))
    }
    const ask = (method: string, path: string, keepalive: boolean, body?: unknown) =>
      fetch(`${live.url}/api/v1${path}`, {
        method,
        keepalive,
        headers: {
          Authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(20_000),
      })
    const read = (keepalive: boolean) => async () => {
      const response = await ask('GET', '/admin/customers?limit=5', keepalive)
      await response.json()
      expect(response.status).toBe(200)
      count.reads++
      await Bun.sleep(15)
    }
    const change = (who: string) => async (i: number) => {
      const email = `${who}-${i}@customer.test`
      const response = await ask('POST', '/admin/customers', false, { name: who, email, invite: false })
      const body = (await response.json()) as { id?: string; error?: { code: string } }
      if (response.status === 503) {
        expect([body.error?.code, response.headers.get('Retry-After')]).toEqual(['restarting', '60'])
        count.refused++
      } else {
        expect(response.status).toBe(201)
        sent.push(email)
        count.done++
      }
      await Bun.sleep(25)
    }
    const clients = [
      client('read', read(false)),
      client('read on a kept connection', read(true)),
      client('change', change('a')),
      client('change', change('b')),
    ]
    for (let i = 0; i < RESTARTS; i++) {
      await Bun.sleep(300)
      controller.kill('SIGTERM')
      expect(await controller.exited).toBe(0)
      const before = count.reads
      controller = start()
      await until(`restart ${i + 1}`, () => count.reads > before + 20)
    }
    running = false
    await Promise.all(clients)

    expect(broken).toEqual([])
    // Exactly what was answered 201 is there: a refused change did nothing, and none was lost.
    const stored = live.query("SELECT email AS words FROM accounts WHERE email LIKE '%@customer.test'")
    expect(stored.toSorted()).toEqual(sent.toSorted())
    console.log(`${RESTARTS} restarts: ${count.reads} reads, ${count.done} changes done, ${count.refused} refused`)
    expect([count.done > 50, count.refused > 0]).toEqual([true, true])
    expect(manager.told.filter((text) => text.startsWith('FDSTORE=1'))).toHaveLength(1)

    // Another address than that of the kept socket: a new one is opened and kept instead.
    controller.kill('SIGTERM')
    await controller.exited
    const { port } = new URL(live.url)
    live.env['PANEL_LISTEN'] = `127.0.0.2:${port}`
    controller = start()
    await until('the other address', () =>
      fetch(`http://127.0.0.2:${port}/api/v1/status`).then(
        (r) => r.ok,
        () => false,
      ),
    )
    expect(manager.stored).toBeGreaterThan(0)
    expect(manager.told.filter((text) => text.startsWith('FDSTOREREMOVE=1'))).toHaveLength(1)
    expect(await answers()).toBe(false)
  } finally {
    controller.kill('SIGTERM')
    await controller.exited
    manager.close()
    await live.close()
  }
}, 180_000)

/** One request on a connection of its own: what became of it. */
const onItsOwn = (port: number) =>
  new Promise<'answered' | 'refused' | 'broken'>((resolve) => {
    let said = ''
    let isOpen = false
    const socket = connect(port, '127.0.0.1')
    const end = () => resolve(/^HTTP\/1\.1 (200|429) .*\}$/s.test(said) ? 'answered' : isOpen ? 'broken' : 'refused')
    socket.on('connect', () => {
      isOpen = true
      socket.write('GET /api/v1/status HTTP/1.1\r\nHost: berth.test\r\nConnection: close\r\n\r\n')
    })
    socket.on('data', (bytes) => {
      said += bytes
    })
    socket.on('error', end)
    socket.on('close', end)
    socket.setTimeout(20_000, () => socket.destroy())
  })

test.each([4, 30])(
  'nobody keeps the socket, %d clients: a connection that was accepted is answered before the stop',
  async (clients) => {
    const live = await installation()
    const port = Number(new URL(live.url).port)
    try {
      let controller = await live.serve()
      let running = true
      const count = { answered: 0, refused: 0, broken: 0 }
      const loops = Array.from({ length: clients }, async () => {
        for (; running; await Bun.sleep(2)) count[await onItsOwn(port)]++
      })
      for (let i = 0; i < 8; i++) {
        const before = count.answered
        controller.kill('SIGTERM')
        expect(await controller.exited).toBe(0)
        controller = await live.serve()
        await live.until(`answers after restart ${i + 1}`, async () => count.answered > before + 2 * clients)
      }
      running = false
      await Promise.all(loops)
      console.log(`8 restarts under ${clients} clients: ${JSON.stringify(count)}`)
      expect(count.broken).toBe(0)
    } finally {
      await live.close()
    }
  },
  120_000,
)

test('the supervisor on a machine without systemd holds the socket over a restart and lets go at a stop', async () => {
  const live = await installation()
  const paths = pathsIn(live.dir)
  for (const dir of [paths.settings, paths.logs]) mkdirSync(dir)
  writeFileSync(`${paths.settings}/services`, 'berth\n')
  writeFileSync(
    `${live.dir}/launches.json`,
    JSON.stringify({
      berth: { command: [...program, 'serve'], env: live.env, final: [2], listen: new URL(live.url).host },
    }),
  )
  const entry = new URL('../../host/supervised.ts', import.meta.url).pathname
  const call = async (...args: string[]) =>
    Bun.spawn([process.execPath, entry, live.dir, ...args], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
      .exited
  const status = () =>
    fetch(`${live.url}/api/v1/status`, { keepalive: false, signal: AbortSignal.timeout(20_000) }).then(
      async (r) => ((await r.json()) as { startedAt: string }).startedAt,
      (error) => String((error as { code?: string }).code),
    )
  try {
    expect(await call('start', 'berth')).toBe(0)
    // The socket is there before the program is.
    const seen = [await status()]
    let running = true
    const client = (async () => {
      for (; running; await Bun.sleep(10)) seen.push(await status())
    })()
    for (let i = 0; i < 3; i++) {
      const before = seen.at(-1)
      expect(await call('restart', 'berth')).toBe(0)
      for (const end = Date.now() + 20_000; seen.at(-1) === before && Date.now() < end; ) await Bun.sleep(20)
    }
    running = false
    await client
    // A time for each of the four processes, and no error between them.
    expect([...new Set(seen)].map((text) => Number.isNaN(Date.parse(text)))).toEqual([false, false, false, false])
    expect(await call('stop', 'berth')).toBe(0)
    expect(await status()).toMatch(/REFUSED/i)
  } finally {
    await call('stop', 'berth')
    await live.close()
  }
}, 120_000)
