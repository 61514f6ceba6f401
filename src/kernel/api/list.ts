// Cursor pages: { data, nextCursor, total }. Newest first, by id, since ids sort by the time they were made, unless the
// caller asks for another order.
import { and, count, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type TSchema, Type as t } from 'typebox'
import type { Db } from '../db/open.ts'
import type { JsonRow } from '../db/rendered.ts'
import { type Place, placeOfPage } from '../reader/place.ts'
import type { Actor } from './actor.ts'
import { ApiError } from './errors.ts'
import { type AppContext, described, nullable, type Pages, type Query } from './operation.ts'
import { oneOf } from './query.ts'

export const page = <T extends TSchema>(row: T) => {
  const { title } = row as { title?: string }
  const nextCursor = described(nullable(t.String()), 'Null on the last page.')
  const total = described(t.Integer(), 'Of all pages together.')
  return t.Object({ data: t.Array(row), nextCursor, total }, title ? { title: `${title}Page` } : {})
}
export type Page<T> = { data: T[]; nextCursor: string | null; total: number; [placeOfPage]?: Place }

/**
 * The orders of a list: the name in `sort`, and the SQL expression; names are compared as people do. `exact`: an
 * expression that is never NULL, in the words of an index. No other text becomes part of a statement.
 */
export type Sorts = Readonly<Record<string, string | { exact: string }>>
/** The query parameter `sort` of a list. `usual`: the order without it. */
export const sortParameter = (sorts: Sorts, usual = 'newest first') => {
  const names = Object.keys(sorts)
  return oneOf(
    names.flatMap((name) => [name, `-${name}`]),
    `Sorts by this, with a minus the other way round. Without it: ${usual}.`,
  )
}
/** An order other than the usual one; `after`: the value and the id of the last row of the page before. */
type Order = { by: string; descending: boolean; after: readonly [value: string | number, id: string] | undefined }
/** The rows of one page: up to `limit`, behind the key `after` or after `skip` rows from the start. */
export type Slice = { after: string | undefined; skip: number; limit: number; order: Order | undefined }

/** The column that a sorted statement selects, with its comma; the cursor of the next page is made of it. */
export const sortColumn = ({ order }: Slice): string => (order ? `, ${order.by} AS sortValue` : '')
/**
 * How a statement comes to a chosen order. `sorted`: few rows fit, so they are found first and sorted. `merged`: it
 * reads things in that order, such as owners by name, and the rows of each by id. Usually an index has the order.
 */
export type Way = 'by index' | 'sorted' | 'merged'
const LAST_ID = '~'
/**
 * Whether an index of the order is read until a page is full, or all that fit are found and sorted: the latter takes
 * 3 to 5 µs each, the former 1 µs for each row that does not fit. Of 300,000 at most 5,500 are sorted.
 */
export const isWorthWalking = ({ fitting, all }: { fitting: number; all: number }): boolean =>
  fitting === all || fitting * fitting >= all * 100

/** The end of a statement whose condition stands before it: the rest of the condition, the order and the limit. */
export function endOf(
  { after, skip, limit, order }: Slice,
  id: string,
  ordering: Way = 'by index',
): { sql: string; values: (string | number)[] } {
  const way = order && !order.descending ? 'ASC' : 'DESC'
  const comes = way === 'ASC' ? '>' : '<'
  // + keeps the index of the order away.
  const column = order && ordering === 'sorted' ? `+${order.by}` : order?.by
  const [behind, values] = order?.after
    ? ordering === 'merged'
      ? // Each thing's rows are read from where the page begins: SQLite would read those before it too.
        [
          ` AND ${column} ${comes}= +? AND ${id} ${comes} iif(${column} = +?, +?, '${way === 'ASC' ? '' : LAST_ID}')`,
          [order.after[0], ...order.after],
        ]
      : [` AND (${column}, ${id}) ${comes} (+?, +?)`, [...order.after]]
    : after
      ? [` AND ${id} < +?`, [after]]
      : ['', []]
  const by = order ? `${column} ${way}, ` : ''
  return {
    sql: `${behind} ORDER BY ${by}${id} ${way} LIMIT +?${skip ? ' OFFSET +?' : ''}`,
    values: [...values, limit, ...(skip ? [skip] : [])],
  }
}

type Listing<Row, Shown> = {
  call: AppContext & { tx: Db; actor: Actor; query: Query; pages: Pages | undefined }
  /** Names the list, so that a cursor of another list is refused. */
  name: string
  rows(slice: Slice): Row[]
  /** Where the caller may choose the order (`sortParameter`); its rows have a `sortValue` then, and ids as keys. */
  sorts?: Sorts
  keyOf(row: Row): string
  total(): number
  show(row: Row): Shown
}

