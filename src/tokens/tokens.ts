// API tokens: `pnl_` + 43 characters of 32 random bytes + 6 of checksum. Only SHA-256 is stored.
import { and, count, eq, isNull } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { accountByEmail, accountById } from '../accounts/account.ts'
import type { Account } from '../accounts/tables.ts'
import { allScopes, everybody, isScope, presets, type Scope } from '../kernel/api/access.ts'
import { invalid, Refusal } from '../kernel/api/errors.ts'
import { newest, page } from '../kernel/api/list.ts'
import { type Call, done, fields, line, nullable, operation, type Resource, shape, time, timeFrom } from '../kernel/api/operation.ts'
import { isCidr } from '../kernel/cidr.ts'
import { day, hour, iso, isoOrNull } from '../kernel/db/clock.ts'
import { newId } from '../kernel/db/ids.ts'
import type { Db, Tx } from '../kernel/db/open.ts'
import { digest, randomToken } from '../kernel/secrets.ts'
import { mailTo } from '../kernel/web/mail.ts'
import { tokens } from './tables.ts'

type Token = typeof tokens.$inferSelect

/** 50 tokens an account; a revoked one does not count. */
const TOKENS_PER_ACCOUNT = 50
/** A token that nobody thinks of any more ends by itself. */
export const USUAL_LIFE_MS = 365 * day
/** How long the value before a rotation is accepted beside the new one: time to put it everywhere. */
export const USUAL_OVERLAP_HOURS = 24

/** The checksum lets a client or a leak scanner tell a token from a look-alike without asking us. */
function newToken() {
  const random = randomToken()
  return `pnl_${random}${Buffer.from(digest(random), 'hex').toString('base64url').slice(0, 6)}`
}

/** An account's tokens that are not revoked. */
const heldBy = (accountId: string) => and(eq(tokens.accountId, accountId), isNull(tokens.revokedAt))
const countOf = (tx: Db, accountId: string) => tx.select({ n: count() }).from(tokens).where(heldBy(accountId)).get()!.n

type Wanted = { name: string; scopes: readonly Scope[]; allow: readonly string[]; expiresAt: number | null }

/** Answers the token itself, once. Throws `limit_reached`. */
export function makeToken(
  tx: Tx,
  account: Account,
  { name, scopes, allow, expiresAt }: Wanted,
  now: number,
): { id: string; token: string } {
  if (countOf(tx, account.id) >= TOKENS_PER_ACCOUNT)
    throw new Refusal('limit_reached', `An account has at most ${TOKENS_PER_ACCOUNT} tokens. Revoke one that is not used.`)
  const token = newToken()
  const id = newId('token')
  tx.insert(tokens)
    .values({
      id,
      tokenHash: digest(token),
      accountId: account.id,
      name,
      ending: token.slice(-4),
      scopes: [...scopes],
      allow: [...allow],
      createdAt: now,
      expiresAt,
    })
    .run()
  return { id, token }
}

/** A token acts as its account without asking for anything: its holder reads of each that is made. */
const tell = (
  tx: Tx,
  call: Pick<Call, 'secrets' | 'clock' | 'config'>,
  account: Account,
  { name, scopes }: Pick<Wanted, 'name' | 'scopes'>,
) =>
  mailTo(tx, call, account, {
    subject: 'An API token was made for your account',
    paragraphs: [`It is called ${name}, and programs that have it may do this in your name: ${scopes.join(', ')}.`],
    button: { words: 'See your tokens', path: '/account/api' },
    closing: 'If it was not you, revoke it there at once and choose a new password.',
  })

/** All that an account has, at once and for good. */
export const revokeTokensOf = (tx: Tx, accountId: string, now: number) =>
  void tx.update(tokens).set({ revokedAt: now }).where(heldBy(accountId)).run()

