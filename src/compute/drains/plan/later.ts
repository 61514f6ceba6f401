// A drain that begins by itself at a time. Nothing is closed and nothing is held before: it is planned again then, with
// the choices of the plan. It stands in a table, so it survives a restart.

import { Type as t } from 'typebox'
import { type Node, node } from '../../../fleet/node-records/model.ts'
import { nodeById } from '../../../fleet/node-records/queries.ts'
import { type Actor, idOf, nameOf, system } from '../../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import {
  type AppContext,
  described,
  done,
  fields,
  line,
  operation,
  time,
  timeFrom,
} from '../../../kernel/api/operation.ts'
import { day, hour } from '../../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../../kernel/db/open.ts'
import { type DrainPlan, drainPlanOf, dropDrainPlan, dueDrainPlans, openDrainOf, putDrainPlan } from '../queries.ts'
import { beginDrain, limitFields, mustBeThere } from '../start.ts'
import type { DrainWishes, ToldOwners } from '../tables.ts'
import { scheduledResponse, showScheduled } from './choice.ts'
import { tellMoved } from './moved.ts'

const access = { staff: ['nodes:maintain'] } as const
/** A drain further ahead is planned from what nobody remembers. */
const LATEST_MS = 30 * day
/** For so long another drain of the node is waited for. */
const TRIED_MS = hour

export const scheduleDrain = operation({
  id: 'nodes.schedule-drain',
  method: 'POST',
  path: '/admin/nodes/{id}/actions/schedule-drain',
  summary:
    'Let a drain begin by itself at a time, with the choices of the plan; called again it changes that, and tells ' +
    'owners who know its time the new one',
  past: 'Scheduled a drain',
  access,
  on: node,
  body: fields({
    startsAt: described(time, 'At most 30 days ahead. Until then the node stays open, and nothing is held.'),
    ...limitFields,
    reason: t.Optional(described(line(200, 0), 'Why the node is closed then, for colleagues.')),
  }),
  response: scheduledResponse,
  refuses: ['node_is_lost', 'drain_at_work'],
  example: { startsAt: '2027-01-20T02:00:00.000Z' },
  run(call) {
    const { tx, actor, target, body, clock } = call
    const { startsAt: given, ...asked } = body
    const startsAt = timeOf(given, clock())
    const before = drainPlanOf(tx, target.id)?.told ?? null
    // First, because a time that is refused is told to nobody.
    mustBeFree(tx, target)
    const told = before && tellMoved(call, before, startsAt)
    return showScheduled(schedule(tx, target, { actor, startsAt, asked, told }))!
  },
})

/** Throws `validation_failed`. */
export function timeOf(text: string, now: number): number {
  const at = timeFrom('startsAt', text)
  const wrong = at <= now ? 'must be in the future.' : at > now + LATEST_MS ? 'must be within 30 days.' : undefined
  if (wrong) throw invalid({ field: 'startsAt', message: wrong })
  return at
}

/** Throws `node_is_lost` and `drain_at_work`. */
function mustBeFree(tx: Db, target: Node) {
  mustBeThere(target)
  if (openDrainOf(tx, target.id))
    throw new ApiError(
      'drain_at_work',
      `${target.name} is being emptied or filled already. Wait, or cancel that first.`,
    )
}

type Scheduled = { actor: Actor; startsAt: number; asked: DrainWishes; told: ToldOwners | null }
/** It takes the place of one before. Throws `node_is_lost` and `drain_at_work`. */
export function schedule(tx: Tx, target: Node, { actor, startsAt, asked, told }: Scheduled): DrainPlan {
  mustBeFree(tx, target)
  const setBy = { id: idOf(actor), name: nameOf(actor) }
  const plan = { nodeId: target.id, startsAt, asked, setBy, error: null, told }
  putDrainPlan(tx, plan)
  return plan
}

export const unscheduleDrain = operation({
  id: 'nodes.unschedule-drain',
  destroys: [],
  method: 'DELETE',
  path: '/admin/nodes/{id}/scheduled-drain',
  summary: 'Take back a drain that was to begin by itself; the choices of the plan stay, and nobody is told',
  past: 'Cancelled a scheduled drain',
  access,
  on: node,
  response: done,
  run({ tx, target }) {
    if (drainPlanOf(tx, target.id)) dropDrainPlan(tx, target.id)
    return {}
  },
})

/** Begins the drains whose time has come. One that cannot begin says why, and waits for a person. */
export function beginDueDrains(db: Db, app: Pick<AppContext, 'nodes' | 'clock'>) {
  const now = app.clock()
  for (const plan of dueDrainPlans(db, now)) {
    const { nodeId, setBy, asked, startsAt } = plan
    const actor: Actor = { ...system, accountId: setBy.id, name: setBy.name }
    try {
      write(db, (tx) => void beginDrain({ ...app, tx, actor }, nodeById(tx, nodeId)!, asked))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'drain_at_work' && now - startsAt! < TRIED_MS) continue
      write(db, (tx) => putDrainPlan(tx, { ...plan, startsAt: null, error: error.message }))
    }
  }
}
