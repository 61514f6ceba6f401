// Nodes in foreign hands against the compiled program: 20,000 frames made from the protocol's schemas, 8 seconds of
// junk as fast as a socket takes it, and challenges without end, all beside honest nodes that install servers
// meanwhile.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import type { Subprocess } from 'bun'
import { agentPaths, closeCodes, PROTOCOL } from '../../../../agent/protocol/wire.ts'
import { frames, type Known } from '../../../support/hostile/frames.ts'
import { connectAs, signedBy } from '../../../support/hostile/node.ts'
import { type Installation, installation } from '../../../support/world/processes.ts'
import { type Seeded, seed } from '../../../support/world/seed.ts'

const HONEST = 4
const HOSTILE = 62
const FRAMES = 20_000
const minute = 60_000

let live: Installation
let controller: Subprocess
let agents: Subprocess
let seeded: Seeded
let rows: Database
let number = 0
const honest = () => seeded.nodes.slice(0, HONEST)
const hostile = () => seeded.nodes.slice(HONEST)

beforeAll(async () => {
  live = await installation()
  seeded = seed(live.dir, { servers: 200, customers: 10, nodes: HONEST + HOSTILE, tokens: 40, freeAddresses: 500 })
  controller = await live.serve()
  rows = new Database(`${live.dir}/berth.db`, { readonly: true })
  await Bun.write(`${live.dir}/honest.json`, JSON.stringify({ controller: live.url, nodes: honest() }))
  const script = new URL('../../../bench/agents.ts', import.meta.url).pathname
  agents = Bun.spawn([process.execPath, script, `${live.dir}/honest.json`, '0'], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await live.until('the honest nodes', async () => connectedOf(honest().map(({ id }) => id)) === HONEST)
  await install(HONEST * 2)
}, minute)
afterAll(async () => {
  agents?.kill('SIGTERM')
  await agents?.exited
  rows?.close()
  await live?.close()
})

const all = <T>(sql: string) => rows.query<T, []>(sql).all()
const connectedOf = (ids: readonly string[]) =>
  all<{ id: string }>('SELECT id FROM nodes WHERE connected_at IS NOT NULL').filter(({ id }) => ids.includes(id)).length
const token = () => seeded.tokens[number++ % seeded.tokens.length]!

/** Orders servers on the honest nodes; resolves with the milliseconds that each took. All of them must succeed. */
async function install(count: number): Promise<number[]> {
  const began = performance.now()
  const ordered = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const reply = await live.api(token(), 'POST', '/admin/servers', {
        ownerId: seeded.customers[0]!.id,
        packageId: seeded.packageId,
        nodeGroupId: seeded.locationId,
        imageId: seeded.imageId,
        nodeId: honest()[i % HONEST]!.id,
        hostname: `web${++number}`,
        access: { mode: 'password' },
      })
      if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
      return reply.body.jobId as string
    }),
  )
  const took: number[] = []
  await live.until(
    'the end of the installations',
    async () => {
      const states = all<{ id: string; state: string }>("SELECT id, state FROM jobs WHERE kind = 'install'").filter(
        ({ id }) => ordered.includes(id),
      )
      const ended = states.filter(({ state }) => state === 'succeeded' || state === 'failed')
      while (took.length < ended.length) took.push(performance.now() - began)
      return ended.length === count
    },
    60,
  )
  const marks = ordered.map(() => '?').join()
  const failed = rows
    .query<{ n: number }, string[]>(`SELECT count(*) AS n FROM jobs WHERE id IN (${marks}) AND state <> 'succeeded'`)
    .get(...ordered)!.n
  expect(failed).toBe(0)
  return took
}

