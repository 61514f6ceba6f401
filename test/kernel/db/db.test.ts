import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { migrations } from '../../../migrations/index.ts'
import { accounts } from '../../../src/identity/account-records/tables.ts'
import { system } from '../../../src/kernel/api/actor.ts'
import { done, operation } from '../../../src/kernel/api/operation.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { checksumOf, migrate } from '../../../src/kernel/db/migrate.ts'
import {
  afterWrite,
  type Db,
  isUniqueViolation,
  openDb,
  prepared,
  read,
  type Tx,
  write,
} from '../../../src/kernel/db/open.ts'
import { inserting, rowBy } from '../../../src/kernel/db/rows.ts'
import { emit } from '../../../src/kernel/jobs/outbox.ts'
import { saga } from '../../../src/kernel/jobs/saga.ts'
import { startJob } from '../../../src/kernel/jobs/start.ts'
import { freshDb } from '../../support/world/fresh-db.ts'
import { world } from '../../support/world/panel.ts'

const setting = (db: Db, name: string) =>
  db.$client.query<{ value: string }, [string]>('SELECT value FROM settings WHERE name = ?').get(name)?.value
const put = (db: Db, name: string, value: string) =>
  void db.$client.run('INSERT INTO settings VALUES (?, ?)', [name, value])

describe('write', () => {
  test('keeps all of it or nothing', () => {
    const db = freshDb()
    expect(() =>
      write(db, (tx) => {
        put(tx, 'a', '1')
        put(tx, 'b', '2')
        throw new Error('no')
      }),
    ).toThrow('no')
    expect([setting(db, 'a'), setting(db, 'b'), db.$client.inTransaction]).toEqual([undefined, undefined, false])
    expect(write(db, (tx) => put(tx, 'a', '1') ?? 'answer')).toBe('answer')
    expect(setting(db, 'a')).toBe('1')
  })
  test('refuses to stand inside another, and nothing of the outer one is kept', () => {
    const db = freshDb()
    for (const inner of [write, read])
      expect(() =>
        write(db, (tx) => {
          put(tx, 'a', '1')
          inner(db, () => undefined)
        }),
      ).toThrow('a transaction inside a transaction')
    expect(() => read(db, () => void write(db, () => {}))).toThrow('a transaction inside a transaction')
    expect(setting(db, 'a')).toBeUndefined()
    expect(db.$client.inTransaction).toBe(false)
  })
  test('does not begin while another connection writes, and a reader sees one moment only', () => {
    const dir = mkdtempSync(`${tmpdir()}/berth-db-`)
    const db = openDb(`${dir}/berth.db`)
    const other = openDb(`${dir}/berth.db`)
    other.$client.run('PRAGMA busy_timeout=0')
    write(db, () => expect(() => write(other, () => {})).toThrow(/locked|busy/i))
    read(other, (tx) => {
      expect(setting(tx, 'a')).toBeUndefined()
      write(db, (mine) => put(mine, 'a', '1'))
      expect(setting(tx, 'a')).toBeUndefined()
    })
    expect(setting(other, 'a')).toBe('1')
    db.$client.close()
    other.$client.close()
    rmSync(dir, { recursive: true })
  })
  test('tells those who wait for it after it is on disk, and not when it failed', () => {
    const db = freshDb()
    const heard: (string | undefined)[] = []
    afterWrite(db, () => heard.push(setting(db, 'a')))
    expect(() => write(db, () => void JSON.parse('{'))).toThrow()
    expect(heard).toEqual([])
    write(db, (tx) => put(tx, 'a', '1'))
    expect(heard).toEqual(['1'])
    read(db, () => undefined)
    expect(heard.length).toBe(1)
  })
  test('keeps the change with its event, its job and its audit line, or none of them', async () => {
    using p = await world()
    const before = p.fingerprint()
    const work = saga<{}>('test').record('a', 'A', { do: () => {} })
    const id = newId('pkg')
    expect(() =>
      write(p.db, (tx) => {
        tx.$client.run(
          "INSERT INTO packages (id, name, vcpus, memory_mb, disk_gb, ipv4, created_at) VALUES (?, 'X', 1, 1, 1, 1, 1)",
          [id],
        )
        startJob(tx, work, {}, { by: system, title: 'X', now: 1 })
        emit(
          tx,
          1,
          'customer.created',
          { subject: { type: 'customer', id }, customerId: null, resellerId: null },
          { customer: { id, email: 'a@b', name: 'A', externalId: null } },
        )
        throw new Error('late')
      }),
    ).toThrow('late')
    expect(p.fingerprint()).toBe(before)
  })
  test('a call whose audit line cannot be written changes nothing', async () => {
    using p = await world()
    p.db.$client.run("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT raise(ABORT, 'disk full'); END")
    const before = p.fingerprint()
    const { status, body, headers } = await p.call(p.owner, 'POST', '/admin/servers', p.order, {
      'Idempotency-Key': 'k',
    })
    expect([status, body.error.code]).toEqual([500, 'internal_error'])
    expect(body.error.message).toContain(headers.get('X-Request-Id')!)
    expect(JSON.stringify(body)).not.toContain('disk full')
    expect(p.fingerprint()).toBe(before)
  })
})

