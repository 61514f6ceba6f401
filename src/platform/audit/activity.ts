// The part of the audit log that each account may read: what it did, and what others did to it, to its servers and to
// its GPU instances.

import { Type as t } from 'typebox'
import { gpuInstance } from '../../compute/gpu-instances/model.ts'
import { instanceTarget } from '../../compute/gpu-instances/queries.ts'
import { endedServer, server } from '../../compute/server-records/model.ts'
import { serverTarget } from '../../compute/server-records/queries.ts'
import { CRASHED } from '../../fleet/workloads/crashes.ts'
import type { TimelineSource } from '../../fleet/workloads/timeline.ts'
import { accountKinds } from '../../identity/account-records/kinds.ts'
import type { MadeBy } from '../../identity/auth/links/links.ts'
import { useSignInLink } from '../../identity/auth/sign-in/with-link.ts'
import { accessLevel } from '../../identity/team/access.ts'
import { auditActorFor, type Relation } from '../../identity/team/audit-actor.ts'
import { everybody } from '../../kernel/api/access.ts'
import { page, paginate } from '../../kernel/api/list.ts'
import { described, namedSchema, nullable, operation, type ReadContext, time } from '../../kernel/api/operation.ts'
import { targetsOf } from '../../kernel/audit/target.ts'
import { iso } from '../../kernel/db/clock.ts'
import { via, viaOf } from './line.ts'
import {
  countLines,
  type Filter,
  type LineRow,
  ofAccount,
  ofAccountAndServers,
  ofTarget,
  selectLinesOf,
  withoutTargets,
} from './queries.ts'

const activity = namedSchema('Activity', {
  id: t.String(),
  at: time,
  who: t.Object({ name: t.String(), you: t.Boolean() }),
  via,
  operation: t.String(),
  action: described(nullable(t.String()), 'Which of several things the operation did: `off` of `servers.power`.'),
  target: nullable(t.String()),
  targetName: nullable(t.String()),
  targetKind: described(nullable(t.Enum([...accountKinds])), 'Where the target is an account.'),
  targetGone: described(t.Boolean(), 'It is no longer there, for you.'),
  from: described(nullable(t.String()), 'Null where you may not know it.'),
  result: t.String(),
  jobId: described(nullable(t.String()), 'The job that it started.'),
  until: described(nullable(time), 'The end of what lasts: when a console was closed.'),
})

/** The targets that others may share, and stop sharing, with the reader. */
const workloadTargets = [
  { prefix: serverTarget.prefix, find: server.find },
  { prefix: instanceTarget.prefix, find: gpuInstance.find },
]

function show({ tx, actor }: ReadContext, a: LineRow, relation: Relation) {
  // A refused sign-in has no actor: only its address is known.
  const visitor = a.actorId === '' || (a.operation === 'sessions.create' && a.result !== 'done')
  const did = {
    accountId: visitor ? '' : a.actorId,
    kind: a.actorKind,
    name: a.actorName,
    resellerId: a.actorResellerId,
    providerId: a.providerId,
  }
  const { name, you, token, from } = auditActorFor(actor, did, relation)
  const through = viaOf(a)
  // The line of a workload that is terminated or not shared any more stays, without a link.
  const workload = workloadTargets.find(({ prefix }) => a.target?.startsWith(`${prefix}_`))
  const targetGone = a.targetGone === 1 || (workload !== undefined && !workload.find(tx, actor, a.target!))
  // A sign-in by a link proves only the possession of the link, so the line never says "you".
  const link = linkOf(a)
  return {
    id: a.id,
    at: iso(a.at),
    who: link ? { name: `${actor.kind === 'staff' ? link.name : 'Staff'}, by a link`, you: false } : { name, you },
    via: token ? through : { ...through, id: null, name: null },
    operation: a.operation,
    action: actionIn(a),
    target: a.target,
    targetName: a.targetName,
    targetKind: a.targetKind,
    targetGone,
    from: from ? a.fromAddress : null,
    result: a.result,
    jobId: targetGone && actor.kind !== 'staff' ? null : a.jobId,
    until: a.until === null ? null : iso(a.until),
  }
}

/**
 * An operation may have several actions. The action is a word of the product; nothing else of the body is shown here.
 */
const actionIn = ({ details }: LineRow): string | null =>
  details === null ? null : (/"action":"([a-z_]{1,20})"/.exec(details)?.[1] ?? null)
/** The maker of the link that opened the session. */
function linkOf({ operation, details }: LineRow): MadeBy | undefined {
  return operation === useSignInLink.id && details !== null
    ? (JSON.parse(details) as { linkOf?: MadeBy }).linkOf
    : undefined
}

/** A page of these lines, newest first. */
function listing(call: ReadContext, name: string, lines: Filter, relation: Relation = 'own') {
  const { tx, actor } = call
  // Lines about servers need the right to see servers, whoever did it; so do lines about other things with a scope.
  const targets = targetsOf(call.registry)
  const hidden = targets.flatMap(({ prefix, scope }) => (scope && !actor.scopes.has(scope) ? [prefix] : []))
  const filter = withoutTargets(lines, hidden)
  return paginate({
    call,
    name,
    rows: (slice) => selectLinesOf(tx, targets, filter, slice),
    keyOf: (a) => a.id,
    show: (a) => show(call, a, relation),
    total: () => countLines(tx, filter),
  })
}

export const listActivity = operation({
  id: 'account.activity',
  method: 'GET',
  path: '/account/activity',
  summary: 'What you did, and what was done to your account and servers, refused sign-ins too',
  access: everybody('account:read'),
  response: page(activity),
  run(call) {
    const { accountId, kind } = call.actor
    // Staff see every server: what others did to them is in the audit log.
    return listing(call, 'activity', kind === 'staff' ? ofAccount(accountId) : ofAccountAndServers(accountId))
  },
})

export const listServerActivity = operation({
  id: 'servers.activity',
  method: 'GET',
  path: '/servers/{id}/activity',
  summary: 'What was done to a server, by whom and from where',
  access: everybody('servers:read'),
  on: endedServer,
  response: page(activity),
  run(call) {
    const { tx, actor, target } = call
    const relation = accessLevel(tx, actor, target) === 'own' ? 'own' : 'guest'
    return listing(call, `activity ${target.id}`, ofTarget(target.id), relation)
  },
})

/** The changes and the unexpected ends of a workload, for its timeline. */
export const timelineOfLines: TimelineSource = (call, workload, { from, to, most }) => {
  const { tx, actor } = call
  const relation = accessLevel(tx, actor, workload) === 'own' ? 'own' : 'guest'
  const targets = targetsOf(call.registry)
  const { where, values } = ofTarget(workload.id)
  const filter = { where: `${where} AND a.at >= ? AND a.at < ?`, values: [...values, from, to] }
  return selectLinesOf(tx, targets, filter, { after: undefined, skip: 0, limit: most, order: undefined }).map(
    (line) => {
      const { id, who, operation, action, from, result, jobId, until } = show(call, line, relation)
      const kind = operation === CRASHED ? 'crash' : 'change'
      return { id, at: line.at, kind, operation, action, title: null, who, from, result, jobId, until }
    },
  )
}
