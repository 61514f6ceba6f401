// Looks every few seconds for nodes that went away and for nodes that came back. What was told is in the database, so
// that a restart tells nothing twice and leaves nothing out.

import { type AwayNode, awayNodes } from '../../fleet/node-records/queries.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { iso, minute, second } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import type { Hub } from '../../kernel/nodes/hub.ts'
import { settingValue } from '../../kernel/setting.ts'
import { aboutNode, affectedBy } from './model.ts'
import {
  changeOutage,
  endsToMail,
  insertOutage,
  lastMailedOf,
  lastOutageOf,
  type NodeOutage,
  nodeNameOf,
  type OpenOutage,
  openOutages,
} from './queries.ts'
import { awayDelay, mailPause } from './settings.ts'
import { endIncident, mailAway, mailBack, tellInPanel } from './tell.ts'

/** After a start of the controller nodes get this long to come back: agents wait longer between two tries by then. */
export const START_GRACE_MS = 2 * minute
/** A node whose delay ends within this time after that of another shares its notice. */
export const TOGETHER_MS = 15 * second
/** A node that connects only to break off again is not back. */
export const BACK_AFTER_MS = 10 * second
/** Nodes of an incident that are back are mailed about when no further one came back for so long, or all are. */
const SETTLED_MS = minute

type Live = Pick<Hub, 'connected' | 'awaySince'>
type Watch = { db: Db; hub: Live; app: AppContext }

/** One turn: notes outages that have begun and ended, emits their events, and tells staff. */
export function watchNodes({ db, hub, app }: Watch) {
  const now = app.clock()
  const open = openOutages(db)
  const ended = open.flatMap((outage) => {
    const as = endOf(outage, hub, now)
    return as ? [{ outage, as }] : []
  })
  const begun = due({ db, hub, app }, new Set(open.map(({ nodeId }) => nodeId)))
  const endedIds = new Set(ended.map(({ outage }) => outage.id))
  const unmailed = open.filter(({ id, mailedAt }) => mailedAt === null && !endedIds.has(id))
  const isMailDue = unmailed.some(({ nodeId }) => mayMail(db, nodeId, now)) || settledEnds(db, now).length > 0
  if (!ended.length && !begun.length && !isMailDue) return
  write(db, (tx) => {
    for (const { outage, as } of ended) end(tx, outage, as, now)
    for (const incidentId of new Set(ended.map(({ outage }) => outage.incidentId))) endIncident(tx, app, incidentId)
    const ids = begin(tx, begun, now)
    if (ids.length) tellInPanel(tx, app, ids)
    const toMail = openOutages(tx).filter(({ nodeId, mailedAt }) => mailedAt === null && mayMail(tx, nodeId, now))
    if (toMail.length)
      mailAway(
        tx,
        app,
        toMail.map(({ id }) => id),
      )
    const ends = settledEnds(tx, now)
    if (ends.length) mailBack(tx, app, ends)
  })
}

function endOf(outage: OpenOutage, hub: Live, now: number): 'back' | 'lost' | 'removed' | undefined {
  if (outage.removedAt !== null) return 'removed'
  if (outage.lostAt !== null) return 'lost'
  const isBack = outage.connectedAt !== null && now - outage.connectedAt >= BACK_AFTER_MS
  return isBack && hub.connected(outage.nodeId) ? 'back' : undefined
}

/** Nodes that are away for longer than the delay, are not expected to be, and have no outage yet. */
function due({ db, hub, app }: Watch, open: ReadonlySet<string>): AwayNode[] {
  const now = app.clock()
  const delayMs = settingValue(db, awayDelay) * second
  const isExpected = (nodeId: string) => app.registry.features.some(({ expectsAway }) => expectsAway?.(db, nodeId))
  const away = awayNodes(db)
    .filter(({ id }) => !hub.connected(id) && !open.has(id))
    .map((node) => ({
      node,
      at: Math.max((hub.awaySince(node.id) ?? node.seenAt) + delayMs, app.startedAt + START_GRACE_MS),
    }))
    .filter(({ at, node }) => at <= now + TOGETHER_MS && !isExpected(node.id))
  const ready = away.filter(({ at }) => at <= now)
  const first = Math.min(...ready.map(({ at }) => at))
  // The others of a failure that they share are a few seconds behind: all are one notice.
  if (ready.length < away.length && now - first < TOGETHER_MS) return []
  return ready.map(({ node }) => node)
}

function begin(tx: Tx, nodes: readonly AwayNode[], now: number): string[] {
  const pauseMs = settingValue(tx, mailPause) * minute
  return [...Map.groupBy(nodes, ({ locationId }) => locationId).values()].flatMap((of) => {
    const last = of.length === 1 ? lastOutageOf(tx, of[0]!.id) : null
    // Its notice comes back, in place of another one each minute.
    const isAgain = last && last.endedAt !== null && now - last.endedAt < pauseMs
    const incidentId = isAgain ? last.incidentId : newId('out')
    return of.map((node) => {
      const id = newId('out')
      insertOutage(tx, {
        ...{ id, nodeId: node.id, locationId: node.locationId, incidentId, since: node.seenAt, notedAt: now },
        ...{ mailedAt: null, told: [], endedAt: null, endedAs: null, endMailedAt: null },
      })
      emit(tx, now, 'node.away', aboutNode(node.id), { ...affectedBy(tx, node), since: iso(node.seenAt) })
      return id
    })
  })
}

function end(tx: Tx, outage: OpenOutage, as: 'back' | 'lost' | 'removed', now: number) {
  const endedAt = as === 'back' ? Math.max(outage.since, outage.connectedAt ?? now) : now
  changeOutage(tx, outage.id, { endedAt, endedAs: as })
  // Staff who declare it lost or remove it have events of their own.
  if (as !== 'back') return
  const name = nodeNameOf(tx, outage.nodeId)
  emit(tx, now, 'node.back', aboutNode(outage.nodeId), {
    ...affectedBy(tx, { id: outage.nodeId, name, locationId: outage.locationId }),
    since: iso(outage.since),
    backAt: iso(endedAt),
    seconds: Math.round((endedAt - outage.since) / second),
  })
}

/** A node that goes away again and again is not mailed about each time. */
function mayMail(tx: Db, nodeId: string, now: number): boolean {
  const last = lastMailedOf(tx, nodeId)
  return last === null || now - last >= settingValue(tx, mailPause) * minute
}

/** Outages whose end can be mailed now: no other node of the incident is about to come back. */
function settledEnds(tx: Db, now: number): NodeOutage[] {
  const ends = endsToMail(tx)
  if (!ends.length) return []
  const away = new Set(openOutages(tx).map(({ incidentId }) => incidentId))
  return [...Map.groupBy(ends, ({ incidentId }) => incidentId)].flatMap(([incidentId, of]) =>
    !away.has(incidentId) || of.every(({ endedAt }) => now - endedAt! >= SETTLED_MS) ? of : [],
  )
}