describe('the database', () => {
  test('minds references and types', () => {
    const db = freshDb()
    expect(() => db.$client.run("INSERT INTO pool_nodes VALUES ('pool_x', 'nod_x')")).toThrow('FOREIGN KEY')
    expect(() => db.$client.run("INSERT INTO settings VALUES ('a', x'00')")).toThrow()
    expect(() =>
      db.$client.run("INSERT INTO accounts (id, kind, email, name, created_at) VALUES ('a', 'king', 'a', 'a', 1)"),
    ).toThrow('CHECK')
  })
  test('survives a power cut once it has answered', () => {
    const dir = mkdtempSync(`${tmpdir()}/berth-db-`)
    const db = openDb(`${dir}/berth.db`)
    expect(db.$client.query('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
    expect(db.$client.query('PRAGMA synchronous').get()).toEqual({ synchronous: 2 })
    db.$client.close()
    rmSync(dir, { recursive: true })
  })
  test('tells a unique index that was hit from every other error', () => {
    const db = freshDb()
    const errorOf = (sql: string) => {
      try {
        db.$client.run(sql)
      } catch (error) {
        return error
      }
      return undefined
    }
    db.$client.run("INSERT INTO settings VALUES ('a', '1')")
    expect(isUniqueViolation(errorOf("INSERT INTO settings VALUES ('a', '2')"))).toBe(true)
    expect(isUniqueViolation(new Error('x', { cause: errorOf("INSERT INTO settings VALUES ('a', '2')") }))).toBe(true)
    expect(isUniqueViolation(errorOf('INSERT INTO settings VALUES (NULL, NULL)'))).toBe(false)
    expect(isUniqueViolation(new Error('UNIQUE'))).toBe(false)
    expect(isUniqueViolation(undefined)).toBe(false)
  })
})

describe('migrations', () => {
  const everythingIn = (file: Database) => [schema(file), file.query('SELECT * FROM migrations').all()]
  const schema = (file: Database) =>
    file.query("SELECT sql FROM sqlite_master WHERE tbl_name <> 'migrations' ORDER BY name").all()
  test('are applied once, in order, and a second start changes nothing', () => {
    const file = new Database(':memory:', { strict: true })
    migrate(file)
    const first = [schema(file), file.query('SELECT * FROM migrations').all()]
    file.run("INSERT INTO settings VALUES ('a', '1')")
    migrate(file)
    expect([schema(file), file.query('SELECT * FROM migrations').all()]).toEqual(first)
    expect(file.query('SELECT value FROM settings').get()).toEqual({ value: '1' })
    expect(file.query('SELECT name FROM migrations ORDER BY rowid').all()).toEqual(
      migrations.map(({ name }) => ({ name })),
    )
  })
  test('of a newer Berth are refused by name, and the database stays as it is', () => {
    const file = new Database(':memory:', { strict: true })
    migrate(file)
    file.run("INSERT INTO migrations VALUES ('9999_future', 'x', 1)")
    const before = everythingIn(file)
    expect(() => migrate(file)).toThrow(
      /written by a newer Berth \(it has 9999_future\)\. Start that version; or .*berth backup restore/,
    )
    expect(everythingIn(file)).toEqual(before)
  })
  describe('of a Berth that was never released are refused by name, and the database stays as it is', () => {
    const states: Record<string, [(file: Database) => void, string]> = {
      'from before checksums were kept': [
        (file) => file.run('ALTER TABLE migrations DROP COLUMN checksum'),
        '0001_spine, 0002_areas',
      ],
      'whose file was edited since': [
        (file) => file.run("UPDATE migrations SET checksum = 'other' WHERE name = '0002_areas'"),
        '(its 0002_areas is',
      ],
      'whose file has another name now': [
        (file) => file.run("INSERT INTO migrations VALUES ('0002_other', 'x', 1)"),
        '(its 0002_other is',
      ],
    }
    for (const [state, [change, words]] of Object.entries(states))
      test(state, () => {
        const file = new Database(':memory:', { strict: true })
        migrate(file)
        change(file)
        const before = everythingIn(file)
        expect(() => migrate(file)).toThrow(words)
        expect(() => migrate(file)).toThrow('begin with an empty data directory')
        expect(everythingIn(file)).toEqual(before)
      })
  })
  test('may be worded and laid out anew, and nothing else', () => {
    const one = checksumOf('CREATE TABLE a (b TEXT)\n-- said once\n;')
    expect(checksumOf('-- said better\nCREATE  TABLE a\n  (b TEXT) ;')).toBe(one)
    expect(checksumOf('CREATE TABLE a (b BLOB) ;')).not.toBe(one)
  })
  test('that break half-way leave nothing of themselves', () => {
    const file = new Database(':memory:', { strict: true })
    file.run('CREATE TABLE tokens (id TEXT)') // in the way of the first one
    expect(() => migrate(file)).toThrow('already exists')
    expect(schema(file).length).toBe(1)
    expect(file.query('SELECT name FROM migrations').all()).toEqual([])
  })
  test('are in the order of their names', () =>
    expect(migrations.map((m) => m.name)).toEqual(migrations.map((m) => m.name).toSorted()))
})

describe('a row that leaves things out', () => {
  const things = sqliteTable('things', {
    id: text().primaryKey(),
    flag: integer({ mode: 'boolean' }).notNull().default(true),
    off: integer({ mode: 'boolean' }),
    list: text({ mode: 'json' }).$type<string[]>().notNull().default(['a']),
    json: text({ mode: 'json' }),
    n: integer(),
  })
  const insert = inserting(things)
  const find = rowBy(things, things.id)
  const db = freshDb()
  db.$client.run(
    'CREATE TABLE things (id TEXT PRIMARY KEY, flag INTEGER NOT NULL, off INTEGER, list TEXT NOT NULL, json ' +
      'TEXT, n INTEGER) STRICT',
  )

  test('has its defaults, and NULL where there is none: not the text "null", not 0', () => {
    write(db, (tx) => insert(tx, { id: 'a' }))
    expect(find(db, 'a')).toEqual({ id: 'a', flag: true, off: null, list: ['a'], json: null, n: null })
    expect(db.$client.query("SELECT off, json FROM things WHERE id = 'a'").get()).toEqual({ off: null, json: null })
  })
  test('keeps what it says, also what is false, empty or 0', () => {
    write(db, (tx) => insert(tx, { id: 'b', flag: false, off: false, list: [], json: { a: [1, null] }, n: 0 }))
    expect(find(db, 'b')).toEqual({ id: 'b', flag: false, off: false, list: [], json: { a: [1, null] }, n: 0 })
  })
  test('is found by its own value only', () => {
    expect(find(db, 'c')).toBeUndefined()
    expect(find(db, "a' OR '1'='1")).toBeUndefined()
  })
})

test('a prepared query belongs to its database', () => {
  let built = 0
  const find = prepared((db) => {
    built++
    return db.$client.prepare<{ value: string }, []>("SELECT value FROM settings WHERE name = 'a'")
  })
  const [one, two] = [freshDb(), freshDb()]
  write(one, (tx) => put(tx, 'a', 'one'))
  write(two, (tx) => put(tx, 'a', 'two'))
  expect([find(one).get()?.value, find(two).get()?.value, find(one).get()?.value, built]).toEqual([
    'one',
    'two',
    'one',
    2,
  ])
})

// These hold by being compiled: a line that should not compile and does is an error of the compiler.
describe('by its type', () => {
  const about = { path: '/x', summary: 'X', access: 'anyone', response: done } as const
  const rename = (tx: Tx) => void tx.update(accounts).set({ name: 'x' }).run()
  test('a read cannot change a row, nor can what comes before a change, nor what is compared', () => {
    const read = operation({
      ...about,
      id: 'x.get',
      method: 'GET',
      run({ tx }) {
        // @ts-expect-error
        rename(tx)
        // @ts-expect-error
        tx.update(accounts)
        return {}
      },
    })
    const change = operation({
      ...about,
      id: 'x.post',
      method: 'POST',
      // @ts-expect-error
      auditSnapshot: ({ tx }) => ({ x: rename(tx) }),
      async prepare(call) {
        // @ts-expect-error
        rename(call.db)
        // @ts-expect-error
        rename(call.tx)
      },
      run({ tx }) {
        rename(tx)
        return {}
      },
    })
    expect([read.method, change.method]).toEqual(['GET', 'POST'])
  })
  test('a transaction is not begun inside a transaction', () => {
    const db = freshDb()
    // @ts-expect-error
    expect(() => write(db, (tx) => write(tx, rename))).toThrow('inside a transaction')
  })
})