/** The times of reads at a fixed pace while `work` goes on, in ms. */
async function readsDuring(work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  const going = new Set<Promise<unknown>>()
  const timer = setInterval(() => {
    const began = performance.now()
    const read = live.api(token(), 'GET', '/admin/servers?limit=20').then(({ status }) => {
      if (status !== 200) throw new Error(`a read answered ${status}`)
      times.push(performance.now() - began)
    })
    going.add(read)
  }, 25)
  try {
    await work()
  } finally {
    clearInterval(timer)
    await Promise.allSettled(going)
  }
  await Promise.all(going)
  return times
}
const p99 = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0
/** The journal of the controller, and the bytes that it grew by since. */
const journalBytes = () => Bun.file(`${live.dir}/controller-0.log`).size
const memoryMb = async () =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(await Bun.file(`/proc/${controller.pid}/status`).text())![1]) / 1024
const audited = () =>
  all<{ target: string; details: string }>(
    "SELECT target, details FROM audit WHERE operation = 'nodes.misconduct'",
  ).map(({ target, details }) => ({ target, ...JSON.parse(details) }) as { target: string; offence: string })
/** The servers of honest nodes that were there before the attacks, as the database has them. */
const ofHonest = () => ({
  servers: all(
    `SELECT id, node_id, power, wanted_power, lifecycle FROM workloads
     WHERE node_id IN (${honest().map(({ id }) => `'${id}'`)}) AND created_at < ${startedAt} ORDER BY id`,
  ),
})
const startedAt = Date.now()

