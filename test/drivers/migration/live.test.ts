// Live moves of a real guest between two nodes, each with a libvirt of its own.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Lab, labMissing, type Name, until } from './lab.ts'

describe.skipIf(await labMissing('live moves of real guests'))('live moves of real guests', () => {
  const lab = new Lab()
  let home: Name = 'a'
  const N = 1

  beforeAll(async () => {
    await lab.open()
    await lab.install(N, 'a')
  }, 300_000)
  afterAll(() => lab.close(), 30_000)

  test('a guest moves without a lost write, and its downtime is told as the events say', async () => {
    const { ids, to, input } = await lab.prepare(N, home)
    const before = await lab.counted(N)
    const ping = lab.ping(N)
    const watch = await lab.watch(N)
    await lab.node(home).obey('transfer.begin-migration', input)
    // Its memory waits, and the guest works on.
    const held = await lab.counted(N)
    await until('the guest has written on', async () => (await lab.counted(N)).last > held.last + 100)
    expect([await lab.state(home, N), await lab.state(to, N)]).toEqual(['running (booted)', 'paused (migrating)'])
    const moved = await lab.node(home).obey('transfer.migrate', input)
    const { resumedAt, power } = await lab.node(to).obey('transfer.resume', ids)
    expect(power).toBe('running')
    await Bun.sleep(1000)
    const pinged = await ping.stop()
    watch.stop()
    const toldMs = resumedAt! - moved.stoppedAt
    const seenMs = Math.round(watch.at(to, 'Resumed')! - watch.at(home, 'Suspended Migrated')!)
    process.stderr.write(`  told ${toldMs} ms, by the events ${seenMs} ms, silence of pings ${pinged.silenceMs} ms\n`)
    for (const { node, text, at } of watch.events) process.stderr.write(`    ${Math.round(at)} ${node} ${text}\n`)
    for (const line of lab.node(home).said) process.stderr.write(`    ${line}\n`)
    expect(Math.abs(toldMs - seenMs)).toBeLessThanOrEqual(50)
    await lab.tidy(N, home, ids)
    expect([await lab.state(home, N), await lab.state(to, N)]).toEqual(['absent', 'running (unpaused)'])
    await lab.node(to).obey('transfer.end', ids)
    home = to
    const after = await lab.counted(N)
    expect(after.gap).toBeUndefined()
    expect(after.last).toBeGreaterThan(before.last)
  }, 300_000)
})
