// Announcements: shown on the first page of their audience between their start and their end.

import { Type as t } from 'typebox'
import { node } from '../../fleet/node-records/model.ts'
import { isAnyOn } from '../../fleet/workloads/queries.ts'
import { visible } from '../../identity/team/access.ts'
import type { AccountKind } from '../../kernel/api/access.ts'
import { everybody } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { page, paginateAll } from '../../kernel/api/list.ts'
import {
  type AppContext,
  described,
  done,
  fields,
  line,
  namedSchema,
  nullable,
  operation,
  type Resource,
  see,
  time,
  timeFrom,
} from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import { type Db, write } from '../../kernel/db/open.ts'
import type { Hub } from '../../kernel/nodes/hub.ts'
import { type Audience, audiences, levels } from './model.ts'
import {
  announcementById,
  announcementsAt,
  deleteAnnouncement,
  insertAnnouncement,
  nodeNameOf,
  pageOfAnnouncements,
  untilConnected,
  updateAnnouncement,
} from './queries.ts'
import type { Announcement } from './tables.ts'

const announcement: Resource<Announcement> = {
  name: 'announcement',
  notFound: 'announcement_not_found',
  find: (tx, actor, id) => (actor.kind === 'staff' ? announcementById(tx, id) : undefined),
}

const level = t.Enum([...levels])
const audience = t.Enum([...audiences])
const response = namedSchema('Announcement', {
  id: t.String(),
  text: t.String(),
  audience,
  level,
  startsAt: time,
  endsAt: nullable(time),
  node: described(
    nullable(t.Object({ id: t.String(), name: t.String() })),
    'Only customers with a server on this node read it, and their resellers; null: the whole audience.',
  ),
  untilConnected: described(t.Boolean(), 'It ends when the node is connected again.'),
  createdAt: time,
})
const show = (tx: Db, { nodeId, ...announcement }: Announcement) => ({
  ...announcement,
  node: nodeId === null ? null : { id: nodeId, name: nodeNameOf(tx, nodeId) },
  startsAt: iso(announcement.startsAt),
  endsAt: isoOrNull(announcement.endsAt),
  createdAt: iso(announcement.createdAt),
})

/** For actors who may read nodes. */
const readableNode: typeof node = {
  ...node,
  find: (tx, actor, id) => (actor.scopes.has('nodes:read') ? node.find(tx, actor, id) : undefined),
}
/** Throws `validation_failed`. */
function mustFitNode(
  { tx, actor, nodes }: { tx: Db; actor: Actor } & Pick<AppContext, 'nodes'>,
  given: Pick<Announcement, 'nodeId' | 'audience' | 'untilConnected'>,
) {
  const { nodeId, audience, untilConnected } = given
  if (nodeId === null) {
    if (untilConnected) throw invalid({ field: 'untilConnected', message: 'needs a node.' })
    return
  }
  see(tx, actor, readableNode, nodeId, 'nodeId')
  if (audience === 'staff')
    throw invalid({ field: 'audience', message: 'must be customers, resellers or everybody: only they have servers.' })
  if (untilConnected && nodes.connected(nodeId))
    throw invalid({ field: 'untilConnected', message: 'must be false: the node is connected.' })
}

const span = { startsAt: t.Optional(time), endsAt: t.Optional(nullable(time)) }
const example = {
  text: 'Maintenance in Frankfurt on Sunday from 02:00 to 04:00 UTC: servers restart once.',
  audience: 'customers',
  level: 'warn',
  startsAt: '2027-01-29T08:00:00.000Z',
  endsAt: '2027-01-31T04:00:00.000Z',
} as const

function mustEndAfter({ startsAt, endsAt }: { startsAt: number; endsAt: number | null }) {
  if (endsAt !== null && endsAt <= startsAt) throw invalid({ field: 'endsAt', message: 'must be after the start.' })
}
const timesFrom = ({ startsAt, endsAt }: { startsAt?: string; endsAt?: string | null }) => ({
  ...(startsAt !== undefined && { startsAt: timeFrom('startsAt', startsAt) }),
  ...(endsAt !== undefined && { endsAt: endsAt === null ? null : timeFrom('endsAt', endsAt) }),
})

const access = { staff: ['settings:write'] } as const