/** Throws `invalid_request` for a cursor that is not of this list and this caller. */
export function paginate<Row, Shown>(listing: Listing<Row, Shown>): Page<Shown> {
  const { call, rows, keyOf, show, total } = listing
  const cutting = cuttingOf(listing)
  const isSorted = cutting.slice.order !== undefined
  const keyIn = (row: Row): Key =>
    isSorted ? [(row as { sortValue: string | number }).sortValue, keyOf(row)] : keyOf(row)
  const { shown, ...place } = cut(call, cutting, rows(cutting.slice), keyIn)
  // The value that it was sorted by is no field of a row.
  const data = isSorted ? shown.map((row) => ({ ...row, sortValue: undefined })) : shown
  return { data: data.map(show), total: total(), ...place }
}

/** Finds a row's JSON and tells whether it has changed; a row of a sorted list has its `sortValue` behind it. */
export type RowKey = readonly [id: string, version: number, sortValue?: string | number]

type JsonListing<Shown> = Omit<Listing<never, Shown>, 'rows' | 'keyOf' | 'show'> & {
  /** JSON of the `RowKey`s of a slice, as one text: comparing it takes less than reading fifty rows. */
  keys(slice: Slice): string
  /**
   * Everything beside the keys that decides what each row of the page says, where it is the same for all of them: such
   * a page is kept. Undefined: each row is read in a way of its own.
   */
  readAs: string | undefined
  json(key: RowKey): JsonRow<Shown>
}

/** A page of rows whose JSON is at hand, such as that of `RenderedRows`. Throws as `paginate`. */
export function paginateJson<Shown>(listing: JsonListing<Shown>): Page<Shown> {
  const { call, keys, readAs, json } = listing
  const cutting = cuttingOf(listing)
  const found = keys(cutting.slice)
  const total = listing.total()
  const put = () => {
    const keyIn = ([id, , sortValue]: RowKey): Key => (cutting.slice.order ? [sortValue!, id] : id)
    const { shown, nextCursor, [placeOfPage]: place } = cut(call, cutting, JSON.parse(found) as RowKey[], keyIn)
    return new JoinedRows(shown.map(json), nextCursor, total, place)
  }
  const name = () => `${cutting.list}\n${call.actor.accountId}\n${readAs}\n${JSON.stringify(call.query)}`
  return new JsonPage(
    readAs === undefined ? put() : call.renderedRows.page(call.tx, name(), { keys: found, total }, put),
  )
}

const OPENING = Buffer.from('{"data":[')
const COMMA = Buffer.from(',')

/** The rows of a page and what stands beside them. Nothing of it changes, so readers of the same page share it. */
class JoinedRows<Shown> {
  private joined: Blob | undefined
  constructor(
    readonly rows: readonly JsonRow<Shown>[],
    readonly nextCursor: string | null,
    readonly total: number,
    readonly place: Place,
  ) {}

  /** The JSON of the page as UTF-8. */
  whole(): Blob {
    return (this.joined ??= this.join())
  }
  private join(): Blob {
    const parts = [OPENING]
    for (const row of this.rows) parts.push(row.bytes, COMMA)
    if (this.rows.length) parts.pop()
    parts.push(Buffer.from(`],"nextCursor":${JSON.stringify(this.nextCursor)},"total":${this.total}}`))
    return new Blob(parts)
  }
}

/** A page whose rows are JSON already. `data` is parsed for its reader alone; the API sends the bytes. */
export class JsonPage<Shown> implements Page<Shown> {
  private parsed: Shown[] | undefined
  constructor(readonly joined: JoinedRows<Shown>) {}

  get [placeOfPage](): Place {
    return this.joined.place
  }
  get nextCursor(): string | null {
    return this.joined.nextCursor
  }
  get total(): number {
    return this.joined.total
  }
  get data(): Shown[] {
    return (this.parsed ??= this.joined.rows.every(({ isMade }) => isMade)
      ? this.joined.rows.map(({ value }) => value)
      : JSON.parse(`[${this.joined.rows.map(({ text }) => text)}]`))
  }
  toJSON(): Page<Shown> {
    return { data: this.data, nextCursor: this.nextCursor, total: this.total }
  }
}

/** Which rows of a list the caller asks for. `at`: how many stand before them. `limit`: how many are shown. */
type Cutting = { list: string; at: number; limit: number; slice: Slice }

function cuttingOf({ call, name, sorts }: Pick<Listing<never, unknown>, 'call' | 'name' | 'sorts'>): Cutting {
  if (!call.pages) throw new Error(`the list "${name}" is answered by an operation that declares no \`pages\``)
  const limit = Math.min(Number(call.query['limit'] ?? call.pages.usual), call.pages.most)
  const { sort, cursor } = call.query
  const by = sort && sorts?.[sort.replace(/^-/, '')]
  const list = by ? `${name} ${sort}` : name
  const { at, key } = cursor === undefined ? { at: 0, key: undefined } : openCursor(call, list, cursor)
  const order = by
    ? {
        by: typeof by === 'string' ? `coalesce(${by}, '') COLLATE NOCASE` : by.exact,
        descending: sort.startsWith('-'),
        after: asPair(key),
      }
    : undefined
  const after = typeof key === 'string' ? key : undefined
  return { list, at, limit, slice: { after, skip: key === undefined ? at : 0, limit: limit + 1, order } }
}

