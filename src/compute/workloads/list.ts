// The lists of a kind of workload: every one of them for staff, and those that a reader sees; as pages, and where the
// kind has columns for it, as spreadsheets. Newest first; filters are exact but `q`, which looks into names, addresses
// and ids.
import type { Static, TSchema } from 'typebox'
import { locationReference } from '../../fleet/locations/queries.ts'
import { nodesByContact } from '../../fleet/node-records/queries.ts'
import { countListed, inOrder, type ListFilter, listedIds, onNodes } from '../../fleet/workloads/lists/queries.ts'
import { listedWorkloads, type Workload } from '../../fleet/workloads/queries.ts'
import { countByStatus, countOnNodes, everyWorkload } from '../../fleet/workloads/reports.ts'
import { foundWorkloads } from '../../fleet/workloads/search.ts'
import { UNREACHABLE } from '../../fleet/workloads/status.ts'
import { accountReference } from '../../identity/account-records/queries.ts'
import { own, visible } from '../../identity/team/access.ts'
import { everybody } from '../../kernel/api/access.ts'
import {
  isWorthWalking,
  type Page,
  page,
  paginate,
  type Sorts,
  sortParameter,
  type Way,
} from '../../kernel/api/list.ts'
import { type Operation, operation, type Query, type ReadContext } from '../../kernel/api/operation.ts'
import { idOf, oneOf, text } from '../../kernel/api/query.ts'
import { type Beside, type CsvColumns, csvOf } from '../../kernel/csv.ts'
import type { Reference } from '../../kernel/db/reference.ts'
import type { Where } from '../../kernel/db/rows.ts'
import type { ActingKind } from './acting.ts'
import { searchFor } from './search.ts'

/**
 * An order of a list. `of`: the JOIN with the thing that it is by, whose name is never missing; `walk`: what the rows
 * are read from so that they come in that order, where many fit, its `id` and a condition of its index.
 */
export type WorkloadSort = {
  exact: string
  of?: string
  walk?: { from: string; id?: string; where?: string; way: Way }
}
type WorkloadSorts = Readonly<Record<string, WorkloadSort>>
/** The order by the names of things that have workloads. `id`: that of the thing; `walk`: the workloads of a thing. */
const byNameOf = (
  things: Pick<Reference<'name' | 'id'>, 'from' | 'crossJoin' | 'column'>,
  id: string,
  walk: (id: string) => string,
): WorkloadSort => ({
  exact: `${things.column('o', 'name')} COLLATE NOCASE`,
  of: things.crossJoin('o', id),
  walk: { from: `${things.from('o')} ${walk(things.column('o', 'id'))}`, way: 'merged' },
})

/** The orders of a list. `status`: the SQL of the status of the kind; `own`: the orders by columns of the kind. */
export const sortsOf = <S extends WorkloadSorts>(status: WorkloadSort, own: S) => ({
  name: { exact: 'w.name COLLATE NOCASE', walk: { from: inOrder.byName, way: 'by index' } } satisfies WorkloadSort,
  status,
  ...own,
  location: byNameOf(locationReference, 'w.location_id', inOrder.inLocation),
  owner: byNameOf(accountReference, 'w.owner_id', inOrder.ofOwner),
  // Ids sort by the time they were made.
  createdAt: { exact: 'w.id' },
})

type Parameters = Readonly<Record<string, TSchema>>
/** The filter of a list, and how many fit it. */
export type Listed = { filter: ListFilter; count(): number }

type Lists<Row extends TSchema, S extends WorkloadSorts> = {
  /** The words of its parameters. `node`: a node of such workloads; `ended`: one that is terminated. */
  words: { many: string; node: string; ended: string; searched: string }
  /**
   * Its states, the SQL of each over `workloads w`, and of the state itself. In those of `onNode` it is unreachable
   * while its node is away. `narrowed`: there are other filters.
   */
  states: {
    statuses: readonly string[]
    is(status: string, among: { narrowed: boolean }): string
    sql: string
    onNode: readonly string[]
    /** They are those of `status.ts`, whose numbers on each node are stored. */
    areStored?: true
  }
  sorts: S
  row: Row
  /**
   * Its package or offer: the parameter that names it, and the column. `id`: the id of the kind's rows, by which their
   * index has those of one product in order.
   */
  product?: { parameters: Parameters; columns: Readonly<Record<string, string>>; id?: string }
  /** The JOIN with the rows of the kind, where this query needs it. */
  join?(query: Query): string | undefined
  /** Parameters of the kind, behind those of every kind: of both lists, and of that of staff. */
  more?: { parameters: Parameters; ofStaff: Parameters; fit(call: ReadContext): readonly Where[] }
  /** False: only staff narrow their list to a node. */
  nodesForAll?: false
  /** The condition in place of `not terminated`, where the query names no state. */
  alive?(query: Query): string | undefined
  page(call: ReadContext, name: string, listed: Listed): Page<Static<Row>>
}

