// Names of HTTP ports, with Debian's Caddy and programs of this test in place of instances.
import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { CaddyHttpNames, type CaddyOptions } from '../../../agent/drivers/http-names/caddy.ts'
import { proxyConfig, type Tls } from '../../../agent/drivers/http-names/config.ts'
import { FakeHttpNames } from '../../../agent/drivers/http-names/fake.ts'
import { instanceId } from '../../agent/instances/examples.ts'
import { temporary } from '../../agent/temporary.ts'
import { selfSigned } from '../../support/services/certificate.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { missing, note } from '../tools.ts'
import { DOMAIN, httpNamesContract, name, nameOf } from './http-names.contract.ts'

describe('names of the fake host', () => {
  httpNamesContract(async () => {
    const names = new FakeHttpNames(new Database(':memory:'))
    return {
      names,
      finds: async (wanted) => {
        const found = names.served().find((one) => one.name === wanted)
        return found ? (found.isOpen ? 'instance' : 'stopped') : 'nothing'
      },
    }
  }, 8888)
})

/** A port that nothing has, below those of outgoing connections. */
const freePort = async (): Promise<number> => {
  const server = createServer()
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const { port } = server.address() as { port: number }
  await new Promise((done) => server.close(done))
  return port
}

/** In place of an instance: it answers with the request's headers, a stream, or a size, and echoes on a WebSocket. */
const instance = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  async fetch(request, server) {
    const { pathname } = new URL(request.url)
    if (pathname === '/socket' && server.upgrade(request, { data: undefined })) return undefined
    if (pathname === '/upload') return new Response(String((await request.bytes()).length))
    if (pathname === '/stream')
      return new Response(
        new ReadableStream({
          // It stays open until the client has gone.
          start: (stream) => stream.enqueue('first\n'),
        }),
      )
    return Response.json(Object.fromEntries(request.headers))
  },
  websocket: { message: (socket, text) => void socket.send(`echo ${text}`) },
})
const PORT = instance.port!
afterAll(() => instance.stop(true))

type Said = { status: number; body: string; location?: string | undefined }
const reason = await missing('caddy')

