// Telling owners of maintenance before it begins: a notice and a mail for each, made of the plan. Nothing sends it but
// a person who asks for it, who may let the drain begin at that time.
import { Type as t } from 'typebox'
import { type Node, node } from '../../fleet/node-records/model.ts'
import { areas } from '../../identity/account-records/areas.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { type Notice, notify } from '../../identity/notices/notify.ts'
import { invalid } from '../../kernel/api/errors.ts'
import {
  described,
  fields,
  line,
  namedSchema,
  nullable,
  operation,
  time,
  timeFrom,
} from '../../kernel/api/operation.ts'
import { moment, momentFrom } from '../../kernel/api/query.ts'
import { minuteText } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { MailContext } from '../../kernel/mail/mail.ts'
import { schedule, timeOf } from './plan/later.ts'
import { planDrain, runs } from './plan/node-plan.ts'
import { drainPlanOf, putDrainPlan } from './queries.ts'

const notice = namedSchema('MaintenanceNotice', {
  recipients: described(
    t.Array(t.Object({ id: t.String(), name: t.String(), servers: t.Array(t.String()) })),
    'Owners of servers that are off for it, and of those that cannot move.',
  ),
  subject: t.String(),
  paragraphs: described(t.Array(t.String()), 'As the first of them reads it; each is told of the own servers.'),
})

const access = { staff: ['nodes:maintain'] } as const

export const previewNotice = operation({
  id: 'nodes.maintenance-notice',
  method: 'GET',
  path: '/admin/nodes/{id}/maintenance-notice',
  summary: 'Who would be told of the maintenance of a node, and in which words',
  access,
  on: node,
  query: { startsAt: moment('When the maintenance begins. Without it: in 24 hours.') },
  response: notice,
  run(call) {
    const { tx, target, query, clock } = call
    const given = query['startsAt']
    const startsAt = given === undefined ? clock() + DAY_BEFORE_MS : momentFrom('startsAt', given)
    return shown(tx, noticesFor(call, target), { startsAt, endsAt: null, text: '' })
  },
})

/** Owners are told so long before, where nothing else is asked for. */
const DAY_BEFORE_MS = 24 * 3_600_000

export const announceMaintenance = operation({
  id: 'nodes.announce-maintenance',
  method: 'POST',
  path: '/admin/nodes/{id}/actions/announce-maintenance',
  summary: 'Tell the owners of servers that will be off for the maintenance of a node, by notice and mail',
  past: 'Announced maintenance of a node',
  access,
  on: node,
  body: fields({
    startsAt: time,
    endsAt: t.Optional(nullable(time)),
    text: t.Optional(described(line(500, 0), 'Words of your own, in a paragraph between ours.')),
    drain: t.Optional(
      described(
        t.Boolean(),
        'The drain begins by itself at `startsAt`, as by `nodes.schedule-drain`. Without it: false.',
      ),
    ),
  }),
  response: notice,
  status: 202,
  idempotent: true,
  dryRun: true,
  refuses: ['node_is_lost', 'drain_at_work'],
  example: { startsAt: '2027-11-27T02:00:00.000Z', endsAt: '2027-11-27T05:00:00.000Z' },
  run(call) {
    const { tx, actor, target, body, clock } = call
    const startsAt = body.drain ? timeOf(body.startsAt, clock()) : timeFrom('startsAt', body.startsAt)
    const endsAt = body.endsAt == null ? null : timeFrom('endsAt', body.endsAt)
    if (startsAt <= clock()) throw invalid({ field: 'startsAt', message: 'must be in the future.' })
    if (endsAt !== null && endsAt <= startsAt) throw invalid({ field: 'endsAt', message: 'must be after the begin.' })
    const when = { startsAt, endsAt, text: body.text ?? '' }
    const told = noticesFor(call, target)
    const plan = drainPlanOf(tx, target.id)
    const known = { ownerIds: told.map(({ ownerId }) => ownerId), startsAt, endsAt }
    if (body.drain) schedule(tx, target, { actor, startsAt, asked: plan?.asked ?? {}, told: known })
    // The drain may have a time already.
    else if (plan?.startsAt === startsAt) putDrainPlan(tx, { ...plan, told: known })
    for (const one of told) send(call, one, when)
    return shown(tx, told, when)
  },
})

type When = { startsAt: number; endsAt: number | null; text: string }
type Told = { ownerId: string; servers: { hostname: string; effect: string }[] }

/** Each owner with the servers that notice something. */
function noticesFor(call: Parameters<typeof planDrain>[0], target: Node): Told[] {
  const { moves, staying } = planDrain(call, target)
  const noticed = [
    ...moves.flatMap(({ server, foreseen, to }) => {
      if (!runs(server)) return []
      if (!to) return [{ ownerId: server.ownerId, hostname: server.hostname, effect: STAYS_OFF }]
      const seconds = Math.ceil(foreseen.expectedDowntimeMs / 1000)
      return seconds
        ? [{ ownerId: server.ownerId, hostname: server.hostname, effect: `off for ${seconds} seconds at most` }]
        : []
    }),
    ...staying.flatMap(({ running, ownerId, hostname }) => (running ? [{ ownerId, hostname, effect: STAYS_OFF }] : [])),
  ]
  const byName = noticed.toSorted((a, b) => (a.hostname < b.hostname ? -1 : 1))
  return [...Map.groupBy(byName, ({ ownerId }) => ownerId)].flatMap(([ownerId, servers]) => {
    const owner = accountById(call.tx, ownerId)
    return owner && owner.kind !== 'staff' ? [{ ownerId, servers }] : []
  })
}
const STAYS_OFF = 'may be shut down until the maintenance ends'

function wordsFor(servers: Told['servers'], { startsAt, endsAt, text }: When): Pick<Notice, 'subject' | 'paragraphs'> {
  const until = endsAt === null ? '' : ` to ${minuteText(endsAt)}`
  return {
    subject: `Maintenance on ${minuteText(startsAt)}`,
    paragraphs: [
      `The node of these servers is maintained from ${minuteText(startsAt)}${until}.`,
      ...servers.map(({ hostname, effect }) => `${hostname}: ${effect}.`),
      ...(text ? [text] : []),
      'You need to do nothing. Disks, addresses and passwords stay as they are.',
    ],
  }
}

function send(call: MailContext & { tx: Parameters<typeof notify>[0] }, { ownerId, servers }: Told, when: When) {
  const owner = accountById(call.tx, ownerId)!
  if (owner.kind === 'staff') return
  const button = { words: 'Open your servers', path: `${areas[owner.kind]}/servers` } as const
  notify(call.tx, call, owner, 'maintenance_planned', { ...wordsFor(servers, when), button })
}

function shown(tx: Db, told: readonly Told[], when: When) {
  return {
    recipients: told.map(({ ownerId, servers }) => ({
      id: ownerId,
      name: accountById(tx, ownerId)!.name,
      servers: servers.map(({ hostname }) => hostname),
    })),
    ...wordsFor(told[0]?.servers ?? [], when),
  }
}
