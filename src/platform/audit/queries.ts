// The lines of the audit log, with the names that their actors and targets have today.
import { CONSOLE_CLOSED, CONSOLE_OPENED, steps } from '../../compute/console/visit.ts'
import { workloadIdsOf } from '../../fleet/workloads/reports.ts'
import { accountIdsNamed, accountReference } from '../../identity/account-records/queries.ts'
import { tokenReference } from '../../identity/tokens/queries.ts'
import type { AccountKind } from '../../kernel/api/access.ts'
import { endOf, type Slice } from '../../kernel/api/list.ts'
import type { Query } from '../../kernel/api/operation.ts'
import { momentFrom } from '../../kernel/api/query.ts'
import { firstLineSince } from '../../kernel/audit/chain.ts'
import { auditReference, linesCounted } from '../../kernel/audit/queries.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { looksLikeId } from '../../kernel/db/ids.ts'
import type { Db } from '../../kernel/db/open.ts'

export type LineRow = {
  id: string
  at: number
  actorId: string
  actorName: string
  actorKind: AccountKind | null
  actorResellerId: string | null
  via: string
  tokenName: string | null
  operation: string
  target: string | null
  targetName: string | null
  targetKind: AccountKind | null
  /** The reseller in whose care the target is. */
  providerId: string | null
  /** 1: it existed and does not any more. */
  targetGone: number | null
  jobId: string | null
  fromAddress: string
  requestId: string
  result: string
  details: string | null
  changes: string | null
  /** The end of what lasts, such as a visit to the console. */
  until: number | null
}

/** One field of the targets, by the prefix of their ids; NULL where a feature does not declare the field. */
function byTarget(
  targets: readonly AuditTarget[],
  field: Exclude<keyof AuditTarget, 'prefix' | 'scope' | 'page'>,
): string {
  const cases = targets.flatMap((target) => {
    const text = target[field]?.('a.target')
    return text ? [`WHEN '${target.prefix}' THEN ${text}`] : []
  })
  return `CASE substr(a.target, 1, instr(a.target, '_') - 1) ${cases.join(' ')} END`
}

// Raw: drizzle has no form for a CASE over texts that other features export. +?: a page of one account 121 µs instead
// of 317.
/** The line of the end has the request of the opening. */
const endOfVisit = `SELECT l.at ${auditReference.from('l')}
  WHERE l.operation = '${CONSOLE_CLOSED}' AND l.request_id = a.request_id`

/** The start of a query whose rows are `LineRow`s; the lines are `a`. */
const selectLines = (targets: readonly AuditTarget[]) => `SELECT ${auditReference.columns('a', {
  id: 'id',
  at: 'at',
  actorId: 'actorId',
  actorName: 'actorName',
  via: 'via',
  operation: 'operation',
  target: 'target',
  jobId: 'jobId',
  fromAddress: 'from',
  requestId: 'requestId',
  result: 'result',
  details: 'details',
  changes: 'changes',
})}, ${accountReference.columns('ac', { actorKind: 'kind', actorResellerId: 'resellerId' })},
  ${tokenReference.columns('tk', { tokenName: 'name' })},
  ${byTarget(targets, 'name')} AS targetName, ${byTarget(targets, 'accountKind')} AS targetKind,
  ${byTarget(targets, 'providerId')} AS providerId,
  ${byTarget(targets, 'isGone')} AS targetGone,
  CASE a.operation WHEN '${CONSOLE_OPENED}' THEN (${endOfVisit}) END AS until
  ${auditReference.from('a')} ${accountReference.leftJoin('ac', 'a.actor_id')}
  ${tokenReference.leftJoin('tk', "substr(a.via, 7) AND a.via LIKE 'token %'")}`

/**
 * A condition over the lines `a`, and the values of its parameters. `whereToCount` is the same condition for a count,
 * which may use every index: a page must not use one that orders the lines by something else than their id.
 * `isCounted`: it names no other columns than operation and result, whose totals are kept.
 */
export type Filter = { where: string; whereToCount?: string; values: (string | number)[]; isCounted?: boolean }

/** The lines of a slice that fit. */
export const selectLinesOf = (
  tx: Db,
  targets: readonly AuditTarget[],
  { where, values }: Filter,
  slice: Slice,
): LineRow[] => {
  const end = endOf(slice, 'a.id')
  return tx.$client
    .query<LineRow, (string | number)[]>(`${selectLines(targets)} WHERE ${where}${end.sql}`)
    .all(...values, ...end.values)
}

export const countLines = (tx: Db, { where, whereToCount = where, values, isCounted }: Filter): number =>
  tx.$client
    .query<{ n: number }, (string | number)[]>(
      `${isCounted ? linesCounted('a') : `SELECT count(*) AS n ${auditReference.from('a')}`} WHERE ${whereToCount}`,
    )
    .get(...values)!.n

