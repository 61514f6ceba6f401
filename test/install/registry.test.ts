// install.sh --build-only where the registry is reached through a proxy that opens TLS with an authority of its own.
// The proxy is the test's; what it is asked for it gets from the registry that this machine is set to.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issued } from '../support/services/certificate.ts'
import { checkout, type Ended, spawn } from './clean-machine.ts'

setDefaultTimeout(180_000)
const npm = Bun.which('npm')
if (!npm) console.error('left out: registries behind a proxy (needs npm)')

/** Host and port of the registry that npm uses here. */
const registry = npm ? new URL((await spawn(['npm', 'config', 'get', 'registry'])).out.trim()) : undefined

describe.skipIf(!registry)('install.sh behind a proxy that opens TLS', () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-proxy-'))
  const copy = join(dir, 'berth')
  const authority = join(dir, 'proxy-ca.crt')
  const opened: string[] = []
  let https: Bun.Server<undefined>
  let proxy: Server
  let proxyUrl = ''

  beforeAll(async () => {
    const { ca, cert, key } = issued(join(dir, 'made'), registry!.hostname)
    writeFileSync(authority, ca)
    https = Bun.serve({ port: 0, tls: { cert, key }, fetch: (request) => upstream(request) })
    proxy = createServer((client) => {
      client.once('data', (head) => {
        opened.push(/^CONNECT (\S+) /.exec(head.toString())?.[1] ?? 'no CONNECT')
        const server = connect(https.port!, '127.0.0.1', () => {
          client.write('HTTP/1.1 200 Connection established\r\n\r\n')
          client.pipe(server).pipe(client)
        })
        server.on('error', () => client.destroy())
      })
      client.on('error', () => {})
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    proxyUrl = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`
    await spawn([
      'bash',
      '-c',
      `mkdir ${copy} ${dir}/home; cd ${checkout}; git ls-files -co --exclude-standard -z | xargs -0 ls -d 2>/dev/null |
        tar -c -T - | tar -x -C ${copy}`,
    ])
  })
  afterAll(async () => {
    proxy?.close()
    await https?.stop(true)
    rmSync(dir, { recursive: true, force: true })
  })

  const upstream = async ({ url, headers }: Request) => {
    const { pathname, search } = new URL(url)
    const accept = headers.get('accept') ?? '*/*'
    const answer = await fetch(`${registry!.origin}${pathname}${search}`, { headers: { accept } })
    const type = answer.headers.get('content-type') ?? 'application/octet-stream'
    return new Response(await answer.arrayBuffer(), { status: answer.status, headers: { 'content-type': type } })
  }

  /** In a copy of the checkout, with these settings and no others: none of npm's and none of this shell's. */
  const build = (settings: Record<string, string>): Promise<Ended> =>
    spawn([
      'env',
      '-i',
      ...Object.entries({
        PATH: process.env['PATH'] ?? '',
        HOME: join(dir, 'home'),
        BUN_INSTALL_CACHE_DIR: join(dir, 'bun-cache'),
        npm_config_cache: join(dir, 'npm-cache'),
        npm_config_globalconfig: join(dir, 'no-npmrc'),
        npm_config_registry: registry!.href,
        ...settings,
      }).map(([name, value]) => `${name}=${value}`),
      join(copy, 'install.sh'),
      '--build-only',
    ])

  test('without that authority it says in npm’s words what is wrong, and how to trust it', async () => {
    const { code, err } = await build({ HTTPS_PROXY: proxyUrl })
    expect(code).toBe(1)
    expect(err).toContain('✗ Bun ')
    expect(err).toMatch(/npm error.*certificate/i)
    expect(err).toContain('sudo NODE_EXTRA_CA_CERTS=FILE ./install.sh --build-only')
    expect(err).toContain('update-ca-certificates')
    expect(err).toContain('docs/install.md, "Behind a proxy"')
    expect(existsSync(join(copy, '.tools/bun'))).toBe(false)
  })

  test('where no proxy answers it says that the registry is not reached, and how to name the proxy', async () => {
    const { code, err } = await build({ HTTPS_PROXY: 'http://127.0.0.1:1' })
    expect(code).toBe(1)
    expect(err).toMatch(/npm error.*ECONNREFUSED/)
    expect(err).toContain('sudo HTTPS_PROXY=http://proxy.example.com:3128 ./install.sh --build-only')
  })

  test('with the proxy and its authority in the environment npm and Bun both come through it', async () => {
    opened.length = 0
    const { code, out, err } = await build({ https_proxy: proxyUrl, NODE_EXTRA_CA_CERTS: authority })
    expect([code, err]).toEqual([0, ''])
    for (const step of [/^✓ Bun .*integrity verified/m, /^✓ Libraries/m, /^✓ Building dist\/berth/m])
      expect(out).toMatch(step)
    expect(new Set(opened)).toEqual(new Set([`${registry!.hostname}:${registry!.port || 443}`]))
    expect(existsSync(join(copy, 'dist/berth'))).toBe(true)
  })

  test('npm’s own settings of proxy and authority hold for the libraries that Bun fetches', async () => {
    rmSync(join(copy, 'node_modules'), { recursive: true })
    rmSync(join(copy, 'dist'), { recursive: true })
    rmSync(join(dir, 'bun-cache'), { recursive: true })
    opened.length = 0
    writeFileSync(join(dir, 'home/.npmrc'), `https-proxy=${proxyUrl}\ncafile=${authority}\n`)
    const { code, err } = await build({})
    rmSync(join(dir, 'home/.npmrc'))
    expect([code, err]).toEqual([0, ''])
    expect(opened.length).toBeGreaterThan(0)
  })

  test('NO_PROXY leads past the proxy', async () => {
    rmSync(join(copy, '.tools'), { recursive: true })
    rmSync(join(copy, 'dist'), { recursive: true })
    const empty = Bun.serve({ hostname: '127.0.0.2', port: 0, fetch: () => new Response('{}', { status: 404 }) })
    const { code, err } = await build({
      http_proxy: 'http://127.0.0.1:1',
      NO_PROXY: '127.0.0.2',
      npm_config_registry: empty.url.href,
    })
    await empty.stop(true)
    expect(code).toBe(1)
    expect(err).toMatch(/npm error code E404/)
  })
})
