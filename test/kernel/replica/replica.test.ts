// The replica of the database: what is shipped is what is restored, whenever and however the shipper ends.
import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { secretsWith } from '../../../src/kernel/crypto/secrets.ts'
import { writeTogether } from '../../../src/kernel/db/group-commit.ts'
import { openDb, write } from '../../../src/kernel/db/open.ts'
import { quieten } from '../../../src/kernel/log.ts'
import { claim, heldIn, higherClaim, keepHeld } from '../../../src/kernel/replica/claims.ts'
import { removeOld } from '../../../src/kernel/replica/cleaning.ts'
import { Copy, NotInReplica } from '../../../src/kernel/replica/copy.ts'
import { basePoints, ObjectDamaged } from '../../../src/kernel/replica/objects.ts'
import { Shipper } from '../../../src/kernel/replica/shipper.ts'
import { removeWholeCopies, storeWholeCopy } from '../../../src/kernel/replica/whole-copy.ts'
import { FOLDER_MARKER, folderStore } from '../../../src/kernel/stores/folder.ts'
import type { ObjectStore } from '../../../src/kernel/stores/store.ts'
import { eventually } from '../../support/waiting/eventually.ts'

quieten(true)
const secrets = secretsWith(Buffer.alloc(32, 5))
const migrations = [{ name: 'one', sql: 'CREATE TABLE changes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;' }]
const dirs: string[] = []
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true })
})

