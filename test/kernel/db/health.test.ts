// S56, S57: a database that cannot be written refuses changes with the reason, loses nothing, and everything goes on by
// itself when the cause has ended. SQLite's own limit of pages stands for a full disk; test/end-to-end has real ones.
import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import fs, { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { minute } from '../../../src/kernel/db/clock.ts'
import { DatabaseUnavailable, isDatabaseError } from '../../../src/kernel/db/health.ts'
import {
  type Db,
  openDb,
  read,
  whenHealed,
  write,
  writeIfPossible,
  writeUnflushed,
} from '../../../src/kernel/db/open.ts'
import { getSetting, putSetting } from '../../../src/kernel/db/queries.ts'
import { quieten } from '../../../src/kernel/log.ts'
import { emptyDatabase } from '../../support/world/fresh-db.ts'
import { type Panel, world } from '../../support/world/panel.ts'

/** The database takes no page more than it has; what is freed is used again. */
function fill(db: Db) {
  const { pages } = db.$client.query<{ pages: number }, []>('SELECT page_count AS pages FROM pragma_page_count').get()!
  db.$client.run(`PRAGMA max_page_count=${pages}`)
  return () => db.$client.run('PRAGMA max_page_count=1000000')
}
const big = 'x'.repeat(500_000)

describe('a database on a full disk', () => {
  let dir: string
  let db: Db
  beforeEach(() => {
    quieten(true)
    dir = mkdtempSync(`${tmpdir()}/berth-health-`)
    writeFileSync(`${dir}/berth.db`, emptyDatabase())
    db = openDb(`${dir}/berth.db`)
  })
  afterEach(() => {
    db.$client.close()
    rmSync(dir, { recursive: true })
  })

  test('refuses the change that met it and every one after it, keeps what was acknowledged, and is read', () => {
    write(db, (tx) => putSetting(tx, 'before', 1))
    fill(db)
    expect(() => write(db, (tx) => putSetting(tx, 'big', big))).toThrow(DatabaseUnavailable)
    expect(db.$client.health.trouble).toMatchObject({ kind: 'full', code: 'SQLITE_FULL' })
    let ran = false
    expect(() => write(db, () => void (ran = true))).toThrow('The disk of the database is full.')
    expect(ran).toBe(false)
    expect(read(db, (tx) => [getSetting(tx, 'before'), getSetting(tx, 'big')])).toEqual([1, undefined])
    writeIfPossible(db, () => void (ran = true))
    expect(ran).toBe(false)
  })
  test('refuses changes after a flush that the disk did not take, until all was written anew', async () => {
    writeUnflushed(db, (tx) => putSetting(tx, 'a', 1))
    await db.$client.flush()
    const flush = spyOn(fs, 'fdatasync').mockImplementation(((_: number, done: (error: Error) => void) =>
      done(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }))) as typeof fs.fdatasync)
    try {
      await expect(db.$client.flush()).rejects.toThrow(DatabaseUnavailable)
      expect(flush).toHaveBeenCalledTimes(1)
    } finally {
      flush.mockRestore()
    }
    expect(db.$client.health.trouble).toMatchObject({ kind: 'failing', code: 'SQLITE_IOERR_FSYNC' })
    expect(() => write(db, (tx) => putSetting(tx, 'b', 1))).toThrow('The disk of the database answers with errors.')
    db.$client.health.check()
    write(db, (tx) => putSetting(tx, 'b', 1))
    await db.$client.flush()
    await openDb(':memory:').$client.flush()
  })
  test('refuses changes while the disk answers with other pages than were written', () => {
    write(db, (tx) => putSetting(tx, 'a', 1))
    db.$client.run('PRAGMA wal_checkpoint(TRUNCATE)')
    fs.copyFileSync(`${dir}/berth.db`, `${dir}/earlier`)
    const earlier = fs.openSync(`${dir}/earlier`, 'r')
    write(db, (tx) => putSetting(tx, 'a', 2))
    db.$client.health.met(Object.assign(new Error('EIO'), { code: 'SQLITE_IOERR_FSYNC' }))
    const mainFile = spyOn(db.$client, 'mainFile').mockReturnValue(earlier)
    try {
      for (let i = 0; i < 2; i++) db.$client.health.check()
      expect(db.$client.health.trouble).toMatchObject({ kind: 'failing', code: 'NOT_KEPT' })
      expect(() => write(db, (tx) => putSetting(tx, 'b', 1))).toThrow(DatabaseUnavailable)
    } finally {
      mainFile.mockRestore()
      fs.closeSync(earlier)
    }
    expect(statSync(`${dir}/berth.db-wal`).size).toBeGreaterThan(0)
    db.$client.health.check()
    expect([db.$client.health.trouble, getSetting(db, 'a')]).toEqual([undefined, 2])
  })
  test('takes changes again when the check could write, and tells who waits once', () => {
    const empty = fill(db)
    expect(() => write(db, (tx) => putSetting(tx, 'big', big))).toThrow(DatabaseUnavailable)
    let healed = 0
    whenHealed(db, () => healed++)
    whenHealed(db, () => {
      throw new Error('one that fails keeps nobody else waiting')
    })
    whenHealed(db, () => healed++)
    empty()
    db.$client.health.check()
    db.$client.health.check()
    expect([db.$client.health.trouble, healed]).toEqual([undefined, 2])
    write(db, (tx) => putSetting(tx, 'big', big))
    expect(getSetting(db, 'big')).toBe(big)
    expect(readdirSync(dir).sort()).toEqual(['berth.db', 'berth.db-shm', 'berth.db-wal'])
  })
  test('that is damaged takes no change until people have mended it', () => {
    db.$client.health.met(Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' }))
    db.$client.health.check()
    expect(() => write(db, () => {})).toThrow('The database is damaged.')
  })
  test('whose error comes from the work itself is no such database', () => {
    for (const error of [new Error('x'), { code: 'SQLITE_CONSTRAINT_UNIQUE' }, { code: 'ENOSPC' }, undefined, null])
      expect([error, isDatabaseError(error)]).toEqual([error, false])
    for (const code of ['SQLITE_FULL', 'SQLITE_IOERR_FSYNC', 'SQLITE_READONLY', 'SQLITE_BUSY_SNAPSHOT'])
      expect(isDatabaseError(new Error('around', { cause: { code } }))).toBe(true)
  })
  test('an error of what follows a change does not make it look refused', () => {
    db.$client.afterWrite.push(() => {
      throw new Error('later')
    })
    expect(write(db, (tx) => putSetting(tx, 'a', 1) ?? 'answer')).toBe('answer')
  })

  for (const suffix of ['', '-wal', '-shm'])
    test(`S56: berth.db${suffix} moved away under it: changes are refused, and what it knows is saved`, () => {
      write(db, (tx) => putSetting(tx, 'acknowledged', 1))
      const path = `${dir}/berth.db${suffix}`
      renameSync(path, `${path}.away`)
      db.$client.health.check()
      expect(() => write(db, () => {})).toThrow(`The file ${path} was deleted under the running controller.`)
      const { rescued } = db.$client.health.trouble!
      const saved = openDb(rescued!)
      expect(getSetting(saved, 'acknowledged')).toBe(1)
      saved.$client.close()
      db.$client.health.check()
      expect(readdirSync(dir).filter((name) => /rescued-\d+$/.test(name))).toHaveLength(1)
      renameSync(`${path}.away`, path)
      db.$client.health.check()
      expect(db.$client.health.trouble).toBeUndefined()
      write(db, (tx) => putSetting(tx, 'after', 1))
    })
  test('S56: another file in its place is noticed too', () => {
    renameSync(`${dir}/berth.db`, `${dir}/away.db`)
    openDb(`${dir}/berth.db`).$client.close()
    expect(existsSync(`${dir}/berth.db`)).toBe(true)
    db.$client.health.check()
    expect(db.$client.health.trouble).toMatchObject({ kind: 'replaced' })
    expect(() => write(db, () => {})).toThrow('was replaced under the running controller')
  })
})