const exactly = (column: string, value: string): Where => ({ where: `${column} = +?`, values: [value] })
const plain = (where: string): Where => ({ where, values: [] })

type Finding = Pick<Lists<TSchema, WorkloadSorts>, 'states' | 'sorts' | 'product' | 'join' | 'more' | 'alive'>
/** The workloads that the actor sees and that the query asks for. */
function foundBy(call: ReadContext, kind: string, { states, sorts, product, join, more, alive }: Finding): Listed {
  const { tx, actor, query } = call
  const seen = visible(tx, actor)
  const filters: Where[] = [plain(`w.kind = '${kind}'`), seen]
  const onlyAsksFor = (...names: string[]) =>
    Object.keys(query).every((name) => ['limit', 'cursor', 'sort', ...names].includes(name))
  const narrowed = seen.where !== '1' || !onlyAsksFor('status', 'state')
  const { status, state } = query
  if (status) filters.push(plain(states.is(status, { narrowed })))
  // For staff the terminated are kept for the record; they show when asked for.
  else if (!state) filters.push(plain(alive?.(query) ?? 'w.terminated_at IS NULL'))
  const shownAs = state
    ? stateOnPages(call, { kind, states, state, narrowed: narrowed || status !== undefined })
    : undefined
  const columns = { ownerId: 'w.owner_id', nodeId: 'w.node_id', locationId: 'w.location_id', ...product?.columns }
  for (const [parameter, column] of Object.entries(columns))
    if (query[parameter]) filters.push(exactly(column, query[parameter]))
  const isOfProduct = Object.keys(product?.columns ?? {}).some((parameter) => query[parameter])
  const { billingServiceId, resellerId, q } = query
  if (billingServiceId) {
    // One that is shared does not show it: it finds it for those only who could read it.
    filters.push(own(actor), exactly('w.billing_service_id', billingServiceId))
    // A reseller's billing system has identifiers of its own, which may be the same.
    if (actor.kind === 'staff' && !resellerId) filters.push(plain('w.reseller_id IS NULL'))
  }
  if (more) filters.push(...more.fit(call))
  if (resellerId) filters.push({ where: '(w.owner_id = +? OR w.reseller_id = +?)', values: [resellerId, resellerId] })
  const found = q ? foundWorkloads(tx, { ...searchFor(call, q), kind }) : undefined
  if (found) filters.push(found)
  const filterWith = (...more: readonly Where[]) => ({
    ...(found ? { from: found.from, id: found.id } : { id: isOfProduct ? product?.id : undefined }),
    kind,
    join: join?.(query),
    where: [...filters, ...more].map(({ where }) => `(${where})`).join(' AND '),
    values: [...filters, ...more].flatMap(({ values }) => values),
    isEverything: seen.where === '1' && onlyAsksFor(),
  })
  const filter = shownAs ? filterWith(shownAs.listed) : filterWith()
  let counted: number | undefined
  const count = () => (counted ??= counting())
  function counting() {
    if (found?.countListed && onlyAsksFor('q')) return found.countListed()
    if (!shownAs) return countListed(tx, filter)
    if (states.areStored && seen.where === '1' && onlyAsksFor('state') && state !== 'terminated')
      return storedIn(call, { kind, states, state: state! })
    const { whole, without } = shownAs
    return countListed(tx, filterWith(whole)) - (without ? countListed(tx, filterWith(without)) : 0)
  }
  const sort = query['sort'] && sorts[query['sort'].replace(/^-/, '')]
  const isOfMany =
    seen.where === '1' &&
    onlyAsksFor('status', 'state', 'locationId', ...Object.keys(product?.columns ?? {})) &&
    // Orders are those of what is not terminated; other kinds call that by names of their own.
    [status, state].every((one) => one === undefined || (states.areStored === true && one !== 'terminated'))
  if (sort === sorts['status'] && (status || (state && state !== UNREACHABLE)))
    return { filter: { ...filter, isOneValue: true }, count }
  return {
    filter: sort
      ? sortedBy(sort, filter, () => isOfMany && isWorthWalking({ fitting: count(), all: listedWorkloads(tx, kind) }))
      : filter,
    count,
  }
}

