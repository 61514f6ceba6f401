// The notices of the own account.
import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { page } from '../../kernel/api/list.ts'
import { described, fields, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { idOf, oneOf } from '../../kernel/api/query.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Registry } from '../../kernel/registry.ts'
import { markRead, pageOfNotices, type StoredNotice, unreadAndGoingOn } from './queries.ts'

const noticeResponse = namedSchema('Notice', {
  id: t.String(),
  kind: t.String(),
  subject: t.String(),
  words: described(t.String(), 'Paragraphs, a line each.'),
  href: described(t.String(), 'The page of the panel that it leads to.'),
  createdAt: time,
  readAt: nullable(time),
  isState: described(t.Boolean(), 'It is about a state, such as an outage, which is over at `overAt`.'),
  overAt: described(nullable(time), 'When the state ended that it is about; null: it goes on, or it is about none.'),
})
const show = ({ accountId: _, createdAt, readAt, about, overAt, ...notice }: StoredNotice) => ({
  ...notice,
  createdAt: iso(createdAt),
  readAt: isoOrNull(readAt),
  isState: about !== null,
  overAt: isoOrNull(overAt),
})

/** Programs read events: a notice may be of anything, and a token sees what its scopes open. */
const forPeople = { requiresSession: true } as const

export const listNotices = operation({
  id: 'notices.list',
  method: 'GET',
  path: '/notices',
  summary: 'Notices of the own account, of the last 90 days',
  access: everybody('account:read'),
  ...forPeople,
  query: { unread: oneOf(['true'], 'Only those that were not read yet.') },
  pages: { usual: 25, most: 100 },
  response: t.Object({
    ...page(noticeResponse).properties,
    outages: described(t.Integer(), 'So many unread ones are about something that is down now.'),
  }),
  run: (call) => ({
    ...pageOfNotices(call, call.query['unread'] === 'true', show),
    outages: unreadAndGoingOn(call.tx, call.actor.accountId, outageKinds(call.registry)),
  }),
})

const outageKinds = ({ features }: Registry): string[] =>
  features.flatMap(({ notices = {} }) =>
    Object.entries(notices).flatMap(([kind, { isOutage }]) => (isOutage ? kind : [])),
  )

export const readNotices = operation({
  id: 'notices.read',
  method: 'POST',
  path: '/notices/actions/read',
  summary: 'Mark notices as read',
  access: everybody('account:write'),
  ...forPeople,
  body: fields({ upTo: t.Optional({ ...idOf('ntc', 'The newest one to mark; without it, all.'), maxLength: 30 }) }),
  response: t.Object({ marked: t.Integer() }),
  example: {},
  run: ({ tx, actor, body, clock }) => ({ marked: markRead(tx, actor.accountId, body.upTo, clock()) }),
})
