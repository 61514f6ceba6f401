// A standby takes over from a controller that was killed under load: what may be lost, and how long it takes.
// BERTH_LONG=1 does so twenty times.
import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { epochIn } from '../../../src/kernel/nodes/epoch.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type Installation, installation } from '../../support/world/processes.ts'
import { berth } from '../../support/world/program.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** A controller with a replica in a folder, and a second data directory that has the same key. */
async function pair(more: Record<string, string> = {}) {
  const first = await installation()
  ends.push(first.close)
  const replica = `${first.dir}/replica`
  mkdirSync(replica)
  writeFileSync(`${replica}/.berth-backups`, '')
  Object.assign(first.env, { PANEL_REPLICA: replica, ...more })
  const process = await first.serve()
  const token = await first.staffToken()
  expect((await make(first, token, 'first')).status).toBe(201)
  const second = await installation({ PANEL_REPLICA: replica, ...more })
  ends.push(second.close)
  copyFileSync(`${first.dir}/secret.key`, `${second.dir}/secret.key`)
  const standby = async (of: Installation) => {
    const child = Bun.spawn([...of.program, 'serve', '--standby'], {
      env: { PATH: globalThis.process.env['PATH']!, ...of.env },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: Bun.file(`${of.dir}/standby.log`),
    })
    ends.push(async () => {
      child.kill('SIGKILL')
      await child.exited
    })
    await eventually(() => stateOf(of) > 0, 30)
    return child
  }
  return { first, second, process, token, standby }
}

/** How far a standby has come. */
function stateOf({ dir }: Installation): number {
  const path = `${dir}/standby.db.state`
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).at : 0
}
const make = (live: Installation, token: string, name: string) =>
  live.api(token, 'POST', '/admin/customers', { name, email: `${name}@example.com` })
function names({ dir }: Installation) {
  const db = new Database(`${dir}/berth.db`)
  try {
    return db
      .query<{ name: string }, []>("SELECT name FROM accounts WHERE kind = 'customer'")
      .all()
      .map(({ name }) => name)
  } finally {
    db.close(true)
  }
}
function epochOf({ dir }: Installation): number {
  const db = new Database(`${dir}/berth.db`)
  try {
    return epochIn(db)
  } finally {
    db.close(true)
  }
}
const takeOver = (live: Installation, ...args: string[]) => berth(['takeover', ...args], live.env)
const isUp = (live: Installation) =>
  eventually(
    () =>
      fetch(`${live.url}/api/v1/status`).then(
        (r) => r.ok,
        () => false,
      ),
    30,
  )

/** Changes one after the other until the controller dies; those that were confirmed, with the time. */
async function load(live: Installation, token: string, tag: string) {
  const confirmed: { name: string; at: number }[] = []
  for (let i = 0; ; i++) {
    const name = `${tag}-${i}`
    const made = await make(live, token, name).catch(() => undefined)
    if (!made) return confirmed
    if (made.status === 201) confirmed.push({ name, at: performance.now() })
    await Bun.sleep(30)
  }
}

async function takeover(more: Record<string, string>, afterMs: number) {
  const { first, second, process, token, standby } = await pair(more)
  await standby(second)
  const began = Date.now()
  expect((await make(first, token, 'followed')).status).toBe(201)
  await eventually(() => stateOf(second) > began, 30)
  const loading = [load(first, token, 'a'), load(first, token, 'b')]
  await Bun.sleep(afterMs)
  process.kill('SIGKILL')
  const killedAt = performance.now()
  await process.exited
  const confirmed = (await Promise.all(loading)).flat()
  const { code, error } = await takeOver(second, '--even-if-alive')
  expect([code, error]).toEqual([0, ''])
  await isUp(second)
  const tookMs = performance.now() - killedAt
  const there = new Set(names(second))
  const lost = confirmed.filter(({ name }) => !there.has(name))
  const lossMs = lost.length ? killedAt - Math.min(...lost.map(({ at }) => at)) : 0
  expect((await make(second, token, 'afterwards')).status).toBe(201)
  return { confirmed: confirmed.length, lost: lost.length, lossMs, tookMs }
}

