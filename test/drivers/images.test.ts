import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { Refused } from '../../agent/controller-link/controller.ts'
import { Registry } from '../../agent/drivers/container/registry/registry.ts'
import { DownloadedImages } from '../../agent/drivers/images/download.ts'
import { isPublic, type Platform, publicAddresses } from '../../agent/drivers/images/public-only.ts'
import { Failure, failureOf } from '../../agent/failure.ts'
import { run } from '../../agent/host/exec.ts'
import { parseQcow2, readQcow2 } from '../../agent/protocol/qcow2.ts'
import type { ImageSource } from '../../agent/protocol/wire.ts'
import { imageSource } from '../agent/examples.ts'
import { temporary } from '../agent/temporary.ts'
import { missing, note } from './tools.ts'

/** A valid header of a disk of 1 GiB, which `spoil` changes. */
function header(spoil: (head: Buffer) => void = () => {}): Buffer {
  const head = Buffer.alloc(65536)
  head.writeUInt32BE(0x514649fb, 0)
  head.writeUInt32BE(3, 4)
  head.writeUInt32BE(16, 20)
  head.writeBigUInt64BE(1n << 30n, 24)
  head.writeUInt32BE(2, 36)
  head.writeBigUInt64BE(0x30000n, 40)
  head.writeBigUInt64BE(0x10000n, 48)
  head.writeUInt32BE(1, 56)
  head.writeUInt32BE(4, 96)
  head.writeUInt32BE(104, 100)
  spoil(head)
  return head
}
const FILE_BYTES = 0x40000n
const extension =
  (kind: number, bytes = 8) =>
  (head: Buffer) => {
    head.writeUInt32BE(kind, 104)
    head.writeUInt32BE(bytes, 108)
  }

describe('the header of a qcow2 image', () => {
  test('of a self-contained disk is accepted', () => {
    expect(parseQcow2(header(), FILE_BYTES)).toEqual({ version: 3, virtualSizeBytes: 2 ** 30, clusterBytes: 65536 })
  })
  const hostile: [string, (head: Buffer) => void, string][] = [
    ['begins like another format', (head) => head.write('KDMV'), 'does not begin'],
    ['has an unknown version', (head) => head.writeUInt32BE(4, 4), 'version is 4'],
    ['names a backing file', (head) => head.writeBigUInt64BE(1024n, 8), 'backing file'],
    ['hides a backing file behind a zero offset', (head) => head.writeUInt32BE(11, 16), 'backing file'],
    ['names the format of a backing file', extension(0xe2792aca), 'format of a backing file'],
    ['names an external data file', extension(0x44415441), 'data in another file'],
    ['says it needs an external data file', (head) => head.writeBigUInt64BE(4n, 72), 'needs features 0x4'],
    ['says its data is raw elsewhere', (head) => head.writeBigUInt64BE(2n, 88), 'data in another file'],
    ['is marked dirty', (head) => head.writeBigUInt64BE(1n, 72), 'needs features 0x1'],
    ['has extended tables', (head) => head.writeBigUInt64BE(16n, 72), 'needs features 0x10'],
    ['has an unknown compression', (head) => head.writeBigUInt64BE(8n, 72), 'compression'],
    ['is encrypted', (head) => head.writeUInt32BE(1, 32), 'encrypted'],
    ['is encrypted by extension', extension(0x0537be77, 16), 'encrypted'],
    ['has an extension without an end', extension(1, 0xffffffff), 'do not end'],
    ['holds snapshots', (head) => head.writeUInt32BE(1, 60), 'snapshots'],
    ['has a disk of no size', (head) => head.writeBigUInt64BE(0n, 24), 'would have 0 bytes'],
    ['has a disk larger than any', (head) => head.writeBigUInt64BE(1n << 63n, 24), 'would have'],
    ['has clusters of 2^63 bytes', (head) => head.writeUInt32BE(63, 20), 'clusters are 2^63'],
    ['has a first table for another disk', (head) => head.writeUInt32BE(1, 36), 'too short for its disk'],
    ['has a first table that fills the memory', (head) => head.writeUInt32BE(0xffffffff, 36), 'entries'],
    ['has a first table behind its end', (head) => head.writeBigUInt64BE(1n << 40n, 40), 'not in the file'],
    ['has a first table over its header', (head) => head.writeBigUInt64BE(0n, 40), 'not in the file'],
    ['has a first table between clusters', (head) => head.writeBigUInt64BE(0x10001n, 40), 'not in the file'],
    ['has a count table behind its end', (head) => head.writeBigUInt64BE(1n << 62n, 48), 'not in the file'],
    ['has no count table', (head) => head.writeUInt32BE(0, 56), 'count table'],
    ['has a header longer than a cluster', (head) => head.writeUInt32BE(1 << 20, 100), 'no sane length'],
  ]
  for (const [what, spoil, words] of hostile) {
    test(`that ${what} is refused`, () => {
      expect(() => parseQcow2(header(spoil), FILE_BYTES)).toThrow(words)
    })
  }
  test('that is cut short is refused', () => {
    for (const bytes of [0, 4, 71, 72, 103])
      expect(() => parseQcow2(header().subarray(0, bytes), BigInt(bytes))).toThrow('refused')
  })
  test('of random bytes is accepted or refused, without any other error', () => {
    const spoilt = fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 12 })
    fc.assert(
      fc.property(spoilt, fc.bigInt({ min: 0n, max: 1n << 64n }), (changes, fileBytes) => {
        const head = header()
        for (const [at, value] of changes) head[at] = value
        try {
          expect(parseQcow2(head, fileBytes).virtualSizeBytes).toBeGreaterThan(0)
        } catch (error) {
          expect(error).toBeInstanceOf(Failure)
        }
      }),
      { numRuns: 5000 },
    )
  })
})