export const createAnnouncement = operation({
  id: 'announcements.create',
  method: 'POST',
  path: '/admin/announcements',
  summary: 'Add an announcement for customers, resellers, staff or everybody, from now or from a given time',
  past: 'Added an announcement',
  access,
  body: fields({
    text: line(500),
    audience,
    level: t.Optional(level),
    nodeId: t.Optional(
      described(
        nullable(t.String({ minLength: 1, maxLength: 40 })),
        'Only for customers with a server on this node, and their resellers.',
      ),
    ),
    untilConnected: t.Optional(t.Boolean()),
    ...span,
  }),
  response,
  status: 201,
  example,
  run(call) {
    const { tx, body, clock } = call
    const { startsAt = clock(), endsAt = null } = timesFrom(body)
    mustEndAfter({ startsAt, endsAt })
    const { text, audience, level = 'info', nodeId = null, untilConnected = false } = body
    const given = { text, audience, level, nodeId, untilConnected, startsAt, endsAt }
    mustFitNode(call, given)
    return show(tx, insertAnnouncement(tx, { id: newId('ann'), ...given, createdAt: clock() }))
  },
})

export const changeAnnouncement = operation({
  id: 'announcements.update',
  method: 'PATCH',
  path: '/admin/announcements/{id}',
  summary: 'Change an announcement; what is not sent stays as it is',
  access,
  on: announcement,
  body: fields({ text: t.Optional(line(500)), audience: t.Optional(audience), level: t.Optional(level), ...span }),
  response,
  example: { endsAt: '2027-02-01T00:00:00.000Z' },
  run(call) {
    const { tx, target, body } = call
    const { startsAt: _, endsAt: __, ...rest } = body
    const given = { ...rest, ...timesFrom(body) }
    mustEndAfter({ ...target, ...given })
    if (given.audience === 'staff') mustFitNode(call, { ...target, untilConnected: false, audience: given.audience })
    return show(tx, updateAnnouncement(tx, target, given))
  },
})

export const removeAnnouncement = operation({
  id: 'announcements.remove',
  destroys: [],
  method: 'DELETE',
  path: '/admin/announcements/{id}',
  summary: 'Remove an announcement',
  access,
  on: announcement,
  response: done,
  run({ tx, target }) {
    deleteAnnouncement(tx, target.id)
    return {}
  },
})

export const listAllAnnouncements = operation({
  id: 'announcements.list-all',
  method: 'GET',
  path: '/admin/announcements',
  summary: 'Every announcement, past and to come, newest first',
  access,
  response: page(response),
  run: (call) => pageOfAnnouncements(call, (announcement) => show(call.tx, announcement)),
})

const audienceOf: Record<AccountKind, Audience> = { customer: 'customers', reseller: 'resellers', staff: 'staff' }

/** Keeps what is told to everybody, and of a node where the actor sees a server. */
function concerning(tx: Db, actor: Actor) {
  const seen = visible(tx, actor)
  return ({ nodeId }: Announcement) => nodeId === null || (actor.kind !== 'staff' && isAnyOn(tx, nodeId, seen))
}

/** Ends announcements whose node is connected again. */
export function endWithOutage({ db, hub, now }: { db: Db; hub: Pick<Hub, 'connected'>; now: number }) {
  const over = untilConnected(db, now).filter(({ nodeId }) => hub.connected(nodeId!))
  if (over.length)
    write(db, (tx) => {
      for (const announcement of over)
        updateAnnouncement(tx, announcement, { endsAt: Math.max(now, announcement.startsAt + 1) })
    })
}

export const listAnnouncements = operation({
  id: 'announcements.list',
  method: 'GET',
  path: '/announcements',
  summary: 'The announcements that concern you now, newest first',
  access: everybody('account:read'),
  pages: { usual: 10, most: 200 }, // more at a time nobody reads
  response: page(t.Object({ id: t.String(), text: t.String(), level, startsAt: time, endsAt: nullable(time) })),
  run(call) {
    const { tx, actor, clock } = call
    const rows = announcementsAt(tx, clock(), ['everybody', audienceOf[actor.kind]]).filter(concerning(tx, actor))
    return paginateAll({
      call,
      name: 'announcements now',
      all: rows,
      order: 'newest',
      keyOf: ({ startsAt, id }) => `${iso(startsAt)} ${id}`,
      show: ({ id, text, level, startsAt, endsAt }) => ({
        id,
        text,
        level,
        startsAt: iso(startsAt),
        endsAt: isoOrNull(endsAt),
      }),
    })
  },
})
