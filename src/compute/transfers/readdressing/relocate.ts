// The owner of a server moves it to another location, where the operator offers that: a move like those of staff, with
// new addresses. No node is named to an owner.
import { Type as t } from 'typebox'
import { locationById, offeredFrom } from '../../../fleet/locations/queries.ts'
import { locationOf, locationReferred } from '../../../fleet/locations/reference.ts'
import { capacityIn } from '../../../fleet/placement/capacity.ts'
import { beyondReserveMb } from '../../../fleet/placement/location-reserve.ts'
import { lackAddressesMostly } from '../../../fleet/placement/main-cause.ts'
import { RECONNECTING } from '../../../fleet/placement/placement.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { mustNotBeSuspended, resellerOf } from '../../../identity/resellers/model.ts'
import { mayPlaceIn } from '../../../identity/resellers/queries.ts'
import type { Scope } from '../../../kernel/api/access.ts'
import type { Actor } from '../../../kernel/api/actor.ts'
import { ApiError, invalid, restarting } from '../../../kernel/api/errors.ts'
import {
  type AppContext,
  described,
  fields,
  namedSchema,
  nullable,
  operation,
  time,
} from '../../../kernel/api/operation.ts'
import { day, isoOrNull } from '../../../kernel/db/clock.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { settingValue, wholeSetting } from '../../../kernel/setting.ts'
import { count } from '../../../kernel/words.ts'
import { type Server, server } from '../../server-records/model.ts'
import { refusalOf } from '../../snapshots/model.ts'
import { forecast } from '../forecast.ts'
import { beginMove } from '../job/begin.ts'
import { mustBeMovable } from '../movable.ts'
import { type FitNode, fits, judgeNodes } from '../nodes.ts'
import { relocationsSince, transferById, waitingMoveOf } from '../queries.ts'
import { transferActions } from '../states.ts'
import { addressNeedOf, changeOf } from './addresses.ts'
import { relocationAtWork, showAtWork } from './cancel.ts'
import { heldOf } from './held.ts'

export const mostADay = wholeSetting({
  name: 'transfers.relocations_a_day',
  title: 'Moves to other locations by owners',
  words:
    'So many times in 24 hours an owner may move a server to another location, where that is offered. A move back to ' +
    'held addresses does not count.',
  weakens: 'never',
  default: 1,
  minimum: 1,
  maximum: 20,
})

/** Staff move servers by `servers.move`. */
const forOwners = <const S extends Scope>(scope: S) => ({ reseller: [scope], customer: [scope] }) as const

const times = {
  expectedSeconds: described(nullable(t.Integer()), 'How long the move takes at most; null: it is not possible.'),
  expectedDowntimeMs: described(nullable(t.Integer()), 'How long its system is off for it.'),
}
const destination = namedSchema('RelocationOption', {
  location: locationReferred,
  possible: t.Boolean(),
  reason: described(nullable(t.String()), 'Why it is not possible now.'),
  getsBack: described(t.Boolean(), 'It gets back the addresses that it had there.'),
  heldUntil: described(nullable(time), 'Until then these addresses are held for it.'),
  ...times,
})