/** `found` is one row more than is shown, where there is a next page. */
function cut<Row>(
  call: Listing<Row, unknown>['call'],
  { list, at, limit }: Cutting,
  found: readonly Row[],
  keyIn: (row: Row) => Key,
) {
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  const next = last && found.length > limit ? keyIn(last) : undefined
  const before = Math.max(0, at - limit)
  return {
    shown,
    nextCursor: next === undefined ? null : encryptCursor(call, list, { at: at + limit, key: next }),
    [placeOfPage]: {
      first: at,
      previous: at === 0 ? undefined : before === 0 ? null : encryptCursor(call, list, { at: before }),
    },
  }
}

const asPair = (key: Key | undefined) => (typeof key === 'object' ? key : undefined)

type AtHand<Row, Shown> = Pick<Listing<Row, Shown>, 'call' | 'name' | 'keyOf' | 'show'> & {
  all: readonly Row[]
  /** `newest`: the greatest key first; `names`: the smallest. */
  order: 'newest' | 'names'
}

/** A page of rows that are already in memory: few rows, or rows that SQL cannot select. Throws as `paginate`. */
export function paginateAll<Row, Shown>({ call, name, all, keyOf, show, order }: AtHand<Row, Shown>): Page<Shown> {
  const comesAfter = (a: string, b: string) => (order === 'newest' ? a < b : a > b)
  const sorted = all.toSorted((a, b) => (comesAfter(keyOf(a), keyOf(b)) ? 1 : -1))
  const rows = ({ after, skip, limit }: Slice) =>
    sorted.filter((row) => after === undefined || comesAfter(keyOf(row), after)).slice(skip, skip + limit)
  return paginate({ call, name, rows, keyOf, show, total: () => all.length })
}

type Newest<T, Shown> = {
  call: Listing<T, Shown>['call']
  name: string
  table: SQLiteTable & { id: SQLiteColumn }
  /** Selects the rows; undefined: all. */
  where: SQL | undefined
  sorts?: Sorts
  show(row: T): Shown
}

/** A page of a table's rows, newest first unless `sorts` and the query say otherwise. Throws as `paginate`. */
export function newest<T extends SQLiteTable & { id: SQLiteColumn }, Shown>({
  call,
  name,
  table,
  where,
  sorts,
  show,
}: Newest<T['$inferSelect'], Shown> & { table: T }): Page<Shown> {
  const { tx } = call
  return paginate<T['$inferSelect'] & { id: string }, Shown>({
    call,
    name,
    ...(sorts && { sorts }),
    rows: (slice) => {
      const { behind, inOrder, sortValue } = ended(slice, table.id, 'DESC')
      return tx
        .select({ ...getTableColumns(table as SQLiteTable), ...sortValue })
        .from(table as SQLiteTable)
        .where(and(where, behind))
        .orderBy(...inOrder)
        .limit(slice.limit)
        .offset(slice.skip)
        .all() as (T['$inferSelect'] & { id: string })[]
    },
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

/**
 * Ends a statement of drizzle: the condition and the order of a slice of rows that `key` tells apart. `usual`: how the
 * keys are ordered where the caller asks for nothing else.
 */
export function ended({ after, order }: Slice, key: SQLiteColumn, usual: 'ASC' | 'DESC') {
  const way = order ? (order.descending ? 'DESC' : 'ASC') : usual
  const comes = sql.raw(way === 'ASC' ? '>' : '<')
  const by = order && sql.raw(order.by)
  const behind: SQL | undefined = order?.after
    ? sql`(${by}, ${key}) ${comes} (${order.after[0]}, ${order.after[1]})`
    : after !== undefined
      ? sql`${key} ${comes} ${after}`
      : undefined
  const inOrder = [by, sql`${key}`].flatMap((part) => (part ? [sql`${part} ${sql.raw(way)}`] : []))
  return { behind, inOrder, sortValue: by && { sortValue: by } }
}

/** The last row of the page before: its key, or where the list is sorted its value and its id. */
type Key = string | readonly [value: string | number, id: string]
/** Where a page begins: how many rows come before it, and behind which key. Without a key, so many rows are skipped. */
type Cursor = { at: number; key?: Key | undefined }

const stamped = (actor: Actor, name: string, text: string) => `${name}\n${actor.accountId}\n${text}`

function encryptCursor({ secrets, actor }: AppContext & { actor: Actor }, name: string, cursor: Cursor) {
  const text = JSON.stringify(cursor)
  return Buffer.from(`${secrets.mac('cursor', stamped(actor, name, text)).slice(0, 16)}${text}`).toString('base64url')
}

function openCursor({ secrets, actor }: AppContext & { actor: Actor }, name: string, cursor: string): Cursor {
  const content = Buffer.from(cursor, 'base64url').toString()
  const text = content.slice(16)
  if (!text || !secrets.isMac('cursor', stamped(actor, name, text), content.slice(0, 16)))
    throw new ApiError(
      'invalid_request',
      'This cursor does not belong to this list. Start the list again without a cursor.',
    )
  return JSON.parse(text)
}
