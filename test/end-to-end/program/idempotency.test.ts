// A thousand keys against the compiled controller: every call is sent two to four times at once, connections are cut
// before the answer or in the middle of the question, and the controller is killed again and again. What a billing
// system is promised: whatever went wrong on the way, asking again with the same key ends in one customer or one
// server, and in the one answer there is to it.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import type { Subprocess } from 'bun'
import { emptyQcow2 } from '../../support/guest.ts'
import { type Installation, installation } from '../../support/world/processes.ts'
import { berth } from '../../support/world/program.ts'

const KEYS = 1000
/** Every tenth key is an order with a root password, every tenth one without an image; the others make customers. */
const kindOf = (n: number) =>
  n % 10 === 0 ? 'order with a password' : n % 10 === 1 ? 'order without an image' : 'customer'
const KILLS = 8
const AT_ONCE = 6
/** A token may make 1200 calls a minute; keys are the account's, so that any of its tokens may ask. */
const TOKENS = 8

let live: Installation
let controller: Subprocess
let tokens: string[]
let order: Record<string, unknown>

beforeAll(async () => {
  live = await installation()
  controller = await live.serve()
  tokens = [await live.staffToken()]
  while (tokens.length < TOKENS) {
    const wanted = [
      '--account',
      'ada@example.com',
      '--name',
      `t${tokens.length}`,
      '--scopes',
      'servers:create,customers:write',
    ]
    tokens.push((await berth(['admin', 'create-token', ...wanted], live.env)).out)
  }
  const location = (await live.admin('locations.create', { name: 'Lab' })).id
  live.agent(await live.enroll(location, 'fra-01'))
  const node = await live.until('the node', async () =>
    (await live.admin('nodes.list')).data.find((n: any) => n.connected),
  )
  await live.admin('pools.create', { name: 'v4', network: '10.20.0.0/22', gateway: '10.20.0.1', nodeIds: [node.id] })
  const packageId = (await live.admin('packages.create', { name: 'S', vcpus: 1, memoryMb: 64, diskGb: 3 })).id
  await Bun.write(`${live.dir}/incoming/tiny.qcow2`, emptyQcow2())
  const imageId = (await live.admin('images.import', { file: 'tiny.qcow2', name: 'Tiny' })).id
  const ownerId = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
  order = { ownerId, packageId, nodeGroupId: location, imageId, access: { mode: 'password' } }
}, 60_000)
afterAll(() => live.close())

type Told = { status: number; replayed: boolean; body: string }
let asked = 0

/**
 * One call over a connection of its own; `cutAfterMs` destroys it, `half` sends only half of it. Undefined: no whole
 * answer came.
 */
