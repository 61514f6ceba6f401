// A roll-out: the record of bringing the agents of all nodes to the version of the controller.
import { type Static, Type as t } from 'typebox'
import { locationById } from '../../fleet/locations/queries.ts'
import { locationReferred } from '../../fleet/locations/reference.ts'
import { nodeById } from '../../fleet/node-records/queries.ts'
import {
  type AppContext,
  described,
  fields,
  namedSchema,
  nullable,
  type Resource,
  time,
} from '../../kernel/api/operation.ts'
import { iso, isoOrNull, second } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { keptBy } from './due.ts'
import { nodesOf, type RollOut, type RollOutNode, rollOutById } from './queries.ts'
import { headlineOf } from './stop.ts'
import { failedStates, rollOutNodeStates, rollOutStates } from './tables.ts'
import { TIME_OF_DAY } from './windows.ts'

export const rollOut: Resource<RollOut> = {
  name: 'roll-out',
  notFound: 'roll_out_not_found',
  find: (tx, actor, id) => (actor.kind === 'staff' ? rollOutById(tx, id) : undefined),
}

const timeOfDay = t.String({
  pattern: TIME_OF_DAY,
  maxLength: 5,
  title: 'a time of day like 02:00',
  examples: ['02:00'],
})
const windowFields = {
  from: timeOfDay,
  to: described(timeOfDay, 'Before `from`: on the next day.'),
  timeZone: described(t.String({ minLength: 1, maxLength: 60 }), 'As Europe/Helsinki.'),
}
export const windowBody = fields({
  locationIds: described(t.Array(t.String({ minLength: 1, maxLength: 40 }), { maxItems: 200 }), 'None: it is ignored.'),
  ...windowFields,
})

const nodeOfRollOut = {
  id: t.String(),
  name: t.String(),
  wave: described(nullable(t.Integer()), '0: it goes first. null: it takes no part.'),
  state: described(
    t.Enum([...rollOutNodeStates]),
    'already: it ran the version before its turn came. by_package, by_person: its agent does not update itself. ' +
      'failed: it could not fetch or start the release. went_back: the release did not pass its trial. not_back: it ' +
      'has not been heard of since.',
  ),
  waitsFor: described(nullable(t.Enum(['away', 'window'])), 'Why it does not begin although its wave has.'),
  headline: described(nullable(t.String()), 'How it failed, in one line; null where it did not.'),
  code: nullable(t.String()),
  reason: nullable(t.String()),
  findings: described(t.Array(t.String()), 'What spoke against the version on trial.'),
  fromVersion: t.String(),
  startedAt: nullable(time),
  trialAt: described(nullable(time), 'When its new version was first heard of.'),
  endedAt: nullable(time),
  sentBytes: t.Integer(),
}
const summaryFields = {
  id: t.String(),
  version: t.String(),
  state: described(
    t.Enum([...rollOutStates]),
    'paused: no further node begins until somebody continues. stopping: nodes at work come to their end first.',
  ),
  pausedBy: described(nullable(t.Enum(['person', 'failure'])), 'Null while it is not paused.'),
  failedNode: described(nullable(t.Object({ id: t.String(), name: t.String() })), 'The node at which it stopped.'),
  reason: nullable(t.String()),
  nodes: described(t.Integer(), 'All of the installation.'),
  updated: described(t.Integer(), 'Nodes that run the version.'),
  wave: t.Integer(),
  watchUntil: described(nullable(time), 'The wave has ended well and is watched until then.'),
  startedBy: t.Object({ id: t.String(), name: t.String() }),
  createdAt: time,
  pausedAt: nullable(time),
  finishedAt: nullable(time),
}
export const rollOutResponse = namedSchema('RollOut', summaryFields)
export const rollOutDetailResponse = namedSchema('RollOutDetail', {
  ...summaryFields,
  watchSeconds: t.Integer(),
  trialSeconds: t.Integer(),
  windows: t.Array(t.Object({ location: locationReferred, ...windowFields })),
  busySeconds: described(nullable(t.Integer()), 'How long one node took on average until its new version answered.'),
  sentBytes: described(nullable(t.Integer()), 'Sent to one node on average.'),
  members: t.Array(t.Object(nodeOfRollOut)),
})
export type RollOutDetail = Static<typeof rollOutDetailResponse>

const nameOf = (tx: Db, id: string) => nodeById(tx, id)!.name

export function showRollOut(tx: Db, row: RollOut, rows = nodesOf(tx, row.id)) {
  const { failedNodeId } = row
  return {
    id: row.id,
    version: row.version,
    state: row.state,
    pausedBy: row.state === 'paused' ? (failedNodeId ? ('failure' as const) : ('person' as const)) : null,
    failedNode: failedNodeId === null ? null : { id: failedNodeId, name: nameOf(tx, failedNodeId) },
    reason: row.reason,
    nodes: rows.length,
    updated: rows.filter(({ state }) => state === 'done' || state === 'already').length,
    wave: row.wave,
    watchUntil: isoOrNull(row.watchUntil),
    startedBy: row.startedBy,
    createdAt: iso(row.createdAt),
    pausedAt: isoOrNull(row.pausedAt),
    finishedAt: isoOrNull(row.finishedAt),
  }
}

export function showDetail(tx: Db, app: AppContext, row: RollOut): RollOutDetail {
  const rows = nodesOf(tx, row.id)
  const updated = rows.filter(({ state }) => state === 'done')
  const busy = updated.flatMap(({ startedAt, trialAt }) => (trialAt === null ? [] : [(trialAt - startedAt!) / second]))
  return {
    ...showRollOut(tx, row, rows),
    watchSeconds: row.watchSeconds,
    trialSeconds: row.trialSeconds,
    windows: row.windows.map(({ locationId: id, ...window }) => ({
      location: { id, name: locationById(tx, id)?.name ?? 'A location that is gone' },
      ...window,
    })),
    busySeconds: averageOf(busy),
    sentBytes: averageOf(rows.flatMap(({ sentBytes }) => (sentBytes ? [sentBytes] : []))),
    members: rows.map((one) => showNode(tx, app, row, one)),
  }
}
const averageOf = (values: readonly number[]) =>
  values.length ? Math.round(values.reduce((sum, value) => sum + value, 0) / values.length) : null

function showNode(tx: Db, app: AppContext, rollOut: RollOut, row: RollOutNode): RollOutDetail['members'][number] {
  const node = nodeById(tx, row.nodeId)!
  const isWaiting = row.state === 'waiting' && rollOut.finishedAt === null
  return {
    id: row.nodeId,
    name: node.name,
    wave: row.wave,
    state: row.state,
    waitsFor: (isWaiting && keptBy(app, rollOut, node)) || null,
    headline: failedStates.has(row.state) ? headlineOf(node.name, row) : null,
    code: row.code,
    reason: row.reason,
    findings: row.findings,
    fromVersion: row.fromVersion,
    startedAt: isoOrNull(row.startedAt),
    trialAt: isoOrNull(row.trialAt),
    endedAt: isoOrNull(row.endedAt),
    sentBytes: row.sentBytes,
  }
}