const idsWhere = (where: string) => `SELECT l.id ${auditReference.from('l')} WHERE ${where}`
/** The steps of a visit to the console, which has one line; the words are those of the indexes over them. */
const STEPS = `l.operation IN (${steps.map((one) => `'${one}'`).join(', ')}) AND l.result = 'done'`

/** Lines with one of the conditions, which have these values; without the steps of what has a line of its own. */
function linesWhere(conditions: readonly string[], values: readonly string[]): Filter {
  const ids = conditions.map((one) => idsWhere(one))
  // By name: for many targets the planner would read the consoles of everybody, by their operation.
  const stepIds = conditions.map(
    (one) =>
      `SELECT l.id ${auditReference.from('l')}
       INDEXED BY ${one === BY_ACTOR ? 'audit_console_by_actor' : 'audit_console_by_target'} WHERE ${STEPS} AND ${one}`,
  )
  return {
    where: `a.id IN (${ids.join(' UNION ')}) AND a.id NOT IN (${stepIds.join(' UNION ')})`,
    values: [...values, ...values],
  }
}
const BY_ACTOR = 'l.actor_id = +?'
const BY_TARGET = 'l.target = +?'

/** Lines of what this account did and of what was done to it. */
export const ofAccount = (accountId: string) => linesWhere([BY_ACTOR, BY_TARGET], [accountId, accountId])
/** As `ofAccount`, and of what was done to the servers that it has or cares for, also terminated ones. */
export const ofAccountAndServers = (accountId: string) =>
  linesWhere([BY_ACTOR, BY_TARGET, `l.target IN (${workloadIdsOf})`], [accountId, accountId, accountId, accountId])
/** Lines of what was done to this target. */
export const ofTarget = (id: string) => linesWhere([BY_TARGET], [id])
/** The same lines without those about targets with one of these prefixes. */
export const withoutTargets = ({ where, values }: Filter, prefixes: readonly string[]): Filter => ({
  where: [where, ...prefixes.map((prefix) => `coalesce(a.target, '') NOT LIKE '${prefix}\\_%' ESCAPE '\\'`)].join(
    ' AND ',
  ),
  values,
})

/** The filter for a query of the audit log. Each part has an index. */
export function filterFrom(db: Db, query: Query): Filter {
  const parts: { sql: string; toCount?: string; values: (string | number)[]; isCounted?: boolean }[] = [
    { sql: '1', values: [], isCounted: true },
  ]
  const add = (sql: string, ...values: (string | number)[]) => parts.push({ sql, values })
  const addCounted = (sql: string, ...values: string[]) => parts.push({ sql, values, isCounted: true })
  if (query['who']) add(...byWho(db, query['who']))
  if (query['actorId']) add('a.actor_id = ?', query['actorId'])
  if (query['target']) add('a.target = ?', query['target'])
  if (query['from']) add('a.from_address = ?', query['from'])
  const { operation, result } = query
  if (operation?.includes('.')) addCounted('a.operation = ?', operation)
  // The plus keeps the index away: it orders lines by operation, and each page would sort them anew.
  else if (operation)
    parts.push({
      sql: '+a.operation >= ? AND +a.operation < ?',
      toCount: 'a.operation >= ? AND a.operation < ?',
      values: [operation, `${operation}\u{10ffff}`],
      isCounted: true,
    })
  if (result === 'done') addCounted("a.result = 'done'")
  else if (result === 'refused') addCounted("a.result <> 'done'")
  else if (result) addCounted("a.result <> 'done' AND a.result = ?", result)
  // Ids sort by time as lines do: a span of time is a span of ids.
  if (query['since']) {
    const first = firstLineSince(db, momentFrom('since', query['since']))
    if (first === undefined) add('0')
    else add('a.id >= ?', first)
  }
  if (query['until']) {
    const next = firstLineSince(db, momentFrom('until', query['until'], 'T23:59:59.999') + 1)
    if (next !== undefined) add('a.id < ?', next)
  }
  const all = (of: (part: (typeof parts)[number]) => string) => parts.map((part) => `(${of(part)})`).join(' AND ')
  return {
    where: all(({ sql }) => sql),
    whereToCount: all(({ sql, toCount = sql }) => toCount),
    values: parts.flatMap(({ values }) => values),
    isCounted: parts.every(({ isCounted }) => isCounted),
  }
}

/** A filter by name finds the lines of this many accounts at most. */
const MOST_PEOPLE = 100
function byWho(db: Db, text: string): [string, ...string[]] {
  if (text === 'system' || looksLikeId(text)) return ['a.actor_id = ?', text]
  const ids = accountIdsNamed(db, text, MOST_PEOPLE)
  return ids.length ? [`a.actor_id IN (${ids.map(() => '?')})`, ...ids] : ['0']
}
