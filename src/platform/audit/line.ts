// A line of the audit log: how it is found, and how it is told.
import { Type as t } from 'typebox'
import { type AccountKind, accountKinds } from '../../kernel/api/access.ts'
import { declaredName } from '../../kernel/api/declared.ts'
import { described, namedSchema, nullable, type Query, time } from '../../kernel/api/operation.ts'
import { moment, text } from '../../kernel/api/query.ts'
import { iso } from '../../kernel/db/clock.ts'
import { looksLikeId } from '../../kernel/db/ids.ts'
import type { Db } from '../../kernel/db/open.ts'
import { LIKE, partOf } from '../../kernel/db/rows.ts'

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
  /** It was there and is not any more. */
  targetGone: number | null
  jobId: string | null
  fromAddress: string
  requestId: string
  result: string
  details: string | null
  changes: string | null
}

/** The start of a query whose rows are `LineRow`s; the table is `a`. Names are as they are today. */
export const selectLines = `SELECT a.id, a.at, a.actor_id AS actorId, a.actor_name AS actorName, ac.kind AS actorKind, ac.reseller_id AS actorResellerId, a.via, tk.name AS tokenName, a.operation, a.target,
  CASE substr(a.target, 1, 4) WHEN 'srv_' THEN (SELECT hostname FROM servers WHERE id = a.target) WHEN 'usr_' THEN (SELECT name FROM accounts WHERE id = a.target)
    WHEN 'nod_' THEN (SELECT name FROM nodes WHERE id = a.target) WHEN 'pkg_' THEN (SELECT name FROM packages WHERE id = a.target)
    WHEN 'img_' THEN (SELECT name FROM images WHERE id = a.target) WHEN 'grp_' THEN (SELECT name FROM locations WHERE id = a.target) END AS targetName,
  CASE substr(a.target, 1, 4) WHEN 'usr_' THEN (SELECT kind FROM accounts WHERE id = a.target) END AS targetKind,
  CASE substr(a.target, 1, 4) WHEN 'srv_' THEN (SELECT reseller_id FROM servers WHERE id = a.target) WHEN 'usr_' THEN (SELECT reseller_id FROM accounts WHERE id = a.target) END AS providerId,
  CASE substr(a.target, 1, 4) WHEN 'srv_' THEN (SELECT terminated_at IS NOT NULL FROM servers WHERE id = a.target) WHEN 'nod_' THEN (SELECT removed_at IS NOT NULL FROM nodes WHERE id = a.target)
    WHEN 'pool' THEN NOT EXISTS (SELECT 1 FROM pools WHERE id = a.target) WHEN 'job_' THEN NOT EXISTS (SELECT 1 FROM jobs WHERE id = a.target) END AS targetGone,
  a.job_id AS jobId,
  a.from_address AS fromAddress, a.request_id AS requestId, a.result, a.details, a.changes
  FROM audit a LEFT JOIN accounts ac ON ac.id = a.actor_id LEFT JOIN tokens tk ON a.via LIKE 'token %' AND tk.id = substr(a.via, 7)`

/** By what it came: `node` is the node itself, enrolling or reporting. */
export const via = t.Object({
  type: t.Enum(['page', 'token', 'support', 'system', 'node']),
  id: nullable(t.String()),
  name: nullable(t.String()),
})
export function viaOf({ via, tokenName, actorId }: LineRow): {
  type: 'page' | 'token' | 'support' | 'system' | 'node'
  id: string | null
  name: string | null
} {
  if (actorId.startsWith('nod_')) return { type: 'node', id: null, name: null }
  const [type, ...rest] = via.split(' ')
  const id = rest.at(-1) ?? null
  return type === 'token'
    ? { type, id, name: tokenName }
    : { type: type === 'support' || type === 'system' ? type : 'page', id, name: null }
}

export const lineResponse = namedSchema('AuditLine', {
  id: t.String(),
  at: time,
  actor: t.Object({ id: t.String(), name: t.String() }),
  via,
  operation: t.String(),
  target: nullable(t.String()),
  targetName: described(nullable(t.String()), 'As it is called today.'),
  targetKind: described(nullable(t.Enum([...accountKinds])), 'Where the target is an account.'),
  targetGone: described(t.Boolean(), 'It is not there any more.'),
  from: t.String(),
  requestId: described(t.String(), 'The X-Request-Id of the call.'),
  result: described(t.String(), 'done, or the code of the refusal.'),
  jobId: described(nullable(t.String()), 'The job that it started.'),
  details: described(t.Unknown(), 'What was sent; secrets are `***`.'),
  changes: t.Array(t.Object({ field: t.String(), before: t.Unknown(), after: t.Unknown() })),
})