function world() {
  const dir = mkdtempSync(`${existsSync('/dev/shm') ? '/dev/shm' : tmpdir()}/berth-replica-`)
  dirs.push(dir)
  const folder = `${dir}/place`
  Bun.spawnSync(['mkdir', folder])
  writeFileSync(`${folder}/${FOLDER_MARKER}`, '')
  let now = 1_800_000_000_000
  const store = folderStore(folder)
  return {
    dir,
    folder,
    store,
    now: () => now,
    pass: (ms: number) => void (now += ms),
    async controller({ waits = false, over = store as ObjectStore, path = `${dir}/berth.db` } = {}) {
      const db = openDb(path, migrations, { keepsLog: true })
      const held = heldIn(dir) ?? (await claim(over, secrets, now))
      keepHeld(dir, held)
      const shipper = new Shipper(db, {
        ...{ store: over, secrets, dataDir: dir, held, waits, everyMs: 0, keepMs: 86_400_000 },
        ...{ wallClock: () => now, monotonic: () => now++ },
      })
      let isOpen = true
      const end = () => {
        if (isOpen) db.$client.close(true)
        isOpen = false
      }
      ends.push(end)
      const insert = (text: string) =>
        write(db, (tx) => void tx.$client.query('INSERT INTO changes (text) VALUES (?)').run(text))
      const ship = async () => {
        now += 20_000
        await shipper.round(true)
        await eventually(() => !shipper.state.isBeginning || shipper.state.error !== null)
      }
      return { db, shipper, insert, ship, end }
    },
    /** The texts in what is restored. */
    async restored(until = Infinity) {
      const copy = new Copy(store, secrets, `${dir}/copy-${Math.random()}.db`)
      await copy.begin(until)
      await copy.follow(until)
      await copy.mustBeWithoutGap()
      await copy.finish()
      const file = new Database(copy.path)
      try {
        expect(file.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
        return file
          .query<{ text: string }, []>('SELECT text FROM changes ORDER BY id')
          .all()
          .map(({ text }) => text)
      } finally {
        file.close()
      }
    },
  }
}

describe('what is shipped', () => {
  test('is what is restored, also at a time before', async () => {
    const w = world()
    const c = await w.controller()
    c.insert('a')
    await c.ship()
    expect(c.shipper.state.error).toBeNull()
    c.insert('b')
    await c.ship()
    const then = w.now()
    w.pass(1000)
    c.insert('c')
    c.db.$client.run('DELETE FROM changes WHERE text = ?', ['a'])
    await c.ship()
    expect(await w.restored()).toEqual(['b', 'c'])
    expect(await w.restored(then)).toEqual(['a', 'b'])
    await expect(w.restored(1)).rejects.toThrow(NotInReplica)
  })
  test('goes on behind the last segment after an orderly end and after a crash, without a second base', async () => {
    const w = world()
    let c = await w.controller()
    c.insert('a')
    await c.ship()
    await c.shipper.finish()
    c.end()
    c = await w.controller()
    c.insert('b')
    await c.ship()
    expect(await basePoints(w.store)).toHaveLength(1)
    expect(await w.restored()).toEqual(['a', 'b'])
    // A crash: neither the shipper nor the database ends in order; the local note is older than the last segment.
    c.insert('c')
    const before = heldIn(w.dir)!
    await c.ship()
    keepHeld(w.dir, before)
    const crashed = `${w.dir}/after-crash.db`
    for (const end of ['', '-wal']) Bun.spawnSync(['cp', `${w.dir}/berth.db${end}`, crashed + end])
    c.end()
    const again = await w.controller({ path: crashed })
    again.insert('d')
    await again.ship()
    expect(await basePoints(w.store)).toHaveLength(1)
    expect(await w.restored()).toEqual(['a', 'b', 'c', 'd'])
  })
  test('begins with a new base when the log was begun anew by another program', async () => {
    const w = world()
    let c = await w.controller()
    c.insert('a')
    await c.ship()
    c.end()
    // Closing as usual takes the log away.
    const other = new Database(`${w.dir}/berth.db`)
    other.run("INSERT INTO changes (text) VALUES ('by hand')")
    other.close(true)
    expect(existsSync(`${w.dir}/berth.db-wal`)).toBe(false)
    c = await w.controller()
    c.insert('b')
    await c.ship()
    expect(await basePoints(w.store)).toHaveLength(2)
    expect(await w.restored()).toEqual(['a', 'by hand', 'b'])
    c.insert('c')
    c.db.$client.run('PRAGMA wal_checkpoint(TRUNCATE)')
    c.insert('d')
    await c.ship()
    expect(await basePoints(w.store)).toHaveLength(3)
    expect(await w.restored()).toEqual(['a', 'by hand', 'b', 'c', 'd'])
  })
  test('survives checkpoints under load: what was confirmed is there', async () => {
    const w = world()
    const c = await w.controller()
    const texts: string[] = []
    for (let round = 0; round < 40; round++) {
      for (let i = 0; i < 60; i++) {
        const text = `${round} ${i} ${'x'.repeat(2000)}`
        c.insert(text)
        texts.push(text)
      }
      await c.ship()
    }
    // The log was begun anew several times, or it would be as long as everything that was written.
    expect(statSync(`${w.dir}/berth.db-wal`).size).toBeLessThan(8_000_000)
    expect((await basePoints(w.store)).length).toBe(1)
    expect(await w.restored()).toEqual(texts)
  }, 60_000)
  test('can be read by nobody without the key file, and not be exchanged', async () => {
    const w = world()
    const c = await w.controller()
    c.insert('a secret of the house')
    await c.ship()
    c.insert('another')
    await c.ship()
    const files = readdirSync(w.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    for (const { parentPath, name } of files)
      expect(await Bun.file(`${parentPath}/${name}`).text()).not.toContain('secret')
    const [segment, next] = await w.store.list('segments')
    await w.store.put(next!, (await w.store.get(segment!))!)
    await expect(w.restored()).rejects.toThrow(ObjectDamaged)
  })
})

describe('a store that fails', () => {
  /** The store, with a fault before or after each put that `fails` names. */
  function failing(store: ObjectStore, fails: (name: string) => 'before' | 'after' | undefined): ObjectStore {
    return {
      ...store,
      async put(name, bytes) {
        const when = fails(name)
        if (when === 'before') throw new Error('the store is away')
        await store.put(name, bytes)
        if (when === 'after') throw new Error('the answer was lost')
      },
    }
  }
  test('at any moment loses nothing and doubles nothing', async () => {
    for (const when of ['before', 'after'] as const) {
      const w = world()
      let n = 0
      const isFaulty = () => Bun.hash.crc32(`${when} ${++n}`) % 3 === 0
      const c = await w.controller({
        over: failing(w.store, (name) => (/^(seg|ba|pa)/.test(name) && isFaulty() ? when : undefined)),
      })
      const texts: string[] = []
      for (let i = 0; i < 30; i++) {
        c.insert(`change ${i}`)
        texts.push(`change ${i}`)
        await c.ship()
      }
      do await c.ship()
      while (c.shipper.state.error || c.shipper.state.isBeginning)
      expect(await w.restored()).toEqual(texts)
    }
  })
  test('makes a change wait, which is confirmed when it is there', async () => {
    const w = world()
    let isAway = false
    const c = await w.controller({ waits: true, over: failing(w.store, () => (isAway ? 'before' : undefined)) })
    await c.ship()
    const insert = (text: string) =>
      writeTogether(c.db, (tx) => void tx.$client.query('INSERT INTO changes (text) VALUES (?)').run(text))
    await Promise.all([insert('a'), insert('b')])
    expect(await w.restored()).toEqual(['a', 'b'])
    isAway = true
    let confirmed = false
    const waiting = insert('c').then(() => (confirmed = true))
    await eventually(() => c.shipper.state.error !== null)
    expect(confirmed).toBe(false)
    isAway = false
    await c.ship()
    await waiting
    expect(await w.restored()).toEqual(['a', 'b', 'c'])
  })
  test('leaves a segment that is cut off, which is refused and never applied', async () => {
    const w = world()
    const c = await w.controller()
    c.insert('a')
    await c.ship()
    c.insert('b')
    await c.ship()
    const last = (await w.store.list('segments')).at(-1)!
    const { size } = statSync(`${w.folder}/${last}`)
    for (const bytes of [0, 10, 40, size >> 1, size - 1]) {
      truncateSync(`${w.folder}/${last}`, bytes)
      await expect(w.restored()).rejects.toThrow(ObjectDamaged)
    }
    await w.store.remove(last)
    expect(await w.restored()).toEqual(['a'])
  })
  test('that lost a segment is said', async () => {
    const w = world()
    const c = await w.controller()
    for (const text of ['a', 'b', 'c']) {
      c.insert(text)
      await c.ship()
    }
    await w.store.remove((await w.store.list('segments')).at(-2)!)
    await expect(w.restored()).rejects.toThrow(ObjectDamaged)
  })
})

describe('a takeover', () => {
  test('stops the controller that was before: it confirms nothing more', async () => {
    const w = world()
    const c = await w.controller({ waits: true })
    await c.ship()
    const insert = (text: string) =>
      writeTogether(c.db, (tx) => void tx.$client.query('INSERT INTO changes (text) VALUES (?)').run(text))
    await insert('a')
    const other = await claim(w.store, secrets, w.now())
    await expect(insert('b')).rejects.toThrow('not at the second place')
    await c.shipper.takenOver.promise
    expect(() => c.insert('c')).toThrow('Another controller took over')
    expect(await higherClaim(w.store, secrets, other)).toBeUndefined()
  })
  test('succeeds for one of two at once at most', async () => {
    const w = world()
    const tried = await Promise.allSettled([claim(w.store, secrets, 1), claim(w.store, secrets, 1)])
    expect(tried.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1)
    await claim(w.store, secrets, 2)
  })
})

describe('a whole copy', () => {
  test('is made while changes go on, and is of one moment', async () => {
    const w = world()
    const path = `${w.dir}/whole.db`
    const db = openDb(path, migrations)
    ends.push(() => db.$client.close(true))
    const insert = (text: string) =>
      write(db, (tx) => void tx.$client.query('INSERT INTO changes (text) VALUES (?)').run(text))
    const texts = Array.from({ length: 3000 }, (_, i) => `${i} ${'x'.repeat(3000)}`)
    for (const text of texts) insert(text)
    let isDone = false
    const copied = storeWholeCopy(db, w.store, secrets, w.now()).finally(() => (isDone = true))
    for (let i = 0; !isDone; i++) {
      insert(`meanwhile ${i} ${'y'.repeat(3000)}`)
      write(db, (tx) => void tx.$client.run("UPDATE changes SET text = text || '.' WHERE id % 50 = 0"))
      await Bun.sleep(0)
    }
    expect(await copied).toBeGreaterThan(1000)
    expect(await w.restored()).toEqual(texts)
    expect(db.$client.query('PRAGMA wal_checkpoint(TRUNCATE)').get()).toMatchObject({ busy: 0 })
  }, 60_000)
  test('is removed when it is old, but never the last', async () => {
    const w = world()
    const db = openDb(`${w.dir}/whole.db`, migrations)
    ends.push(() => db.$client.close(true))
    for (const day of [1, 2, 3]) await storeWholeCopy(db, w.store, secrets, day * 86_400_000)
    await w.store.put('parts/000000-0000000000000/000000000777/000000', Buffer.from('of one that was broken off'))
    await removeWholeCopies(w.store, 2.5 * 86_400_000)
    expect((await basePoints(w.store)).map(({ at }) => at / 86_400_000)).toEqual([3])
    await removeWholeCopies(w.store, 9 * 86_400_000)
    expect(await basePoints(w.store)).toHaveLength(1)
    expect(await w.store.list('parts')).toHaveLength(1)
    expect(await w.restored()).toEqual([])
  })
})

test('what is older than the time that is kept is removed, and every later time can be restored', async () => {
  const w = world()
  const c = await w.controller()
  const times: number[] = []
  for (let i = 0; i < 4; i++) {
    c.insert(`${i} a`)
    await c.ship()
    // The next process begins with a base of its own.
    c.db.$client.run('PRAGMA wal_checkpoint(TRUNCATE)')
    c.insert(`${i} b`)
    c.db.$client.run('PRAGMA wal_checkpoint(TRUNCATE)')
    c.insert(`${i} c`)
    await c.ship()
    times.push(w.now())
    w.pass(1000)
  }
  const before = await basePoints(w.store)
  expect(before.length).toBeGreaterThan(3)
  await removeOld(w.store, times[1]!)
  const after = await basePoints(w.store)
  expect(after.length).toBeLessThan(before.length)
  for (const [i, at] of times.entries()) if (i) expect(await w.restored(at)).toHaveLength(3 * (i + 1))
  expect(await w.restored()).toHaveLength(12)
})
