// The operations of all goods of the catalogue have the same form: staff add one, change or archive it, and list all
// by name. A kind of goods says its words, fields and checks.
import { type Static, type TSchema, Type as t } from 'typebox'
import type { Right } from '../kernel/api/access.ts'
import { paginate, type Slice, type Sorts, sortParameter } from '../kernel/api/list.ts'
import { named } from '../kernel/api/named.ts'
import type { ReadContext } from '../kernel/api/operation.ts'
import type { Db, Tx } from '../kernel/db/open.ts'

type Queries<Row, New> = {
  byName(tx: Db, slice: Slice): Row[]
  count(tx: Db): number
  insert(tx: Tx, row: New): Row
  update(tx: Tx, row: Row, given: Partial<Row>): Row
}
type Goods<Row, New, R extends TSchema, P extends string> = {
  /** As in "Another package already has this name." */
  word: string
  path: P
  /** Staff who have one of these rights add and change them. */
  writers: readonly Right[]
  queries: Queries<Row, New>
  /** The orders of the list; without it, only by name. */
  sorts?: Sorts
  response: R
  /** Shows the rows of one call. */
  show(call: ReadContext): (row: Row) => Static<R>
}

/** `creates`, `changes` and `lists` are parts of their operations, which call `insert`, `update` and `list`. */
export function goods<Row extends { name: string }, New, R extends TSchema, P extends `/${string}`>({
  word,
  path,
  writers,
  queries,
  sorts,
  response,
  show,
}: Goods<Row, New, R, P>) {
  const access = { staff: writers }
  return {
    creates: { method: 'POST', path, access, response, status: 201, refuses: ['name_taken'] } as const,
    changes: { method: 'PATCH', path: `${path}/{id}`, access, response, refuses: ['name_taken'] } as const,
    lists: {
      method: 'GET',
      path,
      ...(sorts && { query: { sort: sortParameter(sorts, 'by name') } }),
      pages: { usual: 100, most: 200 },
    } as const,
    /** Throws `name_taken`. */
    insert: (tx: Tx, row: New): Row => named(word, () => queries.insert(tx, row)),
    /** Throws `name_taken`. */
    update: (tx: Tx, row: Row, given: Partial<Row>): Row => named(word, () => queries.update(tx, row, given)),
    list: (call: ReadContext) =>
      paginate({
        call,
        name: path,
        ...(sorts && { sorts }),
        rows: (slice) => queries.byName(call.tx, slice),
        keyOf: ({ name }: Row) => name,
        show: show(call),
        total: () => queries.count(call.tx),
      }),
  }
}

/** A field of the bodies that change goods. */
export const mayBeArchived = { archived: t.Optional(t.Boolean()) }