describe.skipIf(note(await missing('qemu-img'), 'images made by qemu-img'))('an image made by qemu-img', () => {
  const make = async (...options: string[]) => {
    const path = join(temporary('qcow2'), 'x.qcow2')
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', ...options, '--', path, '1G'])
    return path
  }
  for (const options of [
    [],
    ['-o', 'compat=0.10'],
    ['-o', 'cluster_size=2M'],
    ['-o', 'cluster_size=512'],
    ['-o', 'compression_type=zstd'],
    ['-o', 'preallocation=metadata'],
  ]) {
    test(`is accepted (${options.join(' ') || 'plain'})`, async () => {
      expect((await readQcow2(await make(...options))).virtualSizeBytes).toBe(2 ** 30)
    })
  }
  test('over a backing file is refused', async () => {
    expect(readQcow2(await make('-b', await make(), '-F', 'qcow2'))).rejects.toThrow('backing file')
  })
  test('with a data file elsewhere is refused', async () => {
    expect(readQcow2(await make('-o', `data_file=${join(temporary('d'), 'data')}`))).rejects.toThrow('needs features')
  })
})

describe('an image from the network', () => {
  const closing: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
    delete process.env['PANEL_AGENT_INSECURE']
  })
  const bytes = Buffer.concat([header(), Buffer.alloc(Number(FILE_BYTES) - 65536)])
  const sum = (kind: string, of: Buffer = bytes) => `${kind}:${createHash(kind).update(of).digest('hex')}`

  function rig(answer: (request: Request) => Response | Promise<Response> = () => new Response(bytes)) {
    const asked: (string | null)[] = []
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) => {
        asked.push(request.headers.get('X-Berth-Node'))
        return answer(request)
      },
    })
    closing.push(() => server.stop(true))
    process.env['PANEL_AGENT_INSECURE'] = '1'
    const root = temporary('images')
    const url = `http://127.0.0.1:${server.port}`
    const images = new DownloadedImages(
      root,
      (path, signal) => fetch(url + path, { headers: { 'X-Berth-Node': 'nod_1' }, signal }),
      { allowed: ['127.0.0.0/8'] },
    )
    const source: ImageSource = { ...imageSource, url: `${url}/image.qcow2`, checksum: sum('sha256') }
    return { asked, root, images, source }
  }

  test('is downloaded once for simultaneous and later calls', async () => {
    const { asked, images, source } = rig()
    const [first, second] = await Promise.all([images.ensure(source), images.ensure(source)])
    expect(first).toEqual(second)
    expect(first.virtualSizeBytes).toBe(2 ** 30)
    expect(await images.ensure(source)).toEqual(first)
    expect(readFileSync(first.path)).toEqual(bytes)
    expect(asked).toHaveLength(1)
  })
  test('is checked by SHA-256 or SHA-512', async () => {
    const { images, source } = rig()
    expect((await images.ensure({ ...source, checksum: sum('sha512') })).virtualSizeBytes).toBe(2 ** 30)
  })
  test('with another checksum is not stored', async () => {
    const { root, images, source } = rig()
    expect(images.ensure({ ...source, checksum: sum('sha256', Buffer.from('other')) })).rejects.toMatchObject({
      code: 'checksum_mismatch',
    })
    await images.ensure(source).catch(() => {})
    await images.remove(source.id)
    expect(readdirSync(root)).toEqual([])
    expect(await images.find(source.id)).toBeUndefined()
  })
  test('with a new checksum under the same id is downloaded again', async () => {
    const { asked, images, source } = rig()
    await images.ensure(source)
    await images.ensure({ ...source, checksum: sum('sha512') })
    expect(asked).toHaveLength(2)
  })
  test('stays while its new build is fetched, and when that fails', async () => {
    const next = Buffer.concat([bytes, Buffer.alloc(512, 7)])
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    let now = bytes
    const { images, source } = rig(async () => {
      if (now === next) await gate
      return new Response(now)
    })
    const first = await images.ensure(source)
    now = next
    const newer = { ...source, checksum: sum('sha256', next) }
    const fetching = images.ensure(newer)
    const lied = images.ensure({ ...source, checksum: sum('sha256', Buffer.from('other')) }).catch((e) => e.code)
    await Bun.sleep(20)
    expect(await images.find(source.id)).toEqual(first)
    expect(readFileSync(first.path)).toEqual(bytes)
    open()
    expect(await fetching).toEqual({ ...first, checksum: newer.checksum })
    expect(await lied).toBe('checksum_mismatch')
    expect(await images.find(source.id)).toEqual({ ...first, checksum: newer.checksum })
    expect(readFileSync(first.path)).toEqual(next)
  })
  test('with the right checksum and a hostile header is not stored', async () => {
    const evil = header((head) => head.writeBigUInt64BE(1024n, 8))
    const { root, images, source } = rig(() => new Response(new Uint8Array(evil)))
    expect(images.ensure({ ...source, checksum: sum('sha256', evil) })).rejects.toMatchObject({ code: 'image_refused' })
    await Bun.sleep(50)
    expect(readdirSync(root)).toEqual([])
  })
  test('of which a crash left half is downloaded again', async () => {
    const { root, images, source } = rig()
    writeFileSync(join(root, `${source.id}.qcow2.part`), 'half')
    expect(await images.find(source.id)).toBeUndefined()
    expect((await images.ensure(source)).virtualSizeBytes).toBe(2 ** 30)
  })
  test('from the controller is requested with the node’s identity', async () => {
    const { asked, images, source } = rig()
    await images.ensure({ ...source, url: '/agent/v1/images/img_1' })
    expect(asked).toEqual(['nod_1'])
  })
  test('that the controller does not hand out fails as every download does, with its reason', async () => {
    const reasons = [
      new Refused(404, 'image_not_found', 'There is no such image.'),
      new Failure('unreachable', 'the controller does not answer'),
      new Failure('not_enrolled', 'this host has no controller yet'),
    ]
    for (const reason of reasons) {
      const images = new DownloadedImages(temporary('refused'), () => {
        throw reason
      })
      const error: unknown = await images.ensure({ ...imageSource, url: '/agent/v1/images/img_1' }).catch((e) => e)
      const message = `the file could not be fetched from the controller: ${reason.message}`
      expect(failureOf(error)).toEqual({ code: 'download_failed', message })
    }
  })
  test('may redirect to a mirror, but not endlessly and not away from https', async () => {
    const { images, source } = rig(({ url }) =>
      url.endsWith('/mirror') ? new Response(bytes) : Response.redirect('/mirror'),
    )
    expect((await images.ensure(source)).virtualSizeBytes).toBe(2 ** 30)
    const circle = rig(() => Response.redirect('/again'))
    expect(circle.images.ensure(circle.source)).rejects.toMatchObject({ code: 'download_failed' })
    await Bun.sleep(50)
    delete process.env['PANEL_AGENT_INSECURE']
    const plain = rig()
    delete process.env['PANEL_AGENT_INSECURE']
    expect(plain.images.ensure(plain.source)).rejects.toMatchObject({ code: 'insecure_download' })
    await Bun.sleep(10)
    expect(plain.asked).toEqual([])
  })
  test('that does not exist fails with the status', async () => {
    const { images, source } = rig(() => new Response('no', { status: 404 }))
    expect(images.ensure(source)).rejects.toThrow('answered 404')
  })
  test('in raw format has the size of its file', async () => {
    const { images, source } = rig(() => new Response(Buffer.alloc(1000)))
    expect(
      (await images.ensure({ ...source, format: 'raw', checksum: sum('sha256', Buffer.alloc(1000)) })).virtualSizeBytes,
    ).toBe(1024)
  })
})

