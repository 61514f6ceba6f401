// Reverse DNS in the name servers of Debian: PowerDNS by its API, and BIND by signed updates. Both run on loopback, as
// this test's own processes.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type NameServer, reverseZones, setPtr } from '../../../src/network/reverse-dns/name-server.ts'
import { temporary } from '../../agent/temporary.ts'

const outside = { config: { localServices: ['127.0.0.0/8'] } as never, wallClock: Date.now }
const SECRET = Buffer.alloc(32, 5).toString('base64')
const [V4_ZONE, SUB_ZONE, V6_ZONE] = ['113.0.203.in-addr.arpa', '0.203.in-addr.arpa', '8.b.d.0.1.0.0.2.ip6.arpa']
const schema = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql'

const freePort = () => {
  const socket = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = socket
  socket.stop(true)
  return port
}
/** The PTR record that the name server answers; undefined without one. */
async function ptrOf(port: number, address: string): Promise<string | undefined> {
  const child = Bun.spawn(['dig', '+short', '+tries=3', '+time=2', '-p', `${port}`, '@127.0.0.1', '-x', address])
  return (await new Response(child.stdout).text()).trim() || undefined
}
async function until(what: () => Promise<unknown>) {
  for (let tries = 0; tries < 100; tries++) {
    if (await what().catch(() => false)) return
    await Bun.sleep(100)
  }
  throw new Error('it did not come up')
}
const started: Bun.Subprocess[] = []
const start = (...command: string[]) => {
  started.push(Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' }))
}
afterAll(async () => {
  for (const child of started) {
    child.kill()
    await child.exited
  }
})

/** The promises of every name server. */
function keepsNames(server: () => NameServer, port: () => number) {
  test('a name is set, replaced and deleted, each time as often as it is sent', async () => {
    for (const address of ['203.0.113.10', '2001:db8::10']) {
      for (const name of ['mail.example.com', 'mx.example.com', 'mx.example.com']) {
        await setPtr(server(), outside, address, name)
        expect(await ptrOf(port(), address)).toBe(`${name}.`)
      }
      for (let n = 0; n < 2; n++) await setPtr(server(), outside, address, null)
      expect(await ptrOf(port(), address)).toBeUndefined()
    }
  })
  test('an address whose zone is not there is refused for good', async () => {
    await expect(setPtr(server(), outside, '198.51.100.1', 'mail.example.com')).rejects.toMatchObject({
      permanent: true,
    })
  })
  test('the zones can be asked for', async () => {
    const zones = (await reverseZones(server(), outside)).map((zone) => zone.replace(/\.$/, ''))
    expect(zones.toSorted()).toEqual([SUB_ZONE, V4_ZONE, V6_ZONE].toSorted())
  })
}
const refusal = (server: NameServer, address = '203.0.113.10') =>
  setPtr(server, outside, address, 'mail.example.com').then(
    () => 'taken',
    (error) => `${error.permanent ? 'for good' : 'for now'}: ${error.message}`,
  )

const noPowerDns = !Bun.which('pdns_server') || !Bun.which('dig') || !(await Bun.file(schema).exists())
describe.skipIf(noPowerDns)('PowerDNS', () => {
  const [port, api] = [freePort(), freePort()]
  const server = (): NameServer & { kind: 'powerdns' } => ({
    kind: 'powerdns',
    url: `http://127.0.0.1:${api}`,
    key: 'sesame',
  })
  beforeAll(async () => {
    const dir = temporary('pdns')
    const db = new Database(join(dir, 'zones.db'), { create: true })
    db.run(await Bun.file(schema).text())
    db.close()
    const settings = {
      launch: 'gsqlite3',
      'gsqlite3-database': join(dir, 'zones.db'),
      'local-address': '127.0.0.1',
      'local-port': port,
      'socket-dir': dir,
      webserver: 'yes',
      'webserver-address': '127.0.0.1',
      'webserver-port': api,
      'webserver-allow-from': '127.0.0.1',
      api: 'yes',
      'api-key': 'sesame',
    }
    writeFileSync(
      join(dir, 'pdns.conf'),
      Object.entries(settings)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    )
    start('pdns_server', `--config-dir=${dir}`, '--guardian=no', '--daemon=no')
    const headers = { 'X-API-Key': 'sesame', 'Content-Type': 'application/json' }
    const zones = `http://127.0.0.1:${api}/api/v1/servers/localhost/zones`
    await until(async () => (await fetch(zones, { headers })).ok)
    for (const zone of [V4_ZONE, SUB_ZONE, V6_ZONE])
      await fetch(zones, {
        method: 'POST',
        headers,
        body: JSON.stringify({ name: `${zone}.`, kind: 'Native', nameservers: ['ns1.example.com.'] }),
      })
  }, 60_000)
  keepsNames(server, () => port)
  test('a wrong key is refused for good, a server that is away for now', async () => {
    expect(await refusal({ ...server(), key: 'wrong' })).toBe('for good: The name server does not accept the key.')
    expect(await refusal({ ...server(), url: `http://127.0.0.1:${freePort()}` })).toStartWith('for now: ')
  })
})

describe.skipIf(!Bun.which('named') || !Bun.which('dig'))('BIND', () => {
  const port = freePort()
  const server = (): NameServer & { kind: 'rfc2136' } => ({
    kind: 'rfc2136',
    host: '127.0.0.1',
    port,
    zones: [V4_ZONE, SUB_ZONE, V6_ZONE],
    keyName: 'berth',
    secret: SECRET,
  })
  beforeAll(async () => {
    const dir = temporary('named')
    const zones = [V4_ZONE, SUB_ZONE, V6_ZONE].map((zone) => {
      writeFileSync(
        join(dir, zone),
        `$TTL 60\n@ SOA ns1.example.com. hostmaster.example.com. 1 60 60 60 60\n@ NS ns1.example.com.\n`,
      )
      const policy = `update-policy { grant berth subdomain ${zone} PTR; };`
      return `zone "${zone}" { type primary; file "${join(dir, zone)}"; ${policy} };`
    })
    const options =
      `options { directory "${dir}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none; ` +
      'recursion no; dnssec-validation no; };'
    const keys = ['berth', 'powerless'].map((name) => `key ${name} { algorithm hmac-sha256; secret "${SECRET}"; };`)
    writeFileSync(join(dir, 'named.conf'), [...keys, options, 'controls { };', ...zones].join('\n'))
    start('named', '-g', '-c', join(dir, 'named.conf'))
    await until(async () => (await reverseZones(server(), outside)).length)
  }, 60_000)
  keepsNames(server, () => port)
  test('a wrong secret, an unknown key and a key without the right are refused for good, each in words', async () => {
    expect(await refusal({ ...server(), secret: Buffer.alloc(32, 6).toString('base64') })).toMatch(
      /^for good: The name server has another secret for the key \(BADSIG\)/,
    )
    expect(await refusal({ ...server(), keyName: 'unknown' })).toMatch(/^for good: .*\(BADKEY\)/)
    expect(await refusal({ ...server(), keyName: 'powerless' })).toMatch(/^for good: .*\(REFUSED\)/)
  })
  test('a server that is away, and a clock that is wrong, are a matter of time', async () => {
    expect(await refusal({ ...server(), port: freePort() })).toStartWith('for now: ')
    const wrongClock = { ...outside, wallClock: () => Date.now() - 3_600_000 }
    await expect(setPtr(server(), wrongClock, '203.0.113.10', 'mail.example.com')).rejects.toMatchObject({
      permanent: false,
      message: 'The clocks of the name server and of the controller differ (BADTIME).',
    })
  })
  test('an answer that is not signed, or by somebody else, counts for nothing', async () => {
    const { ask, checkAnswer, signed, updateMessage } = await import('../../../src/network/reverse-dns/rfc2136.ts')
    const key = { name: 'berth', secret: Buffer.from(SECRET, 'base64') }
    const seconds = Math.floor(Date.now() / 1000)
    const request = signed(updateMessage(7, V4_ZONE), key, seconds)
    const answer = await ask('127.0.0.1', port, request.message, 5000)
    checkAnswer(answer, 7, key, request.mac, seconds)
    expect(() => checkAnswer(answer, 7, { ...key, secret: Buffer.alloc(32) }, request.mac, seconds)).toThrow('wrong')
    expect(() => checkAnswer(answer, 7, key, Buffer.alloc(32), seconds)).toThrow('wrong')
    expect(() => checkAnswer(answer, 8, key, request.mac, seconds)).toThrow('another request')
    const stripped = Buffer.from(answer)
    stripped.writeUInt16BE(0, 10)
    expect(() => checkAnswer(stripped, 7, key, request.mac, seconds)).toThrow('not signed')
  })
})
