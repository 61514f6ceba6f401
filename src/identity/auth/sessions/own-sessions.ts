// The own sessions: listing and ending them.

import { Type as t } from 'typebox'
import { everybody } from '../../../kernel/api/access.ts'
import { sessionOf } from '../../../kernel/api/actor.ts'
import { page, paginateAll } from '../../../kernel/api/list.ts'
import { done, operation, type Resource, time } from '../../../kernel/api/operation.ts'
import { iso } from '../../../kernel/db/clock.ts'
import { deviceIn } from './device.ts'
import { ownSession, type SessionRow, sessionsOf } from './queries.ts'
import { endSession, endSessionsOf, isExpired } from './sessions.ts'

const session: Resource<SessionRow> = {
  name: 'session',
  notFound: 'session_not_found',
  find: ownSession,
}

export const listSessions = operation({
  id: 'sessions.list',
  method: 'GET',
  path: '/account/sessions',
  summary: 'Where the own account is signed in now, the newest sign-in first',
  access: everybody('account:read'),
  requiresSession: true,
  withoutSecondFactor: true,
  response: page(
    t.Object({
      id: t.String(),
      device: t.String(),
      from: t.String(),
      createdAt: time,
      seenAt: time,
      current: t.Boolean(),
    }),
  ),
  run(call) {
    const { tx, actor, clock } = call
    const here = sessionOf(actor)?.sessionId
    const open = sessionsOf(tx, actor.accountId)
    return paginateAll({
      call,
      name: 'sessions',
      all: open.filter((s) => !isExpired({ ...s, kind: actor.kind }, clock())),
      order: 'newest',
      keyOf: (s) => s.id,
      show: (s) => ({
        id: s.id,
        device: deviceIn(s.userAgent),
        from: s.from,
        createdAt: iso(s.createdAt),
        seenAt: iso(s.seenAt),
        current: s.id === here,
      }),
    })
  },
})

export const endOneSession = operation({
  id: 'sessions.end-one',
  destroys: [],
  method: 'DELETE',
  path: '/account/sessions/{id}',
  summary: 'End one of the own sessions; its next call is refused',
  past: 'Ended a session',
  access: everybody('account:write'),
  requiresSession: true,
  withoutSecondFactor: true,
  on: session,
  response: done,
  run({ tx, target }) {
    endSession(tx, target.id)
    return {}
  },
})

export const endOtherSessions = operation({
  id: 'sessions.end-others',
  destroys: [],
  method: 'DELETE',
  path: '/account/sessions',
  summary: 'End every session of the own account but this one',
  past: 'Ended all other sessions',
  access: everybody('account:write'),
  requiresSession: true,
  requiresRecentAuth: true,
  withoutSecondFactor: true,
  response: done,
  run({ tx, actor }) {
    endSessionsOf(tx, actor.accountId, sessionOf(actor)?.sessionId)
    return {}
  },
})
