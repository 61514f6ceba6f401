import { describe, expect, spyOn, test } from 'bun:test'
import https from 'node:https'
import net from 'node:net'
import {
  addressFor,
  chosenByOperator,
  disabledReason,
  egress,
  egressAcross,
  ForbiddenAddress,
  forOperator,
  NoAnswer,
  publicOnly,
} from '../../../src/kernel/net/egress.ts'

const lab = { ...chosenByOperator, loopback: true }
const named =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address }))
const refusalOf = (url: string, ...addresses: string[]) =>
  egress(new URL(url), lab, { lookUp: named(...addresses) }).then(
    () => 'it was called',
    (error) => (error instanceof NoAnswer ? error.message : error),
  )

describe('S12 S13 a call to an address that somebody chose', () => {
  test('goes nowhere when any address of the name must not be called', async () => {
    for (const bad of [
      '127.0.0.1',
      '::1',
      '169.254.169.254',
      'fe80::1',
      '0.0.0.0',
      '::',
      '224.0.0.1',
      '::ffff:10.0.0.1',
      '168.63.129.16',
      '4000::1',
    ])
      expect([bad, await refusalOf('https://id.test/', '9.9.9.9', bad)]).toEqual([
        bad,
        `id.test has the address ${bad}, which must not be called.`,
      ])
    expect(await refusalOf('https://id.test/')).toBe('There is no host called id.test.')
  })
  test('may go into the operator’s own network', () => {
    for (const url of [
      'https://10.1.2.3/',
      'https://192.168.1.5:8443/',
      'https://100.64.0.1/',
      'https://[fd12::1]/',
      'https://[2001:470::1]/',
      'https://id.internal/',
    ])
      expect([url, disabledReason(new URL(url), chosenByOperator)]).toEqual([url, undefined])
  })
  test('reaches this machine only where that is meant, and by its own name', async () => {
    using server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('here') })
    const url = new URL(`http://127.0.0.1:${server.port}/`)
    expect(await egress(url, lab)).toEqual({ status: 200, text: 'here', contentType: 'text/plain;charset=utf-8' })
    expect(disabledReason(url, chosenByOperator)).toBe('must start with https://.')
    expect(disabledReason(new URL('https://127.0.0.1/'), chosenByOperator)).toBe(
      'is at an address that must not be called.',
    )
  })
  test('asks who is there: a certificate that nobody vouches for is refused, and nothing is sent', async () => {
    const made = Bun.spawnSync(
      [
        'openssl',
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-keyout',
        '-',
        '-days',
        '2',
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=DNS:localhost',
      ],
      { stderr: 'ignore' },
    ).stdout.toString()
    const [key, cert] = [
      /-----BEGIN PRIVATE[\s\S]*?END PRIVATE KEY-----/,
      /-----BEGIN CERT[\s\S]*?END CERTIFICATE-----/,
    ].map((pattern) => pattern.exec(made)![0])
    let asked = 0
    using server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      tls: { key: key!, cert: cert! },
      fetch: () => {
        asked++
        return new Response('here')
      },
    })
    const error = await egress(new URL(`https://localhost:${server.port}/`), lab).catch((e) => e)
    expect(error).toBeInstanceOf(NoAnswer)
    expect(error.message).toContain('certificate')
    expect(asked).toBe(0)
  })
  test('reaches localhost by the version of its address that the settings allow', async () => {
    const policy = forOperator(['127.0.0.0/8'])
    expect(await addressFor('localhost', policy, named('::1', '127.0.0.1'))).toBe('127.0.0.1')
    for (const [host, ...addresses] of [
      ['localhost', '::1'],
      ['relay.test', '127.0.0.1'],
      ['relay.test', '9.9.9.9', '127.0.0.1'],
    ] as const)
      expect(await addressFor(host, policy, named(...addresses)).catch((e) => e)).toBeInstanceOf(ForbiddenAddress)
    expect(await addressFor('127.0.0.1', policy)).toBe('127.0.0.1')
  })
  test('connects to the address that was checked, and never resolves the name again', async () => {
    let went: https.RequestOptions = {}
    const calling = spyOn(https, 'request').mockImplementation(((options: https.RequestOptions) => {
      went = options
      throw new Error('no further')
    }) as typeof https.request)
    try {
      await egress(new URL('https://id.test:8443/x'), lab, { lookUp: named('9.9.9.9', '9.9.9.10') }).catch(() => {})
    } finally {
      calling.mockRestore()
    }
    expect([went.host, went.port, went.servername, (went.headers as any).Host]).toEqual([
      '9.9.9.9',
      8443,
      'id.test',
      'id.test:8443',
    ])
  })
  test('S10: reads no more than it may, and follows no redirect', async () => {
    let answers = 0
    using server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: ({ url }) => {
        answers++
        return url.endsWith('/away') ? Response.redirect('/', 302) : new Response('x'.repeat(2000))
      },
    })
    const read = (path: string, mostBytes: number) =>
      egress(new URL(`http://127.0.0.1:${server.port}${path}`), lab, { mostBytes }).then(
        ({ status, text }) => [status, text.length],
        (error) => error.message,
      )
    expect(await read('/', 2000)).toEqual([200, 2000])
    expect(await read('/', 1999)).toBe(`127.0.0.1:${server.port} answered more than 1999 bytes.`)
    answers = 0
    expect((await read('/away', 2000))[0]).toBe(302)
    expect(answers).toBe(1)
  })
  test('has no answer where the connection breaks in the middle of one', async () => {
    for (const [framing, part] of [
      ['Content-Length: 100', 'a part'],
      ['Transfer-Encoding: chunked', '6\r\na part\r\n'],
    ] as const)
      for (const how of ['end', 'resetAndDestroy'] as const) {
        const server = net.createServer((socket) => {
          socket.on('error', () => {})
          socket.once('data', () => {
            socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${part}`)
            setTimeout(() => socket[how](), 20)
          })
        })
        await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
        const { port } = server.address() as net.AddressInfo
        const error = await egress(new URL(`http://127.0.0.1:${port}/`), lab).catch((e) => e)
        server.close()
        expect([framing, how, error instanceof NoAnswer]).toEqual([framing, how, true])
        if (how === 'end')
          expect(error.message).toBe(`127.0.0.1:${port} closed the connection in the middle of its answer.`)
      }
  })
  test('takes no name that ends with a dot, and none with a password', async () => {
    expect(await refusalOf('https://id.test./', '9.9.9.9')).toBe('id.test. must not end its host name with a dot.')
    expect(await refusalOf('https://ada:pass@id.test/', '9.9.9.9')).toBe(
      'id.test must not have a user or password in it.',
    )
  })
  test('ends after its time, also while the name is still looked up', async () => {
    const began = performance.now()
    const late = egress(new URL('https://id.test/'), lab, { timeoutMs: 100, lookUp: () => new Promise(() => {}) })
    expect(await late.catch((e) => e.message)).toBe('id.test did not answer within 0.1 s.')
    expect(performance.now() - began).toBeLessThan(2000)
  })
})

describe('S10 S12 a file that its server keeps on a mirror', () => {
  const across = (redirects: number, url: string) =>
    egressAcross(redirects, new URL(url), lab, { lookUp: named('10.9.8.7'), mostBytes: 4, onlyBeginning: true }).then(
      ({ status, body }) => [status, body.toString()],
      (error) => (error instanceof NoAnswer ? error.message : error),
    )
  test('is read there, and no more of it than was asked for', async () => {
    using server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: ({ url }) =>
        url.endsWith('/mirror') ? new Response('content'.repeat(100_000)) : Response.redirect('/mirror', 302),
    })
    expect(await across(1, `http://127.0.0.1:${server.port}/`)).toEqual([200, 'cont'])
    expect(await across(0, `http://127.0.0.1:${server.port}/`)).toBe(`127.0.0.1:${server.port} redirects too often.`)
  })
  test('is given up when all redirects together take longer than the time of one read', async () => {
    using server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => Bun.sleep(150).then(() => Response.redirect('/next', 302)),
    })
    const began = performance.now()
    const read = egressAcross(20, new URL(`http://127.0.0.1:${server.port}/`), lab, { timeoutMs: 400 })
    await expect(read).rejects.toThrow('did not answer within')
    expect(performance.now() - began).toBeLessThan(2000)
  })
  test('is not read where the policy forbids the address of the mirror', async () => {
    let to = ''
    using server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.redirect(to, 307) })
    for (const [address, why] of [
      ['https://169.254.169.254/latest', '169.254.169.254 is at an address that must not be called.'],
      ['https://[fe80::1]/', '[fe80::1] is at an address that must not be called.'],
      ['http://10.1.1.1/', '10.1.1.1 must start with https://.'],
      ['file:///etc/passwd', ' must start with https://.'],
      ['https://user:pass@mirror.test/', 'mirror.test must not have a user or password in it.'],
    ] as const) {
      to = address
      expect([address, await across(3, `http://127.0.0.1:${server.port}/`)]).toEqual([address, why])
    }
  })
  test('is not read in a private network', () => {
    for (const url of ['https://10.0.0.1/', 'https://192.168.0.1/', 'https://[fd00::1]/', 'https://127.0.0.1/'])
      expect([url, disabledReason(new URL(url), publicOnly)]).toEqual([
        url,
        'is at an address that must not be called.',
      ])
  })
})