const isLong = process.env['BERTH_LONG'] === '1'
const moments = isLong ? Array.from({ length: 10 }, () => 500 + Math.random() * 6000) : [1000]

describe('a takeover from a controller that was killed under load', () => {
  for (const afterMs of moments) {
    test(`loses at most ten seconds (${Math.round(afterMs)} ms)`, async () => {
      const found = await takeover({}, afterMs)
      expect(found.confirmed).toBeGreaterThan(0)
      expect(found.lossMs).toBeLessThanOrEqual(10_000)
      if (isLong) console.log('does not wait', JSON.stringify(found))
    }, 90_000)
    test(`loses nothing where changes wait (${Math.round(afterMs)} ms)`, async () => {
      const found = await takeover({ PANEL_REPLICA_WAITS: '1' }, afterMs)
      expect(found.confirmed).toBeGreaterThan(0)
      expect(found.lost).toBe(0)
      if (isLong) console.log('waits', JSON.stringify(found))
    }, 90_000)
  }
})

test('the controller that was before stops when another takes over, and follows it as a standby', async () => {
  const { first, second, process, token, standby } = await pair()
  await make(first, token, 'before')
  await standby(second)
  expect((await fetch(`${second.url}/api/v1/status`)).status).toBe(503)
  const refused = await takeOver(second)
  expect(refused.code).toBe(1)
  expect(refused.error).toContain('takeover_failed: The controller is alive')
  const { code, out } = await takeOver(second, '--even-if-alive')
  expect([code, out]).toEqual([0, expect.stringContaining('This host is the controller now')])
  await process.exited
  expect(process.exitCode).toBe(2)
  expect(await first.log('controller-0')).toContain('taken_over: Another controller took over')
  await isUp(second)
  expect(names(second)).toEqual(['first', 'before'])
  // Nodes obey the higher epoch alone.
  expect([epochOf(first), epochOf(second) > 0]).toEqual([0, true])
  expect((await make(second, token, 'after')).status).toBe(201)
  // A start that knows nothing of it makes no change.
  const again = await first.serve()
  await again.exited
  expect(again.exitCode).toBe(2)
  await standby(first)
  const { out: listed } = await berth(['restore', '--list'], first.env)
  expect(listed.split('\n').length).toBeGreaterThanOrEqual(2)
}, 90_000)

test('berth restore puts in place what there was at a time, and leaves a newer database alone', async () => {
  const { first, second, process, token } = await pair()
  await make(first, token, 'early')
  const restored = async (...args: string[]) => berth(['restore', ...args], second.env)
  await eventually(async () => (await restored('--list')).out.includes('Z'), 30)
  // The replica has points in time about a second apart.
  const shipped = async (after: number) =>
    eventually(async () => Date.parse((await first.admin('replica.get')).shippedAt) > after, 30)
  await shipped(Date.now())
  const then = new Date().toISOString()
  await make(first, token, 'late')
  await shipped(Date.now())
  process.kill('SIGTERM')
  await process.exited
  const inTime = await restored('--at', then)
  expect([inTime.code, inTime.error]).toEqual([0, ''])
  expect(names(second)).toEqual(['first', 'early'])
  const older = await berth(['restore', '--at', then], first.env)
  expect(older.code).toBe(1)
  expect(older.error).toContain('restore_failed: The database that is here is newer')
  expect(names(first)).toEqual(['first', 'early', 'late'])
  const forced = await berth(['restore', '--at', then, '--discard-newer'], first.env)
  expect([forced.code, forced.error]).toEqual([0, ''])
  expect(names(first)).toEqual(['first', 'early'])
  expect(readdirSync(first.dir).some((file) => file.startsWith('berth.db.before-restore-'))).toBe(true)
  const before = await berth(['restore', '--at', '2020-01-01T00:00:00Z'], second.env)
  expect(before.error).toContain('restore_failed: The replica begins at')
  await first.serve()
  expect(JSON.stringify(await first.admin('overview.get'))).toContain('was restored as it was at')
}, 90_000)