/** The filter so that its rows come in this order. */
function sortedBy({ of, walk }: WorkloadSort, filter: ListFilter, fitMany: () => boolean): ListFilter {
  if (!of && !walk) return filter
  if (!walk || !fitMany()) return { ...filter, join: [filter.join, of].filter(Boolean).join(' '), way: 'sorted' }
  const { from, id, where, way } = walk
  return {
    ...filter,
    from,
    // The rows of the kind are among what is read, where the order is by their product.
    join: id || !filter.join ? undefined : `CROSS ${filter.join}`,
    id: id ?? 'w.id',
    // The partial indexes ask for it, and a state does not say it.
    where: [filter.where, 'w.terminated_at IS NULL', where].filter(Boolean).join(' AND '),
    way,
  }
}

type OnPages = { kind: string; states: Lists<TSchema, WorkloadSorts>['states']; state: string; narrowed: boolean }
/**
 * Those that pages show in this state: while its node is away, a workload is unreachable and in no other state.
 * `listed`: for the rows. Their number is that of `whole` less that of `without`: few nodes are away.
 */
function stateOnPages({ tx, nodes }: ReadContext, { kind, states, state, narrowed }: OnPages) {
  const { away, connected } = nodesByContact(tx, nodes)
  const both = (one: string, other: Where): Where => ({ where: `${one} AND ${other.where}`, values: other.values })
  // Not by the index of the states: nodes that are away, or another filter, leave fewer.
  const apart = (...any: readonly string[]) =>
    `w.terminated_at IS NULL AND +(${states.sql}) IN (${any.map((one) => `'${one}'`).join(', ')})`
  const counts = away.length > 0 ? countOnNodes(tx, kind, away) : { n: 0, on: 0 }
  // By the index of nodes where they have a small part of all; else the rows are soon found in the order of the list.
  const isFew = (n: number) => !narrowed && n * 4 <= counts.n
  if (state === UNREACHABLE) {
    const all = both(apart(...states.onNode), onNodes(isFew(counts.on) ? 'w.node_id IN' : '+w.node_id IN', away))
    return { listed: all, whole: all, without: undefined }
  }
  const is = states.is(state, { narrowed })
  const whole = plain(is)
  if (!away.length || !states.onNode.includes(state)) return { listed: whole, whole, without: undefined }
  return {
    listed: isFew(counts.n - counts.on)
      ? both(apart(state), onNodes('w.node_id IN', connected))
      : both(is, onNodes('+w.node_id NOT IN', away)),
    whole,
    without: both(apart(state), onNodes(narrowed ? '+w.node_id IN' : 'w.node_id IN', away)),
  }
}

/** How many of all pages show in this state, of the numbers that are stored for each node. */
function storedIn({ tx, nodes }: ReadContext, { kind, states, state }: Omit<OnPages, 'narrowed'>): number {
  const { away } = nodesByContact(tx, nodes)
  const numbers = (nodeIds?: readonly string[]) => countByStatus(tx, { kind }, everyWorkload, nodeIds)
  const unreachable = away.length > 0 ? numbers(away) : {}
  if (state === UNREACHABLE) return states.onNode.reduce((sum, one) => sum + (unreachable[one] ?? 0), 0)
  return (numbers()[state] ?? 0) - (states.onNode.includes(state) ? (unreachable[state] ?? 0) : 0)
}

/** A page of them, each shown by its id. Throws as `paginate`. */
export const pageOfListed = <Shown>(
  call: ReadContext,
  name: string,
  { filter, count }: Listed,
  { sorts, show }: { sorts: Sorts; show(id: string): Shown },
): Page<Shown> =>
  paginate({
    call,
    name,
    sorts,
    rows: (slice) => listedIds(call.tx, filter, slice),
    keyOf: ({ id }) => id,
    show: ({ id }) => show(id),
    total: count,
  })

