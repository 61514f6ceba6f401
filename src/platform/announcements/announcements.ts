// Announcements: shown on the first page of their audience between their start and their end.

import { Type as t } from 'typebox'
import type { AccountKind } from '../../kernel/api/access.ts'
import { everybody } from '../../kernel/api/access.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { page, paginateAll } from '../../kernel/api/list.ts'
import {
  done,
  fields,
  line,
  namedSchema,
  nullable,
  operation,
  type Resource,
  time,
  timeFrom,
} from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import { type Audience, audiences, levels } from './model.ts'
import {
  announcementById,
  announcementsAt,
  deleteAnnouncement,
  insertAnnouncement,
  pageOfAnnouncements,
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
  createdAt: time,
})
const show = (it: Announcement) => ({
  ...it,
  startsAt: iso(it.startsAt),
  endsAt: isoOrNull(it.endsAt),
  createdAt: iso(it.createdAt),
})

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
  access,
  body: fields({ text: line(500), audience, level: t.Optional(level), ...span }),
  response,
  status: 201,
  example,
  run({ tx, body, clock }) {
    const { startsAt = clock(), endsAt = null } = timesFrom(body)
    mustEndAfter({ startsAt, endsAt })
    const { text, audience, level = 'info' } = body
    return show(
      insertAnnouncement(tx, { id: newId('ann'), text, audience, level, startsAt, endsAt, createdAt: clock() }),
    )
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
  run({ tx, target, body }) {
    const { startsAt: _, endsAt: __, ...rest } = body
    const given = { ...rest, ...timesFrom(body) }
    mustEndAfter({ ...target, ...given })
    return show(updateAnnouncement(tx, target, given))
  },
})

export const removeAnnouncement = operation({
  id: 'announcements.remove',
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
  run: (call) => pageOfAnnouncements(call, show),
})

const described: Record<AccountKind, Audience> = { customer: 'customers', reseller: 'resellers', staff: 'staff' }

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
    const rows = announcementsAt(tx, clock(), ['everybody', described[actor.kind]])
    return paginateAll({
      call,
      name: 'announcements now',
      all: rows,
      order: 'newest',
      keyOf: ({ startsAt, id }) => `${iso(startsAt)} ${id}`,
      show: ({ id, text, level, ...it }) => ({
        id,
        text,
        level,
        startsAt: iso(it.startsAt),
        endsAt: isoOrNull(it.endsAt),
      }),
    })
  },
})
