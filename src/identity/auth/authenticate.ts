// From a request's credentials to the actor who asks. Asked on every call; nothing is kept between two.

import { type Permission, type Rights, type Scope, scopesOf } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import type { Sender } from '../../kernel/api/http.ts'
import { digest } from '../../kernel/crypto/secrets.ts'
import { minute } from '../../kernel/db/clock.ts'
import { type Db, write } from '../../kernel/db/open.ts'
import { inside } from '../../kernel/net/cidr.ts'
import type { Account } from '../accounts/model.ts'
import { accountById } from '../accounts/model.ts'
import { permissionsOf } from '../accounts/staff/role.ts'
import { looksOf } from '../accounts/ui-preferences.ts'
import { markTokenUsed, tokenByHash } from '../tokens/queries.ts'
import { cookieFrom } from './cookies.ts'
import { lacksSecondFactor } from './second-factors/second-factors.ts'
import { markSeen, SEEN_EVERY_MS, type Session, sessionFrom } from './sessions.ts'

const nobody: Sender = { actor: undefined, limitKey: '' }

type RequestContext = {
  rights: Rights
  request: Request
  origin: string
  now: number
  from: string
  /** A page is for a person: a token in a header does not open it. */
  onPage: boolean
}

/** A token decides when there is one; the cookie beside it is ignored. Throws `invalid_token`. */
export function authenticate(db: Db, { rights, request, origin, now, from, onPage }: RequestContext): Sender {
  const header = onPage ? null : request.headers.get('Authorization')
  if (header !== null) return tokenSender(db, rights, header, now, from)
  const cookie = cookieFrom(request, origin)
  const session = cookie ? sessionFrom(db, cookie, now) : undefined
  // A page that asks for itself every few seconds is not a person at the keyboard.
  const byItself = request.method === 'GET' && request.headers.get('HX-Request') === 'true'
  return session ? sessionSender(db, rights, session, now, !byItself) : nobody
}

function sessionSender(db: Db, rights: Rights, session: Session, now: number, counts: boolean): Sender {
  const account = accountById(db, session.accountId)
  if (!account) return nobody
  if (counts && now - session.seenAt > SEEN_EVERY_MS) write(db, (tx) => markSeen(tx, session, now))
  const permissions = permissionsOf(db, rights, account)
  const { id: sessionId, confirmedAt } = session
  // Also while in somebody else's account: what is not set up here is not skipped there.
  const lacks = lacksSecondFactor(db, account)
  const helped = supported(db, session, permissions, now)
  return {
    actor: helped
      ? actorOf(
          helped,
          [],
          scopesOf(rights, helped.kind),
          {
            type: 'support',
            sessionId,
            confirmedAt,
            staffId: account.id,
            staffName: account.name,
            until: session.supportUntil!,
          },
          lacks,
        )
      : actorOf(
          account,
          permissions,
          scopesOf(rights, account.kind, permissions),
          { type: 'session', sessionId, confirmedAt },
          lacks,
        ),
    browser: { csrf: session.csrf, uiPreferences: looksOf(account) },
    limitKey: account.id,
  }
}

/** In whose account a support session is: asked each time, since the right to it may be gone, and its hour over. */
function supported(db: Db, session: Session, permissions: readonly Permission[], now: number): Account | undefined {
  if (!session.supportOf || session.supportUntil! <= now || !permissions.includes('support_session')) return undefined
  return accountById(db, session.supportOf)
}

function tokenSender(db: Db, rights: Rights, header: string, now: number, from: string): Sender {
  const token = /^Bearer (pnl_[A-Za-z0-9_-]{20,100})$/i.exec(header)?.[1]
  const row = token ? tokenByHash(db, digest(token), now) : undefined
  const account = row ? accountById(db, row.accountId) : undefined
  if (!row || !account || account.disabledAt !== null || (row.expiresAt !== null && row.expiresAt <= now))
    throw new ApiError(
      'invalid_token',
      'This token is not valid: it may have expired or been revoked. Make a new one under API tokens.',
    )
  // Cut to what its maker may do now, not to what he might when he made it.
  const permissions = permissionsOf(db, rights, account)
  const theirs = scopesOf(rights, account.kind, permissions)
  const scopes = new Set((JSON.parse(row.scopes) as Scope[]).filter((name) => theirs.has(name)))
  const allow = row.allow === '[]' ? undefined : (JSON.parse(row.allow) as string[])
  return {
    actor: actorOf(
      account,
      permissions,
      scopes,
      { type: 'token', tokenId: row.id, tokenName: row.name },
      lacksSecondFactor(db, account),
    ),
    limitKey: row.id,
    // Once a minute, from wherever: a use is worth knowing, a disk flush per read is not worth paying.
    used() {
      if (row.usedAt === null || now - row.usedAt > minute) write(db, (tx) => markTokenUsed(tx, row.id, now, from))
    },
    ...(allow ? { allowed: (address: string) => inside(address, allow) } : {}),
  }
}

const actorOf = (
  account: Account,
  permissions: readonly Permission[],
  scopes: ReadonlySet<Scope>,
  via: Actor['via'],
  lacks: boolean,
): Actor => ({
  accountId: account.id,
  kind: account.kind,
  name: account.name,
  permissions: new Set(permissions),
  scopes,
  via,
  ...(lacks && { lacksSecondFactor: true }),
})