describe('a download that ends without its image', () => {
  /** A server whose every body drips without an end. `open` counts its connections. */
  async function dripping(head: (path: string) => string) {
    const sockets = new Set<net.Socket>()
    const server = net.createServer((socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket)).on('error', () => {})
      socket.once('data', (request) => {
        socket.write(`HTTP/1.1 ${head(/ (\S+) /.exec(request.toString())![1]!)}\r\nTransfer-Encoding: chunked\r\n\r\n`)
        const drops = setInterval(() => socket.write('1\r\nx\r\n'), 10)
        socket.on('close', () => clearInterval(drops))
      })
    })
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    return {
      host: `127.0.0.1:${(server.address() as net.AddressInfo).port}`,
      async open() {
        for (const until = Date.now() + 2000; sockets.size && Date.now() < until; ) await Bun.sleep(10)
        return sockets.size
      },
      [Symbol.dispose]() {
        for (const socket of sockets) socket.destroy()
        server.close()
      },
    }
  }
  const before = process.env['PANEL_AGENT_INSECURE']
  beforeAll(() => {
    process.env['PANEL_AGENT_INSECURE'] = '1'
  })
  afterAll(() => {
    if (before === undefined) delete process.env['PANEL_AGENT_INSECURE']
    else process.env['PANEL_AGENT_INSECURE'] = before
  })
  const bring = (url: string, mostBytes = 1000) => {
    const images = new DownloadedImages(temporary('dripped'), (path, signal) => fetch(url + path, { signal }), {
      allowed: ['127.0.0.0/8'],
    })
    return images.ensure({ ...imageSource, url, mostBytes } as ImageSource).catch(({ code }) => code)
  }

  for (const [what, head, code] of [
    ['redirected and not found', (path: string) => redirectOr404(path), 'download_failed'],
    ['redirected in a circle', () => '302 Found\r\nLocation: /again', 'download_failed'],
    ['too long', () => '200 OK', 'image_too_large'],
  ] as const)
    test(`keeps no connection where the file is ${what}`, async () => {
      using server = await dripping(head)
      const url = `http://${server.host}/x`
      expect(await Promise.all([bring(url, 3), bring(url, 3), bring(url, 3)])).toEqual([code, code, code])
      expect(await server.open()).toBe(0)
    })
  const redirectOr404 = (path: string) => (path === '/x' ? '302 Found\r\nLocation: /gone' : '404 Not Found')

  test('is one of an unreachable registry where that breaks off its answer', async () => {
    const registry = new Registry('registry.example', 'base', undefined, [], {
      lookUp: async () => [{ address: '93.184.216.34' }],
      send: async () => new Response(new ReadableStream({ pull: (body) => body.error(new Error('aborted')) })),
    })
    expect(await registry.manifest(`sha256:${'0'.repeat(64)}`).catch(({ code }) => code)).toBe('registry_unreachable')
  })
  test('keeps none of a registry that wants a login', async () => {
    let closed = 0
    const registry = new Registry('registry.example', 'base', undefined, [], {
      lookUp: async () => [{ address: '93.184.216.34' }],
      send: async () =>
        new Response(new ReadableStream({ cancel: () => void closed++ }), {
          status: 401,
          headers: { 'WWW-Authenticate': 'Basic realm="x"' },
        }),
    })
    const code = await registry.manifest(`sha256:${'0'.repeat(64)}`).catch((error) => error.code)
    expect([code, closed]).toEqual(['registry_refused', 1])
  })
})

