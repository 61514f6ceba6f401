// Support sessions: a member of staff works in a customer's or reseller's account, for a reason and for an hour,
// audited as both. It is the same session under a new token, so its end leads back to the own account.

import { Type as t } from 'typebox'
import { everybody } from '../../../kernel/api/access.ts'
import { done, fields, operation, reasonText, time } from '../../../kernel/api/operation.ts'
import { hour, iso } from '../../../kernel/db/clock.ts'
import { homeOf } from '../../account-records/areas.ts'
import { customer } from '../../account-records/model.ts'
import { sessionCookie } from './cookies.ts'
import { ownSessionId, rotateSession, SESSION_SECONDS } from './sessions.ts'

/** It ends by itself: last week's request for help opens nothing today. */
export const SUPPORT_MS = hour

export const openSupport = operation({
  id: 'support.open',
  method: 'POST',
  path: '/customers/{id}/support-session',
  summary: "Work in a customer's account for up to 60 minutes; the reason and every change are in the audit log",
  past: 'Opened a support session',
  access: { staff: ['support_session'] },
  requiresSession: true,
  requiresRecentAuth: true,
  on: customer,
  body: fields({ reason: reasonText(500) }),
  response: t.Object({ accountId: t.String(), until: time, home: t.String() }),
  status: 201,
  example: { reason: 'Ticket 4711: the server does not start' },
  run({ tx, actor, target, body, clock, config, setCookie }) {
    const until = clock() + SUPPORT_MS
    const value = rotateSession(tx, ownSessionId(actor), {
      supportOf: target.id,
      supportReason: body.reason,
      supportUntil: until,
    })
    setCookie(sessionCookie(config.origin, value, SESSION_SECONDS))
    return { accountId: target.id, until: iso(until), home: homeOf(target.kind) }
  },
})

export const closeSupport = operation({
  id: 'support.close',
  destroys: [],
  method: 'DELETE',
  path: '/support-session',
  summary: 'Leave the account that a support session is in',
  past: 'Ended a support session',
  access: everybody('account:read'),
  requiresSession: true,
  allowedInSupportSession: true,
  withoutSecondFactor: true,
  response: done,
  run({ tx, actor, config, setCookie }) {
    const value = rotateSession(tx, ownSessionId(actor), { supportOf: null, supportReason: null, supportUntil: null })
    setCookie(sessionCookie(config.origin, value, SESSION_SECONDS))
    return {}
  },
})