/** Both lists of a kind. */
export function listing<Row extends TSchema, S extends WorkloadSorts>(
  { kind, prefix, path }: Pick<ActingKind<Workload>, 'kind' | 'prefix' | 'path'>,
  declared: Lists<Row, S>,
) {
  const { words, states, sorts, row, product, more, nodesForAll = true } = declared
  const { one, many } = kind.words
  const list = path.replace('/{id}', '') as `/${string}`
  const nodeId = { nodeId: idOf('nod', `Only ${words.many} on this ${words.node}.`) }
  const query = {
    q: text(words.searched),
    status: oneOf(
      states.statuses,
      `Only ${words.many} in this state. ${words.ended} ones are listed only when they are asked for, and only for ` +
        'staff.',
    ),
    state: oneOf(
      [...states.statuses, UNREACHABLE],
      `Only ${words.many} that pages show in this state: as \`status\`, but while its ${words.node} is away, one is ` +
        '`unreachable` and in no other state.',
    ),
    ownerId: idOf('usr', `Only ${words.many} of this customer.`),
    ...(nodesForAll && nodeId),
    locationId: idOf('grp', `Only ${words.many} in this location.`),
    ...product?.parameters,
    billingServiceId: text(`Only ${words.many} with exactly this identifier of the billing system's own.`),
    ...more?.parameters,
    sort: sortParameter(sorts),
  }
  const both = { method: 'GET', pages: { usual: 50, most: 100 }, response: page(row) } as const
  const answer = (call: ReadContext, name: string) =>
    // TypeScript does not resolve the page of a schema that it does not know yet.
    declared.page(call, name, foundBy(call, kind.kind, declared)) as Static<ReturnType<typeof page<Row>>>
  return {
    /** The ids of those that the filters of `call.query` leave to the actor, newest first, `most` of them. */
    ids: (call: ReadContext, most: number): string[] =>
      listedIds(call.tx, foundBy(call, kind.kind, declared).filter, {
        after: undefined,
        skip: 0,
        limit: most,
        order: undefined,
      }).map(({ id }) => id),
    all: operation({
      ...both,
      id: `${prefix}.list-all`,
      path: `/admin${list}`,
      summary: `Every ${one}, newest first`,
      access: { staff: ['servers:read'] },
      query: {
        ...query,
        ...(!nodesForAll && nodeId),
        resellerId: idOf('usr', `Only ${words.many} of this reseller and its customers.`),
        ...more?.ofStaff,
      },
      run: (call: ReadContext) => answer(call, `all ${many}`),
    }),
    seen: operation({
      ...both,
      id: `${prefix}.list`,
      path: list,
      summary: `The ${many} you see, newest first`,
      access: everybody('servers:read'),
      query,
      run: (call: ReadContext) => answer(call, many),
    }),
  }
}

type RowsOf<A extends TSchema> = Static<A> extends { data: readonly (infer R)[] } ? R : never
/** Both lists as spreadsheets. `ofStaff`: further columns of that of staff. */
export function spreadsheetsOf<A extends TSchema>(
  { kind, prefix, path }: Pick<ActingKind<Workload>, 'kind' | 'prefix' | 'path'>,
  { all, seen }: Record<'all' | 'seen', Operation<unknown, any, A, 'GET'>>,
  columns: CsvColumns<RowsOf<A>>,
  ofStaff: { columns: CsvColumns<RowsOf<A>>; beside?: Beside<RowsOf<A>> },
) {
  const { one, many } = kind.words
  const file = `${path.replace('/{id}', '')}.csv`
  return {
    all: csvOf(all, {
      id: `${prefix}.export-all`,
      path: `/admin${file}`,
      summary: `Every ${one} as a spreadsheet, filtered and sorted as the list`,
      columns: { ...columns, ...ofStaff.columns },
      ...(ofStaff.beside && { beside: ofStaff.beside }),
    }),
    seen: csvOf(seen, {
      id: `${prefix}.export`,
      path: file,
      summary: `The ${many} you see as a spreadsheet, filtered and sorted as the list`,
      columns,
    }),
  }
}