describe('nodes in foreign hands', () => {
  test(
    'send 20,000 frames of every kind, and the jobs of honest nodes do not notice',
    async () => {
      const quiet = p99(await readsDuring(() => Promise.all([install(20), Bun.sleep(3000)])))
      const before = ofHonest()
      const journal = journalBytes()
      const known = (): Known => ({ keys, workloads })
      let keys = ['job_0/look']
      const workloads = [...seeded.servers.slice(0, 50), `srv_${'0'.repeat(26)}`]
      const made = frames(7, known)
      let sent = 0
      let right = 0
      let code: number | undefined
      let cutOff: number | undefined
      const attack = async () => {
        const sockets = (await Promise.all(hostile().map((node) => connectAs(live.url, node)))).map((socket) => socket!)
        for (const { closed } of sockets) void closed.then((with_) => (code ??= with_))
        while (sent < FRAMES) {
          // The keys of commands that honest nodes carry out now: guessed well.
          keys = all<{ key: string }>(
            "SELECT job_id || '/' || name AS key FROM job_steps ORDER BY job_id DESC LIMIT 40",
          ).map(({ key }) => key)
          for (let i = 0; i < 50 && sent < FRAMES; i++) {
            const frame = made(6)
            if (frame.right) right++
            sockets[sent++ % sockets.length]!.socket.send(frame.data)
          }
          await Bun.sleep(10)
        }
        await Promise.all(sockets.map(({ socket }) => heard(socket)))
        cutOff = code
        for (const { socket } of sockets) socket.close()
      }
      let took: number[] = []
      const attacked = p99(
        await readsDuring(async () => {
          const [, times] = await Promise.all([attack(), install(20)])
          took = times
        }),
      )
      console.log(
        `fuzz: ${sent} frames (${right} that fit) of ${HOSTILE} nodes; reads p99 ${Math.round(quiet)} ms alone, ` +
          `${Math.round(attacked)} ms beside it; 20 installs in ${Math.round(Math.max(...took))} ms; journal ` +
          `${journalBytes() - journal} bytes; ${Math.round(await memoryMb())} MB`,
      )
      expect([sent, cutOff]).toEqual([FRAMES, undefined])
      expect(ofHonest()).toEqual(before)
      expect(all("SELECT 1 FROM job_log WHERE text LIKE '%zq7mark%' LIMIT 1")).toEqual([])
      expect(connectedOf(honest().map(({ id }) => id))).toBe(HONEST)
      expect(attacked).toBeLessThan(2 * quiet + 400)
      // A line or two a minute for each node and kind, not one for each frame.
      expect(journalBytes() - journal).toBeLessThan(HOSTILE * 4000)
      expect(await memoryMb()).toBeLessThan(400)
      const offences = audited()
      expect(new Set(offences.map(({ offence }) => offence))).toEqual(new Set(['nonsense', 'not_its_workload']))
      expect(offences.filter(({ target }) => honest().some(({ id }) => id === target))).toEqual([])
      expect(controller.exitCode).toBe(null)
    },
    2 * minute,
  )

  test(
    'flood for 8 seconds, are cut off and kept out for a while, and others wait no longer',
    async () => {
      const [flooder] = hostile()
      const quiet = p99(await readsDuring(() => Promise.all([install(12), Bun.sleep(3000)])))
      const journal = journalBytes()
      const junk = [`{"type":"junk","x":"${'y'.repeat(900)}"}`, '['.repeat(1000), '{"type":"power"}']
      let sent = 0
      let refused = 0
      const codes: number[] = []
      const flood = async () => {
        for (const until = Date.now() + 8000; Date.now() < until; ) {
          const open = await connectAs(live.url, flooder!)
          if (!open) {
            refused++
            await Bun.sleep(50)
            continue
          }
          const { socket, closed } = open
          void closed.then((code) => codes.push(code))
          while (socket.readyState === WebSocket.OPEN && Date.now() < until) {
            for (let i = 0; i < 200; i++) socket.send(junk[sent++ % junk.length]!)
            await Bun.sleep(0)
          }
        }
      }
      const attacked = p99(await readsDuring(() => Promise.all([flood(), install(12)])))
      console.log(
        `flood: ${sent} frames in 8 s, closed ${codes.length} times, refused ${refused} times; reads p99 ` +
          `${Math.round(quiet)} ms alone, ${Math.round(attacked)} ms beside it; journal ` +
          `${journalBytes() - journal} bytes; ${Math.round(await memoryMb())} MB`,
      )
      expect(codes[0]).toBe(closeCodes.tooMuch)
      expect(codes.length).toBeLessThanOrEqual(2)
      expect(refused).toBeGreaterThan(10)
      expect(attacked).toBeLessThan(2 * quiet + 400)
      expect(journalBytes() - journal).toBeLessThan(20_000)
      expect(await memoryMb()).toBeLessThan(400)
      expect(audited()).toContainEqual(expect.objectContaining({ target: flooder!.id, offence: 'too_much' }))
      const { attention } = await live.admin('overview.get')
      expect(attention.map(({ what }: { what: string }) => what)).toContainEqual(
        expect.stringContaining(`${flooder!.name} sent more than a node may, and was disconnected`),
      )
    },
    minute,
  )

  test('send bytes that are no UTF-8, and lose only their connection', async () => {
    const node = hostile()[1]!
    const headers = await signedBy(live.url, node)
    const { hostname, port } = new URL(live.url)
    const socket = connect({ host: hostname, port: Number(port) })
    const closed = new Promise((resolve) => socket.on('close', resolve))
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    socket.write(
      `GET ${agentPaths.connect} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\n` +
        'Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
        `${lines.join('\r\n')}\r\n\r\n`,
    )
    await new Promise((resolve) => socket.once('data', resolve))
    // A final text frame of four bytes, masked with zeros.
    socket.write(Buffer.from([0x81, 0x84, 0, 0, 0, 0, 0xff, 0xfe, 0xc3, 0x28]))
    socket.on('error', () => {})
    socket.resume()
    await closed
    expect(connectedOf(honest().map(({ id }) => id))).toBe(HONEST)
    const again = await connectAs(live.url, node)
    expect(again).toBeDefined()
    again!.socket.close()
  })

  test('loop challenges under the id of another node, which comes back beside them at once', async () => {
    const victim = hostile()[2]!
    let going = true
    let asked = 0
    const loop = async () => {
      while (going && asked < 2000) {
        asked++
        await fetch(live.url + agentPaths.challenge, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ nodeId: victim.id, protocol: PROTOCOL }),
        })
      }
    }
    const loops = [loop(), loop(), loop(), loop()]
    // More than were once allowed a minute under one id.
    await live.until('600 challenges', async () => asked >= 600)
    for (let i = 0; i < 3; i++) {
      const open = await connectAs(live.url, victim)
      expect(open).toBeDefined()
      open!.socket.close()
      await open!.closed
    }
    going = false
    await Promise.all(loops)
  })
})

/** Resolves when the controller has taken in what was sent on this socket before. */
const heard = (socket: WebSocket) =>
  new Promise<void>((resolve) => {
    const over = () => resolve()
    socket.addEventListener('pong' as 'message', over)
    socket.addEventListener('close', over)
    ;(socket as unknown as { ping(): void }).ping()
    setTimeout(over, 10_000)
  })