describe('S39: a download from an address that a customer chose', () => {
  test('goes to public addresses alone, whatever the name resolves to', async () => {
    const refused = [
      '127.0.0.1',
      '10.0.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '168.63.129.16',
      '0.0.0.0',
    ]
    const refused6 = ['::1', 'fe80::1', 'fd00::1', '::ffff:10.0.0.1', '64:ff9b::a00:1', 'fd00:ec2::254', '4000::1']
    for (const address of [...refused, ...refused6, 'nonsense'])
      expect([address, isPublic(address)]).toEqual([address, false])
    for (const address of ['93.184.216.34', '2606:2800:220:1::1'])
      expect([address, isPublic(address)]).toEqual([address, true])
    const resolving =
      (...addresses: string[]) =>
      async () =>
        addresses.map((address) => ({ address }))
    expect(await publicAddresses('mirror.example', { lookUp: resolving('93.184.216.34') })).toEqual(['93.184.216.34'])
    const both = publicAddresses('mirror.example', { lookUp: resolving('93.184.216.34', '10.0.0.1') })
    expect(both).rejects.toMatchObject({ code: 'download_refused' })
    expect(publicAddresses('mirror.example', { lookUp: resolving() })).rejects.toMatchObject({
      code: 'download_failed',
    })
  })
  test('is neither at an address of the node itself nor at one of its controller, under whatever name', async () => {
    const names: Record<string, string> = {
      'panel.example': '93.184.216.30',
      'also-panel.example': '93.184.216.30',
      'node.example': '93.184.216.31',
      'mirror.example': '93.184.216.34',
    }
    const platform = {
      controller: 'https://panel.example:8443',
      lookUp: async (host: string) => [{ address: names[host]! }],
      ownAddresses: () => ['127.0.0.1', '10.0.0.4', '93.184.216.31'],
    }
    for (const host of ['panel.example', 'also-panel.example', 'node.example', '93.184.216.30', '93.184.216.31'])
      expect([host, await publicAddresses(host, platform).catch(({ code }) => code)]).toEqual([
        host,
        'download_refused',
      ])
    expect(await publicAddresses('mirror.example', platform)).toEqual(['93.184.216.34'])
  })
  test('is refused by the driver before anything is sent, also over HTTP in a lab', async () => {
    let calls = 0
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(`${++calls}`) })
    const images = new DownloadedImages(temporary('own'), () => fetch(''))
    const of = (url: string) => images.ensure({ ...imageSource, url, publicOnly: true })
    const before = process.env['PANEL_AGENT_INSECURE']
    process.env['PANEL_AGENT_INSECURE'] = '1'
    await expect(of(`https://127.0.0.1:${server.port}/x`)).rejects.toMatchObject({ code: 'download_refused' })
    await expect(of(`http://127.0.0.1:${server.port}/x`)).rejects.toMatchObject({ code: 'insecure_download' })
    if (before === undefined) delete process.env['PANEL_AGENT_INSECURE']
    else process.env['PANEL_AGENT_INSECURE'] = before
    server.stop(true)
    expect(calls).toBe(0)
  })
})