describe('S57: on a full disk', () => {
  const attention = async (p: Panel) =>
    (await p.admin('GET', '/admin/overview')).attention.map((row: any) => row.what as string)

  test('a change answers 503 and nothing happens; reads by token and session go on; the overview says it', async () => {
    using p = await world()
    const { owner } = p
    const callers = [owner, p.token(owner.id)]
    const empty = fill(p.db)
    expect(() => write(p.db, (tx) => putSetting(tx, 'big', big))).toThrow()
    const before = p.fingerprint()
    p.turnClock(minute * 5) // sessions and tokens are noted as seen anew
    for (const who of callers) {
      const reply = await p.call(who, 'POST', '/admin/customers', { name: 'N', email: 'n@customer.test' })
      expect([reply.status, reply.body.error.code, reply.headers.get('Retry-After')]).toEqual([503, 'restarting', '60'])
      expect(reply.body.error.message).toStartWith('The disk of the database is full.')
      expect((await p.call(who, 'GET', '/admin/nodes')).status).toBe(200)
    }
    expect(p.fingerprint()).toBe(before)
    expect(await attention(p)).toContain('The disk of the database is full. Changes are refused and jobs wait.')
    empty()
    p.db.$client.health.check()
    const again = await p.call(owner, 'POST', '/admin/customers', { name: 'N', email: 'n@customer.test' })
    expect(again.status).toBe(201)
    expect((await attention(p)).join()).not.toContain('disk of the database')
  })
})