export const relocationOptions = operation({
  id: 'servers.relocation-options',
  method: 'GET',
  path: '/servers/{id}/relocations',
  summary: 'To which other locations the owner of a server may move it, and what that changes',
  access: forOwners('servers:read'),
  on: server,
  response: namedSchema('RelocationOptions', {
    location: locationReferred,
    notPossible: described(nullable(t.String()), 'Why it cannot be moved anywhere now, and what to do; null: it can.'),
    newIpv4: described(t.Integer(), 'So many IPv4 addresses take the place of those that it has.'),
    newIpv6: described(t.Array(t.Integer()), 'The lengths of the IPv6 prefixes that take the place of its own.'),
    left: described(t.Integer(), 'How often it can still be moved in these 24 hours; a move back does not count.'),
    atWork: described(nullable(relocationAtWork), 'The move that the owner has asked for; null: none is at work.'),
    locations: described(t.Array(destination), 'Empty: no move is offered.'),
  }),
  run(call) {
    const { tx, actor, target, clock } = call
    const offered = offeredTo(tx, target)
    const { ipv4, ipv6Prefix, moreIpv6 = [] } = addressNeedOf(tx, target.id)
    const judged = offered.length ? judgeNodes(tx, call.nodes, target, { readdress: true }) : []
    return {
      location: locationOf(tx, target),
      notPossible: offered.length ? refusalOf(() => mustBeRelocatable(tx, actor, target)) : null,
      newIpv4: ipv4,
      newIpv6: ipv6Prefix === null ? [] : [ipv6Prefix, ...moreIpv6],
      left: leftToday(tx, target.id, clock()),
      atWork: showAtWork(tx, target.id),
      locations: offered.map((where) => {
        const node = attempt(() => chooseIn(call, target, where, judged))
        const isFit = !(node instanceof ApiError)
        const foreseen = isFit ? forecastTo(tx, target, node) : undefined
        return {
          location: locationOf(tx, { locationId: where.id }),
          possible: isFit,
          reason: isFit ? null : node.message,
          getsBack: isFit && node.getsBack,
          heldUntil: isoOrNull(where.heldUntil),
          expectedSeconds: foreseen?.expectedSeconds ?? null,
          expectedDowntimeMs: foreseen?.expectedDowntimeMs ?? null,
        }
      }),
    }
  },
})

export const relocateServer = operation({
  id: 'servers.relocate',
  method: 'POST',
  path: '/servers/{id}/actions/relocate',
  summary: 'Move a server to another location that is offered: it is shut down for it, and gets new addresses',
  past: 'Started a move to another location',
  access: forOwners('servers:settings'),
  on: server,
  body: fields({ locationId: t.String({ minLength: 1, maxLength: 40 }) }),
  response: namedSchema('RelocationStarted', {
    jobId: described(nullable(t.String()), 'Null where nothing is installed: it is moved at once.'),
    serverId: t.String(),
    location: locationReferred,
    added: described(t.Array(t.String()), 'The addresses that are kept for it, and in force when the move switches.'),
    removed: described(t.Array(t.String()), 'Those that it gives up then.'),
    ...times,
  }),
  status: 202,
  idempotent: true,
  refuses: [
    ...transferActions.refusalsOf('relocate'),
    'server_busy',
    'not_movable',
    'volume_busy',
    'floating_ip_busy',
    'no_capacity',
    'no_addresses',
    'placement_group_unmet',
    'location_closed',
    'location_not_allowed',
    'reseller_suspended',
    'limit_reached',
  ],
  example: { locationId: '<location_id>' },
  run(call) {
    const { tx, actor, target, body, clock } = call
    const where = offeredTo(tx, target).find(({ id }) => id === body.locationId)
    if (!where) throw invalid({ field: 'locationId', message: 'must be a location to which this server may be moved.' })
    mustBeRelocatable(tx, actor, target)
    if (where.heldUntil === null && leftToday(tx, target.id, clock()) <= 0)
      throw new ApiError(
        'limit_reached',
        `${target.hostname} was moved ${count(settingValue(tx, mostADay), 'time', 'times')} in the last 24 hours, ` +
          'which is the most. Try again tomorrow.',
      )
    const chosen = chooseIn(call, target, where, judgeNodes(tx, call.nodes, target, { readdress: true }))
    const { jobId, transferId, foreseen } = beginMove({
      ...call,
      body: { mode: 'auto', readdress: true },
      chosen,
      byOwner: true,
    })
    const change = changeOf(tx, transferById(tx, transferId)!)
    return {
      jobId,
      serverId: target.id,
      location: locationOf(tx, { locationId: where.id }),
      added: change?.added ?? [],
      removed: change?.removed ?? [],
      expectedSeconds: foreseen.expectedSeconds,
      expectedDowntimeMs: foreseen.expectedDowntimeMs,
    }
  },
})