export const showLine = (a: LineRow) => ({
  id: a.id,
  at: iso(a.at),
  actor: { id: a.actorId, name: a.actorName },
  via: viaOf(a),
  operation: a.operation,
  target: a.target,
  targetName: a.targetName,
  targetKind: a.targetKind,
  targetGone: a.targetGone === 1,
  from: a.fromAddress,
  requestId: a.requestId,
  result: a.result,
  jobId: a.jobId,
  details: a.details === null ? null : JSON.parse(a.details),
  changes: a.changes === null ? [] : (JSON.parse(a.changes) as { field: string; before: unknown; after: unknown }[]),
})

export const filterQuery = {
  who: text('Part of the name or e-mail address of who did it, or an id.'),
  actorId: text('Only what this account did; system: only what System did.'),
  operation: text('Only this operation; without a dot, everything whose name begins so.'),
  target: text('Only changes to this id.'),
  from: text('Only from this address.'),
  result: declaredName('errors', {
    also: ['done', 'refused'],
    description: 'done, refused, or the code of a refusal.',
  }),
  since: moment('Not before this time: 2026-11-21, or 2026-11-21T14:03:22Z.'),
  until: moment('Not after this time; a day alone is meant to its end.'),
} as const

export type Filter = { where: string; values: (string | number)[] }

/** As SQL over `audit a`, each with an index to go by. */
export function filterFrom(db: Db, query: Query): Filter {
  const parts: [string, (string | number)[]][] = [['1', []]]
  const add = (sql: string, ...values: (string | number)[]) => parts.push([sql, values])
  if (query['who']) add(...who(db, query['who']))
  if (query['actorId']) add('a.actor_id = ?', query['actorId'])
  if (query['target']) add('a.target = ?', query['target'])
  if (query['from']) add('a.from_address = ?', query['from'])
  const { operation, result } = query
  if (operation?.includes('.')) add('a.operation = ?', operation)
  // The plus keeps the index away: by it lines would have to be sorted anew for each page.
  else if (operation) add('+a.operation >= ? AND +a.operation < ?', operation, `${operation}\u{10ffff}`)
  if (result === 'done') add("a.result = 'done'")
  else if (result === 'refused') add("a.result <> 'done'")
  else if (result) add("a.result <> 'done' AND a.result = ?", result)
  // Ids sort by time as lines do, so a span of time is a span of ids, and its ends are found at once.
  if (query['since'])
    add('a.id >= (SELECT id FROM audit WHERE at >= ? ORDER BY at, id LIMIT 1)', momentFrom(query['since'], 'T00:00'))
  if (query['until'])
    add(
      'a.id <= (SELECT id FROM audit WHERE at <= ? ORDER BY at DESC, id DESC LIMIT 1)',
      momentFrom(query['until'], 'T23:59:59.999'),
    )
  return { where: parts.map(([sql]) => `(${sql})`).join(' AND '), values: parts.flatMap(([, values]) => values) }
}

/** More people than this of one name part are not looked for. */
const MOST_PEOPLE = 100
function who(db: Db, text: string): [string, ...string[]] {
  if (text === 'system' || looksLikeId(text)) return ['a.actor_id = ?', text]
  const part = partOf(text)
  const found = db.$client
    .query<{ id: string }, [string, string, number]>(
      `SELECT id FROM accounts WHERE name ${LIKE} OR email ${LIKE} ORDER BY id LIMIT ?`,
    )
    .all(part, part, MOST_PEOPLE)
  return found.length ? [`a.actor_id IN (${found.map(() => '?')})`, ...found.map((a) => a.id)] : ['0']
}

/** Without a zone it is UTC, as everything is that is shown. `ofDay` is what is meant by a day alone. */
const momentFrom = (text: string, ofDay: string) =>
  Date.parse(`${text.includes('T') ? text.replace('Z', '') : text + ofDay}Z`)

/** Lines of what was no call of an operation, in words. */
export const otherLines = { 'nodes.enrolled': 'A node enrolled' } as const