describe.skipIf(note(reason, 'names of HTTP ports by Caddy'))('names by Caddy', () => {
  const processes: Bun.Subprocess[] = []
  afterAll(async () => {
    for (const one of processes) one.kill('SIGKILL')
    await Promise.all(processes.map((one) => one.exited))
  })

  /** A certificate for all names, as an operator brings it. */
  const certificate = async () => {
    const { key, pem } = await selfSigned(temporary('http-names-certificate'), 'names', `DNS:*.${DOMAIN}`)
    return { certificate: pem, key: readFileSync(key, 'utf8') }
  }

  /** The service, as systemd keeps it. `tls` can be replaced, as a renewed certificate is. */
  async function rig(given?: Tls) {
    const dir = temporary('http-names')
    const now: { tls: Tls } = { tls: given ?? (await certificate()) }
    const options: CaddyOptions = {
      dir: join(dir, 'agent'),
      runningDir: join(dir, 'running'),
      adminSocket: join(dir, 'admin.sock'),
      storage: join(dir, 'storage'),
      httpPort: await freePort(),
      httpsPort: await freePort(),
      addressOf: (number) => `127.0.0.${number}`,
      tls: () => now.tls,
    }
    const config = join(options.dir, 'caddy.json')
    const names = new CaddyHttpNames(options)
    const run = async () => {
      const env = { ...process.env, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir }
      const caddy = Bun.spawn(['caddy', 'run', '--config', config], { env, stdout: 'ignore', stderr: 'ignore' })
      processes.push(caddy)
      await eventually(() => existsSync(options.adminSocket))
      return caddy
    }
    /** The answer under this name, by HTTPS with this SNI. */
    const get = async (host: string, path = '/', init: RequestInit = {}): Promise<Said> => {
      const response = await fetch(`https://127.0.0.1:${options.httpsPort}${path}`, {
        ...init,
        headers: { Host: host, ...(init.headers as Record<string, string>) },
        tls: { rejectUnauthorized: false, serverName: host },
        keepalive: false,
      } as RequestInit)
      return { status: response.status, body: await response.text() }
    }
    const finds = async (host: string) => {
      const { status } = await get(host).catch(() => ({ status: 0 }))
      return status === 200 ? ('instance' as const) : status === 503 ? ('stopped' as const) : ('nothing' as const)
    }
    return { dir, config, options, names, now, run, get, finds }
  }
  /** One that runs and leads to the program of this test. */
  async function serving(given?: Tls) {
    const service = await rig(given)
    await service.names.set({ domain: DOMAIN, names: [name(1, PORT), name(2, PORT)] })
    service.names.opened(instanceId(1))
    const caddy = await service.run()
    await eventually(async () => (await service.finds(nameOf(1, PORT))) === 'instance')
    return { ...service, caddy }
  }

  httpNamesContract(async () => {
    const service = await rig()
    await service.names.set({ domain: DOMAIN, names: [] })
    await service.run()
    return service
  }, PORT)

  test('a request by name comes with the visitor’s own address, whatever the visitor says of it', async () => {
    const { get } = await serving()
    const { status, body } = await get(nameOf(1, PORT), '/', { headers: { 'X-Forwarded-For': '192.0.2.66' } })
    expect(status).toBe(200)
    expect(JSON.parse(body)).toMatchObject({
      host: nameOf(1, PORT),
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
    })
  })
  test('WebSockets, streams and large uploads pass', async () => {
    const { get, options } = await serving()
    const socket = new WebSocket(`wss://127.0.0.1:${options.httpsPort}/socket`, {
      headers: { Host: nameOf(1, PORT) },
      tls: { rejectUnauthorized: false, serverName: nameOf(1, PORT) },
    } as never)
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    socket.onopen = () => socket.send('hello')
    socket.onmessage = ({ data }) => resolve(String(data))
    socket.onerror = () => reject(new Error('the WebSocket did not open'))
    expect(await promise).toBe('echo hello')
    socket.close()
    const streaming = await fetch(`https://127.0.0.1:${options.httpsPort}/stream`, {
      headers: { Host: nameOf(1, PORT) },
      tls: { rejectUnauthorized: false, serverName: nameOf(1, PORT) },
    } as RequestInit)
    const reader = streaming.body!.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('first\n')
    await reader.cancel()
    const sent = Buffer.alloc(64 << 20)
    expect((await get(nameOf(1, PORT), '/upload', { method: 'POST', body: sent })).body).toBe(String(sent.length))
  })
  test('an unknown name, a stopped instance and a port where nothing listens say so in words', async () => {
    const { names, get, finds } = await serving()
    const deaf = await freePort()
    await names.set({ domain: DOMAIN, names: [name(1, PORT), name(2, PORT), name(1, deaf)] })
    await eventually(async () => (await get(nameOf(1, deaf))).status === 502)
    expect(await get(nameOf(1, deaf))).toMatchObject({
      status: 502,
      body: 'Nothing answers at this port of the instance. Its program may still be starting.\n',
    })
    expect(await get(nameOf(2, PORT))).toMatchObject({ status: 503, body: 'The instance is stopped.\n' })
    expect(await get(nameOf(3, PORT))).toMatchObject({ status: 404, body: 'There is nothing under this name.\n' })
    // The name in the TLS handshake is known, and that of the request is not.
    for (const other of [DOMAIN, 'example.org', '127.0.0.1', `${nameOf(1, PORT)}.example.org`])
      expect((await get(nameOf(1, PORT), '/', { headers: { Host: other } })).status).toBe(404)
    expect(await finds(nameOf(1, PORT))).toBe('instance')
  })
  test('plain HTTP leads to HTTPS', async () => {
    const { options } = await serving()
    const ask = (host: string) =>
      fetch(`http://127.0.0.1:${options.httpPort}/tree?a=b`, { headers: { Host: host }, redirect: 'manual' })
    const known = await ask(nameOf(1, PORT))
    expect([known.status, known.headers.get('Location')]).toEqual([308, `https://${nameOf(1, PORT)}/tree?a=b`])
    expect((await ask('example.org')).status).toBe(404)
  })
  test('a lab is served by plain HTTP', async () => {
    const service = await rig('plain')
    expect(await service.names.set({ domain: DOMAIN, names: [name(1, PORT)] })).toEqual({ scheme: 'http' })
    service.names.opened(instanceId(1))
    await service.run()
    const ask = () => fetch(`http://127.0.0.1:${service.options.httpPort}/`, { headers: { Host: nameOf(1, PORT) } })
    await eventually(async () => (await ask().catch(() => undefined))?.ok === true)
    expect((await ask()).status).toBe(200)
  })
  test('it serves on without an agent, and after Caddy was killed a new one serves the same', async () => {
    const { caddy, run, finds, options, names } = await serving()
    // Nothing of the agent is asked for a request; a new agent that says the same changes nothing.
    expect(await new CaddyHttpNames(options).ensure()).toBe(false)
    caddy.kill('SIGKILL')
    await caddy.exited
    expect(await finds(nameOf(1, PORT))).toBe('nothing')
    // While it is down the names can change.
    await names.set({ domain: DOMAIN, names: [name(1, PORT)] })
    await run()
    await eventually(async () => (await finds(nameOf(1, PORT))) === 'instance')
    expect(await finds(nameOf(1, PORT))).toBe('instance')
    expect(await finds(nameOf(2, PORT))).toBe('nothing')
  })
  test('a configuration that somebody broke is mended, in the file and in the program', async () => {
    const { config, options, names, finds } = await serving()
    writeFileSync(config, '{ broken')
    expect(await names.ensure()).toBe(true)
    expect(await names.ensure()).toBe(false)
    const empty = join(options.dir, 'empty.json')
    writeFileSync(empty, JSON.stringify({ admin: { listen: `unix/${options.adminSocket}` } }))
    await Bun.$`caddy reload --config ${empty} --address unix/${options.adminSocket}`.quiet()
    expect(await finds(nameOf(1, PORT))).toBe('nothing')
    await names.ensure()
    await eventually(async () => (await finds(nameOf(1, PORT))) === 'instance')
    expect(await finds(nameOf(1, PORT))).toBe('instance')
  })
  test('a certificate that is renewed is taken; one that Caddy refuses replaces nothing', async () => {
    const { now, names, config, finds } = await serving()
    const before = readFileSync(config, 'utf8')
    now.tls = { certificate: 'no certificate', key: 'no key' }
    await expect(names.ensure()).rejects.toMatchObject({ code: 'http_proxy_refused' })
    await expect(names.set({ domain: DOMAIN, names: [name(2, PORT)] })).rejects.toMatchObject({
      code: 'http_proxy_refused',
    })
    expect([readFileSync(config, 'utf8') === before, await finds(nameOf(1, PORT))]).toEqual([true, 'instance'])
    now.tls = await certificate()
    expect(await names.ensure()).toBe(true)
    expect(await finds(nameOf(1, PORT))).toBe('instance')
  })
})

describe('the configuration', () => {
  const settings = {
    tls: 'acme' as const,
    httpPort: 80,
    httpsPort: 443,
    adminSocket: '/run/admin.sock',
    storage: '/var/lib/proxy',
    runningDir: '/run/names',
  }
  test('leads names to addresses of instances alone, and has a certificate made for each', () => {
    const config = JSON.parse(proxyConfig({ domain: DOMAIN, names: [name(1, 8888), name(2, 22)] }, settings))
    expect(JSON.stringify(config).match(/"dial":"[^"]+"/g)).toEqual([
      '"dial":"10.208.0.6:8888"',
      '"dial":"10.208.0.10:22"',
    ])
    expect(config.apps.http.servers.names.automatic_https).toEqual({ disable_redirects: true })
    expect(config.apps.http.servers.names).toMatchObject({
      read_header_timeout: '10s',
      idle_timeout: '2m',
      max_header_bytes: 65_536,
    })
    expect(config.apps.tls.automation.policies).toEqual([{ issuers: [{ module: 'acme' }] }])
  })
  test('of a host without domain listens nowhere', () => {
    expect(JSON.parse(proxyConfig({ domain: null, names: [] }, settings)).apps).toEqual({})
  })
})
