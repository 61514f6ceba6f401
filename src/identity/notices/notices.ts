// The notices of the own account, and which of them also come by mail.
import { type Static, Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import {
  described,
  fields,
  namedSchema,
  nullable,
  operation,
  type ReadContext,
  time,
} from '../../kernel/api/operation.ts'
import { idOf, oneOf } from '../../kernel/api/query.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Registry } from '../../kernel/registry.ts'
import { kindsWithoutMail, markRead, pageOfNotices, type StoredNotice, setWithoutMail } from './queries.ts'

const noticeResponse = namedSchema('Notice', {
  id: t.String(),
  kind: t.String(),
  subject: t.String(),
  words: described(t.String(), 'Paragraphs, a line each.'),
  href: described(t.String(), 'The page of the panel that it leads to.'),
  createdAt: time,
  readAt: nullable(time),
})
const show = ({ accountId: _, createdAt, readAt, ...notice }: StoredNotice) => ({
  ...notice,
  createdAt: iso(createdAt),
  readAt: isoOrNull(readAt),
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
  response: page(noticeResponse),
  run: (call) => pageOfNotices(call, call.query['unread'] === 'true', show),
})

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

const choice = namedSchema('NoticeChoice', {
  kind: t.String(),
  when: described(t.String(), 'Completes "Mail me when …".'),
  mail: t.Boolean(),
  mayTurnOff: described(t.Boolean(), 'False where whoever misses its mail loses something.'),
})
const mailsResponse = t.Object({ kinds: t.Array(choice) })

/** The kinds of notices that an account of this kind can get, by name. */
const declaredFor = (registry: Registry, kind: string) =>
  registry.features.flatMap(({ notices = {} }) =>
    Object.entries(notices).filter(([, { kinds }]) => (kinds as readonly string[]).includes(kind)),
  )

type Holder = Pick<ReadContext, 'tx' | 'actor' | 'registry'>
function mailsOf({ tx, actor, registry }: Holder): Static<typeof mailsResponse> {
  const off = kindsWithoutMail(tx, actor.accountId)
  return {
    kinds: declaredFor(registry, actor.kind).map(([kind, { when, mail }]) => ({
      kind,
      when,
      mail: !off.includes(kind),
      mayTurnOff: mail === 'optional',
    })),
  }
}

export const getNoticeMails = operation({
  id: 'notices.mails',
  method: 'GET',
  path: '/account/notice-mails',
  summary: 'Which notices the own account also gets by mail',
  access: everybody('account:read'),
  response: mailsResponse,
  run: mailsOf,
})

export const setNoticeMails = operation({
  id: 'notices.set-mails',
  method: 'PUT',
  path: '/account/notice-mails',
  summary: 'Choose which notices the own account also gets by mail; those that cannot be turned off always come',
  past: 'Chose which notices come by mail',
  access: everybody('account:write'),
  body: fields({ kinds: t.Array(t.String({ maxLength: 64 }), { maxItems: 100 }) }),
  response: mailsResponse,
  example: { kinds: ['server_ready'] },
  run(call) {
    const { tx, actor, registry, body } = call
    const all = declaredFor(registry, actor.kind)
    if (body.kinds.some((kind) => !all.some(([name]) => name === kind)))
      throw invalid({ field: 'kinds', message: 'names a kind of notice that you do not get. GET lists them.' })
    const off = all.flatMap(([kind, { mail }]) => (mail === 'optional' && !body.kinds.includes(kind) ? [kind] : []))
    setWithoutMail(tx, actor.accountId, off)
    return mailsOf(call)
  },
})
