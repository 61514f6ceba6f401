// A line of the audit log as the API shows it, and the filters by which lines are found.
import { Type as t } from 'typebox'
import { CONSOLE_CLOSED, CONSOLE_OPENED } from '../../compute/console/visit.ts'
import { OUT_OF_SALE, outOfSaleActions } from '../../fleet/gpus/out-of-sale.ts'
import { ADDRESSES_FREED, ADDRESSES_HELD } from '../../fleet/nodes/addresses/report.ts'
import { ENROLLED } from '../../fleet/nodes/agent-connection.ts'
import { CRASHED, crashActions } from '../../fleet/workloads/crashes.ts'
import { accountKinds } from '../../identity/account-records/kinds.ts'
import { described, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { moment, text } from '../../kernel/api/query.ts'
import { iso } from '../../kernel/db/clock.ts'
import { declaredName } from '../../kernel/declared-names.ts'
import { MISCONDUCT } from '../../kernel/nodes/misconduct.ts'
import { NODE_FAILED } from '../roll-outs/stop.ts'
import type { LineRow } from './queries.ts'

/** The way a call came in; `node` is the node itself, enrolling or reporting. */
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
  targetGone: described(t.Boolean(), 'It no longer exists.'),
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
  result: declaredName((features) => features.flatMap(({ errors = {} }) => Object.keys(errors)), {
    also: ['done', 'refused'],
    description: 'done, refused, or the code of a refusal.',
  }),
  since: moment('Not before this time: 2026-11-21, or 2026-11-21T14:03:22Z.'),
  until: moment('Not after this time; a day alone is meant to its end.'),
} as const

/** Lines of events that are no call of an operation, in words. */
export const otherLines = {
  [ENROLLED]: 'Enrolled',
  [MISCONDUCT]: 'Did what no node should',
  [ADDRESSES_HELD]: 'Addresses held for servers that the records do not have',
  [ADDRESSES_FREED]: 'Addresses free that the node does not use any more',
  [CRASHED]: 'Ended unexpectedly',
  [OUT_OF_SALE]: 'GPU out of sale',
  [NODE_FAILED]: 'A roll-out stopped here',
  [CONSOLE_OPENED]: 'Used the console',
  [CONSOLE_CLOSED]: 'Closed the console',
} as const

/** Of those that are one of several things, by its `action`. */
export const otherActions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [CRASHED]: crashActions,
  [OUT_OF_SALE]: outOfSaleActions,
}
/** Lines of something that went wrong, although no call was refused. */
export const mishaps: ReadonlySet<string> = new Set([CRASHED, NODE_FAILED, OUT_OF_SALE])
