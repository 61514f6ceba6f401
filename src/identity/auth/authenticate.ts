// From a request's credentials to the actor. It reads the rows of every call anew: a revoked token ends at once.

import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import type { Sender } from '../../kernel/api/http.ts'
import { digest } from '../../kernel/crypto/secrets.ts'
import { minute } from '../../kernel/db/clock.ts'
import { type Db, writeIfPossible, writeUnflushed } from '../../kernel/db/open.ts'
import { inside } from '../../kernel/net/cidr.ts'
import type { Account } from '../account-records/model.ts'
import { accountById } from '../account-records/queries.ts'
import { roleOf } from '../account-records/roles/role.ts'
import { uiPreferencesOf } from '../account-records/ui-preferences.ts'
import { tokenByHash } from '../tokens/queries.ts'
import type { TokenUses } from '../tokens/uses.ts'
import type { Held, HeldRights } from './held-rights.ts'
import { lacksSecondFactor } from './second-factors/second-factors.ts'
import { cookieFrom } from './sessions/cookies.ts'
import { markSeen, SEEN_EVERY_MS, type Session, sessionFrom } from './sessions/sessions.ts'

const nobody: Sender = { actor: undefined, limitKey: '' }

type Credentials = {
  rights: HeldRights
  uses: TokenUses
  request: Request
  origin: string
  now: number
  /** The caller's address. */
  info: { readonly from: string }
  /** Pages are for people: a token does not open them. */
  onPage: boolean
}

/** A token goes before a cookie, which is ignored beside it. Throws `invalid_token`. */
export function authenticate(db: Db, { rights, uses, request, origin, now, info, onPage }: Credentials): Sender {
  const header = onPage ? null : request.headers.get('Authorization')
  if (header !== null) return tokenSender(db, { rights, uses, now, info }, header)
  const cookie = cookieFrom(request, origin)
  const session = cookie ? sessionFrom(db, cookie, now) : undefined
  // A page that refreshes itself every few seconds is no activity of a person.
  const isRefresh = request.method === 'GET' && request.headers.get('HX-Request') === 'true'
  return session ? sessionSender(db, rights, session, now, !isRefresh) : nobody
}

function sessionSender(db: Db, rights: HeldRights, session: Session, now: number, isActivity: boolean): Sender {
  const account = accountById(db, session.accountId)
  if (!account) return nobody
  if (isActivity && now - session.seenAt > SEEN_EVERY_MS)
    writeIfPossible(db, (tx) => markSeen(tx, session, now), writeUnflushed)
  const role = roleOf(db, account)
  const held = rights.of(account.kind, role)
  const { id: sessionId, confirmedAt } = session
  // Support sessions too: the second factor of one's own account is required in another's.
  const lacks = lacksSecondFactor(db, account, role, now)
  const supported = supportedAccount(db, session, held, now)
  return {
    actor: supported
      ? actorOf(
          supported,
          rights.of(supported.kind, undefined),
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
      : {
          ...actorOf(account, held, { type: 'session', sessionId, confirmedAt }, lacks),
          ...(role?.isOwner && { isOwner: true }),
        },
    browser: { csrf: session.csrf, uiPreferences: uiPreferencesOf(account) },
    limitKey: account.id,
  }
}

/** The account of a support session. Checked at every call, because the permission may be gone and the hour over. */
function supportedAccount(db: Db, session: Session, { permissions }: Held, now: number): Account | undefined {
  if (!session.supportOf || session.supportUntil! <= now || !permissions.has('support_session')) return undefined
  return accountById(db, session.supportOf)
}

type TokenContext = Pick<Credentials, 'rights' | 'uses' | 'now' | 'info'>
function tokenSender(db: Db, { rights, uses, now, info }: TokenContext, header: string): Sender {
  const token = /^Bearer (pnl_[A-Za-z0-9_-]{20,100})$/i.exec(header)?.[1]
  const row = token ? tokenByHash(db, digest(token), now) : undefined
  if (!row || row.disabledAt !== null || (row.expiresAt !== null && row.expiresAt <= now))
    throw new ApiError(
      'invalid_token',
      'This token is not valid: it may have expired or been revoked. Create a new one under API tokens.',
    )
  // Limited to the rights that its maker has now, not to those at the time it was made.
  const held = rights.ofToken(row)
  const maker = { id: row.accountId, kind: row.kind, name: row.accountName }
  const allow = row.allow === '[]' ? undefined : (JSON.parse(row.allow) as string[])
  return {
    // A second factor that the role requires is asked of people: a token has none, and programs run on.
    actor: actorOf(maker, held, { type: 'token', tokenId: row.id, tokenName: row.name }, false),
    limitKey: row.id,
    // At most once a minute: a read costs a flush to disk by it.
    used() {
      if (row.usedAt === null || now - row.usedAt > minute) uses.add(row.id, now, info.from)
    },
    ...(allow ? { allowed: (address: string) => inside(address, allow) } : {}),
  }
}

type Named = Pick<Account, 'id' | 'kind' | 'name'>
const actorOf = (account: Named, { permissions, scopes }: Held, via: Actor['via'], lacks: boolean): Actor => ({
  accountId: account.id,
  kind: account.kind,
  name: account.name,
  permissions,
  scopes,
  via,
  ...(lacks && { lacksSecondFactor: true }),
})