/** `10.0.0.1` is `10.0.0.1/32`. Throws `validation_failed`. */
export function allowFrom(list: readonly string[]): string[] {
  return list.map((text) => {
    const cidr = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`
    if (!isCidr(cidr)) throw invalid({ field: 'allow', message: 'must be addresses or CIDRs like 203.0.113.7 or 2001:db8::/48.' })
    return cidr
  })
}

const asked = {
  preset: t.Optional(t.Enum(Object.keys(presets) as (keyof typeof presets)[])),
  scopes: t.Optional(t.Array(t.String({ maxLength: 40 }), { maxItems: 60 })),
  allow: t.Optional(t.Array(t.String({ maxLength: 49 }), { maxItems: 50 })),
}

/** A preset or a list, not both. Throws `validation_failed`, also for a scope that does not exist. */
function scopesFrom({ preset, scopes: list = [] }: { preset?: keyof typeof presets; scopes?: readonly string[] }): Scope[] {
  if (!preset === !list.length) throw invalid({ field: 'scopes', message: 'or a preset is required, and not both.' })
  const wanted: readonly string[] = preset ? presets[preset] : list
  if (!wanted.every(isScope))
    throw invalid({ field: 'scopes', message: `has one that does not exist. These exist: ${[...allScopes].join(', ')}.` })
  return [...new Set(wanted as readonly Scope[])]
}

export const grantToken = operation({
  id: 'tokens.grant',
  method: 'POST',
  path: '/admin/tokens',
  summary: 'Make an API token for any account; the token is shown only once',
  access: {},
  onHost: true,
  body: fields({
    account: t.String({ maxLength: 254 }),
    name: line(100),
    ...asked,
    expiresAt: t.Optional(nullable(time)),
  }),
  answer: t.Object({ id: t.String(), token: t.String(), scopes: t.Array(t.String()) }),
  status: 201,
  refuses: ['limit_reached'],
  example: { account: 'ada@example.com', name: 'Billing', preset: 'billing' },
  run(call) {
    const { tx, body, clock } = call
    const account = accountByEmail(tx, body.account)
    if (!account) throw invalid({ field: 'account', message: 'No account has this e-mail address.' })
    const scopes = scopesFrom(body)
    const now = clock()
    // For a program that nobody watches: without a word about it, it must not stop one day.
    const expiresAt = expiryFrom(body.expiresAt ?? null, now)
    const made = makeToken(tx, account, { name: body.name, scopes, allow: allowFrom(body.allow ?? []), expiresAt }, now)
    tell(tx, call, account, { name: body.name, scopes })
    return { ...made, scopes }
  },
})

/** Own ones only, for staff too: whose token it is, acts by it. A revoked one is gone for everybody. */
const token: Resource<Token> = {
  name: 'token',
  notFound: 'token_not_found',
  find: (tx, actor, id) =>
    tx
      .select()
      .from(tokens)
      .where(and(eq(tokens.id, id), heldBy(actor.accountId)))
      .get(),
}

const changes = everybody('account:write')

export const createToken = operation({
  id: 'tokens.create',
  method: 'POST',
  path: '/account/tokens',
  summary: 'Make a token for the own account; it is shown only once',
  access: changes,
  inPerson: true,
  confirmed: true,
  body: fields({ name: line(100), ...asked, expiresAt: t.Optional(nullable(time)) }),
  answer: t.Object({ id: t.String(), token: t.String(), scopes: t.Array(t.String()), expiresAt: nullable(time) }),
  status: 201,
  refuses: ['scope_not_allowed', 'forbidden', 'limit_reached'],
  grants: ({ preset, scopes }) => [
    ...(preset && Object.hasOwn(presets, preset) ? presets[preset] : []),
    ...(Array.isArray(scopes) ? scopes : []),
  ],
  example: { name: 'Monitoring', scopes: ['servers:read'], allow: ['203.0.113.7'] },
  run(call) {
    const { tx, actor, body, clock } = call
    const account = accountById(tx, actor.accountId)
    if (!account) throw new Refusal('forbidden', 'System needs no token. tokens.grant makes one for an account.')
    const scopes = scopesFrom(body)
    const now = clock()
    const expiresAt = expiryFrom(body.expiresAt, now)
    const made = makeToken(tx, account, { name: body.name, scopes, allow: allowFrom(body.allow ?? []), expiresAt }, now)
    tell(tx, call, account, { name: body.name, scopes })
    return { ...made, scopes, expiresAt: isoOrNull(expiresAt) }
  },
})

/** Nothing said: a year. Null: never. Throws `validation_failed` for what is past. */
function expiryFrom(text: string | null | undefined, now: number): number | null {
  if (text === null) return null
  if (text === undefined) return now + USUAL_LIFE_MS
  const at = timeFrom('expiresAt', text)
  if (!(at > now)) throw invalid({ field: 'expiresAt', message: 'must be in the future.' })
  return at
}

export const listTokens = operation({
  id: 'tokens.list',
  method: 'GET',
  path: '/account/tokens',
  summary: 'The own tokens, without their values: when and from where each was last used',
  access: everybody('account:read'),
  inPerson: true,
  pages: { usual: 50, most: 100 },
  answer: page(
    shape('Token', {
      id: t.String(),
      name: t.String(),
      ending: t.String(),
      scopes: t.Array(t.String()),
      allow: t.Array(t.String()),
      createdAt: time,
      expiresAt: nullable(time),
      previousUntil: nullable(time),
      usedAt: nullable(time),
      usedFrom: nullable(t.String()),
    }),
  ),
  run(call) {
    const { actor } = call
    const now = call.clock()
    const own = heldBy(actor.accountId)
    return newest({
      call,
      name: 'tokens',
      table: tokens,
      where: own,
      show: ({ id, name, ending, scopes, allow, createdAt, expiresAt, previousUntil, usedAt, usedFrom }) => ({
        id,
        name,
        ending,
        scopes,
        allow,
        createdAt: iso(createdAt),
        expiresAt: isoOrNull(expiresAt),
        previousUntil: previousUntil !== null && previousUntil > now ? iso(previousUntil) : null,
        usedAt: isoOrNull(usedAt),
        usedFrom,
      }),
    })
  },
})

/** How long a rotated token's old value may go on. */
export const MOST_OVERLAP_HOURS = 7 * 24
export const rotateToken = operation({
  id: 'tokens.rotate',
  method: 'POST',
  path: '/tokens/{id}/actions/rotate',
  summary: 'Rotate a token: a new value, shown only once; the old one is accepted a while longer',
  access: changes,
  inPerson: true,
  confirmed: true,
  on: token,
  body: fields({ overlapHours: t.Optional(t.Integer({ minimum: 0, maximum: MOST_OVERLAP_HOURS })) }),
  answer: t.Object({ id: t.String(), token: t.String(), previousUntil: nullable(time), expiresAt: nullable(time) }),
  refuses: ['not_possible'],
  example: { overlapHours: 24 },
  run({ tx, target, body, clock }) {
    const now = clock()
    if (target.expiresAt !== null && target.expiresAt <= now)
      throw new Refusal('not_possible', 'This token has expired, and a new value would not change that. Make a new token.')
    const { overlapHours = USUAL_OVERLAP_HOURS } = body
    const value = newToken()
    const previousUntil = overlapHours ? now + overlapHours * hour : null
    tx.update(tokens)
      .set({
        tokenHash: digest(value),
        ending: value.slice(-4),
        previousHash: overlapHours ? target.tokenHash : null,
        previousUntil,
      })
      .where(eq(tokens.id, target.id))
      .run()
    return { id: target.id, token: value, previousUntil: isoOrNull(previousUntil), expiresAt: isoOrNull(target.expiresAt) }
  },
})

export const revokeToken = operation({
  id: 'tokens.revoke',
  method: 'DELETE',
  path: '/tokens/{id}',
  summary: 'Revoke a token at once, also its previous value',
  access: changes,
  inPerson: true,
  on: token,
  answer: done,
  run({ tx, target, clock }) {
    tx.update(tokens).set({ revokedAt: clock() }).where(eq(tokens.id, target.id)).run()
    return {}
  },
})