/** `heldUntil`: it goes back there, to the addresses that are held for it. */
type Destination = { id: string; heldUntil: number | null }
/** The offers of the operator, and the way back of a move for which the owner has asked. */
function offeredTo(tx: Db, target: Server): Destination[] {
  const held = heldOf(tx, target.id)
  const back = held?.move.byOwner && held.locationId !== target.locationId ? held : undefined
  const offered = offeredFrom(tx, target.locationId).filter((id) => id !== back?.locationId)
  return [
    ...(back ? [{ id: back.locationId, heldUntil: back.move.heldUntil }] : []),
    ...offered.map((id) => ({ id, heldUntil: null })),
  ]
}

const leftToday = (tx: Db, serverId: string, now: number): number =>
  Math.max(0, settingValue(tx, mostADay) - relocationsSince(tx, serverId, now - day))

/** Throws what refuses it anywhere: its state, its reseller, or what cannot come along. */
function mustBeRelocatable(tx: Db, actor: Actor, target: Server) {
  transferActions.mustAllowFor(tx, actor, target, 'relocate')
  const reseller = resellerOf(tx, accountById(tx, target.ownerId)!)
  if (reseller) mustNotBeSuspended(reseller)
  if (waitingMoveOf(tx, target.id))
    throw new ApiError('server_busy', `Your provider has planned a move of ${target.hostname}. Ask your provider.`)
  mustBeMovable(tx, actor, target)
}

type Choosing = Pick<AppContext, 'nodes'> & { tx: Db }
/** The best node there, in words that name none where there is no such node. */
function chooseIn(
  { tx, nodes }: Choosing,
  target: Server,
  { id, heldUntil }: Destination,
  judged: ReturnType<typeof judgeNodes>,
): FitNode {
  const location = locationById(tx, id)!
  const reseller = resellerOf(tx, accountById(tx, target.ownerId)!)
  if (reseller && !mayPlaceIn(tx, reseller.id, id))
    throw new ApiError('location_not_allowed', `${reseller.name} may not place servers in ${location.name}.`)
  if (!location.open) throw new ApiError('location_closed', `${location.name} takes no servers now.`)
  const all = capacityIn(tx, id)
  const there = judged.filter(({ nodeId }) => all.some((node) => node.id === nodeId))
  const fitting = there.filter(fits)
  const chosen = fitting.find(({ getsBack }) => getsBack) ?? (heldUntil === null ? fitting[0] : undefined)
  if (chosen) {
    if (beyondReserveMb(location, all, nodes) >= target.memoryMb) return chosen
    throw new ApiError('no_capacity', `${location.name} has no room for ${target.hostname} now.`)
  }
  const unfit = there.flatMap((node) => (fits(node) ? [] : [node]))
  const obstacle = unfit.find(({ obstacle }) => obstacle !== undefined)?.obstacle
  if (obstacle !== undefined) throw new ApiError('not_movable', `${location.name} ${obstacle}.`)
  if (unfit.some(({ disabledReason }) => disabledReason === RECONNECTING))
    throw restarting(`${location.name} is reconnecting to the panel. Nothing was moved; try again in a minute.`)
  if (unfit.some(({ breaksGroup }) => breaksGroup))
    throw new ApiError('placement_group_unmet', `${location.name} cannot keep the rule of its placement group.`)
  const lacksAddress = lackAddressesMostly(unfit.map(({ lack }) => lack))
  throw new ApiError(
    lacksAddress ? 'no_addresses' : 'no_capacity',
    `${location.name} has no ${lacksAddress ? 'free addresses' : 'room'} for ${target.hostname} now.`,
  )
}

const forecastTo = (tx: Db, target: Server, { nodeId }: FitNode) =>
  forecast(tx, target, { mode: 'auto', maxMbps: undefined, to: nodeId, isRestarted: true })

function attempt<T>(work: () => T): T | ApiError {
  try {
    return work()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}
