// Cursor pages: { data, nextCursor, total }. Newest first, by id, since ids sort by the time they were made.
import { and, count, desc, lt, type SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type TSchema, Type as t } from 'typebox'
import type { Db } from '../db/open.ts'
import type { JsonRow } from '../db/rendered.ts'
import type { Actor } from './actor.ts'
import { ApiError } from './errors.ts'
import { type AppContext, described, nullable, type Pages, type Query } from './operation.ts'

export const page = <T extends TSchema>(row: T) => {
  const { title } = row as { title?: string }
  const nextCursor = described(nullable(t.String()), 'The `cursor` of the next page; null on the last.')
  const total = described(t.Integer(), 'Of all pages together.')
  return t.Object({ data: t.Array(row), nextCursor, total }, title ? { title: `${title}Page` } : {})
}
export type Page<T> = { data: T[]; nextCursor: string | null; total: number }

type Listing<Row, Shown> = {
  call: AppContext & { tx: Db; actor: Actor; query: Query; pages: Pages | undefined }
  /** Names the list, so that a cursor of another list is refused. */
  name: string
  /** Up to `limit` rows that come after the key `after` (undefined: from the start). */
  rows(after: string | undefined, limit: number): Row[]
  keyOf(row: Row): string
  total(): number
  show(row: Row): Shown
}

/** Throws `invalid_request` for a cursor that is not of this list and this caller. */
export function paginate<Row, Shown>(listing: Listing<Row, Shown>): Page<Shown> {
  const { rows, ...rest } = cut(listing)
  return { data: rows.map(listing.show), ...rest }
}

/** A page of rows whose JSON is at hand, such as that of `RenderedRows`. Throws as `paginate`. */
export function paginateJson<Row, Shown>(
  listing: Omit<Listing<Row, Shown>, 'show'> & { json(row: Row): JsonRow<Shown> },
): Page<Shown> {
  const { rows, nextCursor, total } = cut(listing)
  return new JsonPage(rows.map(listing.json), nextCursor, total)
}

const OPENING = Buffer.from('{"data":[')
const COMMA = Buffer.from(',')

/** A page whose rows are JSON already. `data` parses them; the API sends the bytes. */
export class JsonPage<Shown> implements Page<Shown> {
  private parsed: Shown[] | undefined
  constructor(
    readonly rows: readonly JsonRow<Shown>[],
    readonly nextCursor: string | null,
    readonly total: number,
  ) {}

  get data(): Shown[] {
    return (this.parsed ??= JSON.parse(`[${this.rows.map(({ text }) => text)}]`))
  }
  /** The JSON of the page as UTF-8. */
  bytes(): Buffer<ArrayBuffer> {
    const parts = [OPENING]
    for (const row of this.rows) parts.push(row.bytes, COMMA)
    if (this.rows.length) parts.pop()
    parts.push(Buffer.from(`],"nextCursor":${JSON.stringify(this.nextCursor)},"total":${this.total}}`))
    return Buffer.concat(parts)
  }
  toJSON(): Page<Shown> {
    return { data: this.data, nextCursor: this.nextCursor, total: this.total }
  }
}

/** The JSON of each row, where the page was put together from it; it tells whether a row has changed. */
export const recordsOf = (page: Page<unknown>): readonly string[] | undefined =>
  page instanceof JsonPage ? page.rows.map(({ text }) => text) : undefined

function cut<Row>({ call, name, rows, keyOf, total }: Omit<Listing<Row, unknown>, 'show'>) {
  if (!call.pages) throw new Error(`the list "${name}" is answered by an operation that declares no \`pages\``)
  const limit = Math.min(Number(call.query['limit'] ?? call.pages.usual), call.pages.most)
  const after = call.query['cursor'] === undefined ? undefined : openCursor(call, name, call.query['cursor'])
  const found = rows(after, limit + 1)
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  return {
    rows: shown,
    nextCursor: last && found.length > limit ? encryptCursor(call, name, keyOf(last)) : null,
    total: total(),
  }
}

type AtHand<Row, Shown> = Pick<Listing<Row, Shown>, 'call' | 'name' | 'keyOf' | 'show'> & {
  all: readonly Row[]
  /** `newest`: the greatest key first; `names`: the smallest. */
  order: 'newest' | 'names'
}

/** A page of rows that are already in memory: few rows, or rows that SQL cannot select. Throws as `paginate`. */
export function paginateAll<Row, Shown>({ call, name, all, keyOf, show, order }: AtHand<Row, Shown>): Page<Shown> {
  const comesAfter = (a: string, b: string) => (order === 'newest' ? a < b : a > b)
  const sorted = all.toSorted((a, b) => (comesAfter(keyOf(a), keyOf(b)) ? 1 : -1))
  const rows = (after: string | undefined, limit: number) =>
    sorted.filter((row) => after === undefined || comesAfter(keyOf(row), after)).slice(0, limit)
  return paginate({ call, name, rows, keyOf, show, total: () => all.length })
}

type Newest<T, Shown> = {
  call: Listing<T, Shown>['call']
  name: string
  table: SQLiteTable & { id: SQLiteColumn }
  /** Selects the rows; undefined: all. */
  where: SQL | undefined
  show(row: T): Shown
}

/** A page of a table's rows, newest first. Throws as `paginate`. */
export function newest<T extends SQLiteTable & { id: SQLiteColumn }, Shown>({
  call,
  name,
  table,
  where,
  show,
}: Newest<T['$inferSelect'], Shown> & { table: T }): Page<Shown> {
  const { tx } = call
  return paginate<T['$inferSelect'] & { id: string }, Shown>({
    call,
    name,
    rows: (after, limit) =>
      tx
        .select()
        .from(table as SQLiteTable)
        .where(and(where, after ? lt(table.id, after) : undefined))
        .orderBy(desc(table.id))
        .limit(limit)
        .all() as (T['$inferSelect'] & { id: string })[],
    keyOf: ({ id }) => id,
    show,
    total: () =>
      tx
        .select({ n: count() })
        .from(table as SQLiteTable)
        .where(where)
        .get()!.n,
  })
}

const stamped = (actor: Actor, name: string, key: string) => `${name}\n${actor.accountId}\n${key}`

const encryptCursor = ({ secrets, actor }: AppContext & { actor: Actor }, name: string, key: string) =>
  Buffer.from(`${secrets.mac('cursor', stamped(actor, name, key)).slice(0, 16)}${key}`).toString('base64url')

function openCursor({ secrets, actor }: AppContext & { actor: Actor }, name: string, cursor: string) {
  const text = Buffer.from(cursor, 'base64url').toString()
  const key = text.slice(16)
  if (!key || !secrets.isMac('cursor', stamped(actor, name, key), text.slice(0, 16)))
    throw new ApiError(
      'invalid_request',
      'This cursor does not belong to this list. Start the list again without a cursor.',
    )
  return key
}