describe('a download of the catalogue or of an ISO of staff', () => {
  /** A server on this machine, and a download that finds `answers` for every name, one after the other. */
  function rig(answers: readonly (readonly string[])[], platform: Platform = {}) {
    const sent: string[] = []
    const server: Bun.Server<undefined> = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ url }) => {
        sent.push(new URL(url).pathname)
        return url.endsWith('/away')
          ? Response.redirect(`http://inner.example:${server.port}/x`)
          : new Response('a disk')
      },
    })
    let asked = 0
    const images = new DownloadedImages(temporary('hostile'), () => fetch(''), {
      ownAddresses: () => ['93.184.216.31'],
      lookUp: async () => answers[Math.min(asked++, answers.length - 1)]!.map((address) => ({ address })),
      ...platform,
    })
    const checksum = `sha256:${createHash('sha256').update('a disk').digest('hex')}`
    return {
      sent,
      asked: () => asked,
      async get(path = 'x', more: Partial<ImageSource> = {}) {
        const url = `http://mirror.example:${server.port}/${path}`
        return images.ensure({ ...imageSource, format: 'raw', checksum, url, ...more }).then(
          () => 'stored',
          ({ code }) => code as string,
        )
      },
      [Symbol.dispose]: () => void server.stop(true),
    }
  }
  const before = process.env['PANEL_AGENT_INSECURE']
  beforeAll(() => {
    process.env['PANEL_AGENT_INSECURE'] = '1'
  })
  afterAll(() => {
    if (before === undefined) delete process.env['PANEL_AGENT_INSECURE']
    else process.env['PANEL_AGENT_INSECURE'] = before
  })

  const inner = ['127.0.0.1', '10.0.0.1', '169.254.169.254', 'fd00:ec2::254', '::1', '93.184.216.31', '93.184.216.32']
  for (const address of inner)
    test(`sends nothing to ${address}, where a hostile answer of the name server leads`, async () => {
      for (const answer of [[address], ['93.184.216.34', address]]) {
        using r = rig([answer])
        expect(await r.get('x', { refused: ['93.184.216.32'] })).toBe('download_refused')
        expect(r.sent).toEqual([])
      }
    })
  test('is not led inside by the controller’s name, nor by a redirect to another', async () => {
    using r = rig([['93.184.216.30']], { controller: 'https://panel.example' })
    expect(await r.get()).toBe('download_refused')
    using away = rig([['127.0.0.2'], ['127.0.0.2'], ['10.0.0.1']], { allowed: ['127.0.0.2/32', '127.0.0.1/32'] })
    expect(await away.get('away')).not.toBe('stored')
    using led = rig([['127.0.0.1'], ['10.0.0.1']], { allowed: ['127.0.0.1/32'] })
    expect([await led.get('away'), led.sent]).toEqual(['download_refused', ['/away']])
  })
  test('goes to the address that was checked: a second answer of the name server does not count', async () => {
    using r = rig([['127.0.0.1'], ['10.0.0.1']], { allowed: ['127.0.0.1/32'] })
    expect([await r.get(), r.asked(), r.sent]).toEqual(['stored', 1, ['/x']])
  })
  test('reaches a mirror of the lab that the node allows, which a customer’s download does not', async () => {
    using r = rig([['127.0.0.1']], { allowed: ['127.0.0.0/30'] })
    expect(await r.get()).toBe('stored')
    const { code } = await publicAddresses('mirror.example', {
      lookUp: async () => [{ address: '127.0.0.1' }],
      allowed: [],
    }).catch((error) => error)
    expect(code).toBe('download_refused')
  })
  test('tries the next address where one takes no connection', async () => {
    using r = rig([['127.0.0.3', '127.0.0.1']], { allowed: ['127.0.0.0/8'] })
    expect([await r.get(), r.sent]).toEqual(['stored', ['/x']])
  })
})
