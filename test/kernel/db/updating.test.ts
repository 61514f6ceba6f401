// `updating` changes what the values name, encoded as drizzle encodes it, and nothing else.
import { afterAll, expect, test } from 'bun:test'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Db, Tx } from '../../../src/kernel/db/open.ts'
import { updating } from '../../../src/kernel/db/rows.ts'
import { freshDb } from '../../support/world/fresh-db.ts'

const things = sqliteTable('things', {
  id: text().primaryKey(),
  sizeGb: integer('size_gb'),
  open: integer({ mode: 'boolean' }),
  facts: text({ mode: 'json' }).$type<object>(),
})
const update = updating(things, things.id)
const db: Db = freshDb()
const tx = db as Tx
db.$client.run('CREATE TABLE things (id TEXT PRIMARY KEY, size_gb INTEGER, open INTEGER, facts TEXT)')
db.$client.run("INSERT INTO things VALUES ('a', 1, 0, '{}'), ('b', 1, 0, '{}')")
afterAll(() => db.$client.close())
const rows = () => db.select().from(things).all()

test('the columns that are named change in that row alone; undefined leaves one as it is, null empties it', () => {
  update(tx, 'a', { sizeGb: 2, open: true, facts: { cpu: null } })
  update(tx, 'a', { sizeGb: undefined, open: null })
  update(tx, 'a', { facts: { cpu: 'x' }, sizeGb: 3 })
  expect(rows()).toEqual([
    { id: 'a', sizeGb: 3, open: null, facts: { cpu: 'x' } },
    { id: 'b', sizeGb: 1, open: false, facts: {} },
  ])
})

test('nothing to change is an error, and so is a column that the table does not have', () => {
  expect(() => update(tx, 'a', {})).toThrow('no column of things')
  expect(() => update(tx, 'a', { sizeGb: undefined })).toThrow('no column of things')
  expect(() => update(tx, 'a', { size: 2 } as never)).toThrow()
})