function ask(n: number, { cutAfterMs, half }: { cutAfterMs?: number; half?: boolean } = {}): Promise<Told | undefined> {
  const kind = kindOf(n)
  const { imageId: _, access: __, ...withoutImage } = order
  const [path, body] =
    kind === 'customer'
      ? ['/admin/customers', { name: `Customer ${n}`, email: `c${n}@example.com` }]
      : ['/admin/servers', kind === 'order with a password' ? { ...order, hostname: `web${n}` } : withoutImage]
  const text = JSON.stringify(body)
  const request = [
    `POST /api/v1${path} HTTP/1.1`,
    `Host: ${live.url.slice(7)}`,
    `Authorization: Bearer ${tokens[asked++ % tokens.length]}`,
    `Idempotency-Key: key-${n}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
    '',
    text,
  ].join('\r\n')
  return new Promise((resolve) => {
    const { hostname, port } = new URL(live.url)
    const socket = connect(Number(port), hostname, () => {
      socket.write(half ? request.slice(0, -text.length / 2) : request)
      if (cutAfterMs !== undefined) setTimeout(() => socket.destroy(), cutAfterMs)
    })
    let got = ''
    socket.setEncoding('utf8')
    socket.on('data', (part) => (got += part))
    socket.on('error', () => {})
    socket.on('close', () => resolve(readAnswer(got)))
  })
}

/** Undefined for a response that was cut off. */
function readAnswer(text: string): Told | undefined {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const length = /^content-length: (\d+)$/im.exec(head)?.[1]
  if (length === undefined || Buffer.byteLength(body) !== Number(length)) return undefined
  return { status: Number(head.split(' ')[1]), replayed: /^idempotency-replayed: true$/im.test(head), body }
}

function stored() {
  const db = new Database(`${live.dir}/berth.db`, { readonly: true })
  const number = (sql: string) => db.query<{ n: number }, []>(sql).get()!.n
  const done = (operation: string) =>
    number(`SELECT count(*) AS n FROM audit WHERE operation = '${operation}' AND result = 'done'`)
  const found = {
    customers: number(
      "SELECT count(*) AS n FROM accounts WHERE email LIKE 'c%@example.com' AND email <> 'cal@example.com'",
    ),
    servers: number('SELECT count(*) AS n FROM servers'),
    addresses: number('SELECT count(workload_id) AS n FROM addresses'),
    installs: number("SELECT count(*) AS n FROM jobs WHERE kind = 'install'"),
    created: number("SELECT count(*) AS n FROM events WHERE type = 'server.created'"),
    keys: number('SELECT count(*) AS n FROM idempotency'),
    noted: done('customers.create') + done('servers.create') - 1,
  }
  db.close()
  return found
}

describe('a thousand keys, with cut connections and kill -9', () => {
  /** Every whole answer to each key. */
  const answers = Array.from({ length: KEYS }, () => [] as Told[])
  let cut = 0
  let kills = 0

  test('each ends in one answer, however often it is asked', async () => {
    let next = 0
    let finished = 0
    let began = 0
    const keep = (n: number, described: Told | undefined) => {
      if (!described) cut++
      else if (described.status === 201) answers[n]!.push(described)
      // Refused because its node was not back yet, or by the rate limit: nothing was done, and nothing is remembered.
      else if (![409, 429, 503].includes(described.status))
        throw new Error(`key ${n}: ${described.status} ${described.body}`)
    }
    const finish = async (n: number) => {
      const copies = 2 + (n % 3)
      for (let round = 0; !answers[n]!.length; round++) {
        if (round > 300) throw new Error(`no answer to key ${n}`)
        began++
        const how = (i: number) =>
          i === 0 ? {} : n % 4 === 1 ? { half: true, cutAfterMs: 1 } : n % 2 ? { cutAfterMs: (n * i) % 12 } : {}
        const described = await Promise.all(Array.from({ length: copies }, (_, i) => ask(n, how(i))))
        for (const t of described) keep(n, t)
        if (!answers[n]!.length) await Bun.sleep(100)
      }
      finished++
    }
    const worker = async () => {
      while (next < KEYS) await finish(next++)
    }
    const killer = async () => {
      while (kills < KILLS) {
        await live.until('some more of them', async () => finished >= ((kills + 0.5) * KEYS * 0.8) / KILLS, 120)
        const calls = began
        await live.until('calls under way', async () => began > calls, 30)
        controller.kill('SIGKILL')
        await controller.exited
        kills++
        controller = await live.serve()
      }
    }
    await Promise.all([killer(), ...Array.from({ length: AT_ONCE }, worker)])
    expect(answers.every((a) => a.length > 0)).toBe(true)
    expect(kills).toBe(KILLS)
    expect(cut).toBeGreaterThan(KEYS / 4)
  }, 240_000)

  test('each has been done exactly once', () => {
    const orders = KEYS / 5
    expect(stored()).toEqual({
      customers: KEYS - orders,
      servers: orders,
      addresses: orders,
      installs: orders / 2,
      created: orders,
      keys: KEYS,
      noted: KEYS,
    })
  })

  test('asked once more, after all of it and another kill, each answers the bytes of the first time and says that ' +
    'it is a replay', async () => {
    controller.kill('SIGKILL')
    await controller.exited
    controller = await live.serve()
    const before = stored()
    for (let n = 0; n < KEYS; n += 20)
      await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const described = await ask(n + i)
          expect(described).toMatchObject({ status: 201, replayed: true })
          answers[n + i]!.push(described!)
        }),
      )
    expect(stored()).toEqual(before)
    // One text per key, the root password in it included, and at most one of those who asked was the one who did it.
    expect(answers.map((all) => new Set(all.map((a) => a.body)).size).filter((n) => n !== 1)).toEqual([])
    expect(answers.map((all) => all.filter((a) => !a.replayed).length).filter((n) => n > 1)).toEqual([])
    const passwords = answers.flatMap((all, n) =>
      kindOf(n) === 'order with a password' ? [JSON.parse(all[0]!.body).rootPassword] : [],
    )
    expect(new Set(passwords).size).toBe(KEYS / 10)
    expect(passwords.every((p) => /^[A-Za-z0-9]{20}$/.test(p))).toBe(true)
    const whole = answers.reduce((n, all) => n + all.length, 0)
    console.log(`${KEYS} keys: ${asked} calls, ${cut} of them cut, ${whole} whole answers, ${kills + 1} kills`)
  }, 60_000)
})
