// API tokens: `pnl_` + 43 random letters and digits + 6 of checksum. Only SHA-256 is stored.
import { Type as t } from 'typebox'
import type { Rights, Scope } from '../../kernel/api/access.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { type Call, timeFrom } from '../../kernel/api/operation.ts'
import { digest, randomToken, tokenChecksum } from '../../kernel/crypto/secrets.ts'
import { day } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { type MailContext, mailTo } from '../../kernel/mail/mail.ts'
import { isCidr } from '../../kernel/net/cidr.ts'
import type { Account } from '../account-records/model.ts'
import { presets } from './presets.ts'
import { countTokens, insertToken } from './queries.ts'

/** 50 tokens an account; a revoked one does not count. */
const TOKENS_PER_ACCOUNT = 50
/** A forgotten token expires by itself. */
export const USUAL_LIFE_MS = 365 * day
/** For this long the old value of a rotated token is accepted beside the new one, to replace it everywhere. */
export const USUAL_OVERLAP_HOURS = 24

const CHECKSUM_LENGTH = 6
/** The checksum lets a client or a leak scanner tell a token from a look-alike without asking us. */
export function newToken() {
  const random = randomToken()
  return `pnl_${random}${tokenChecksum(random, CHECKSUM_LENGTH)}`
}

type Wanted = { name: string; scopes: readonly Scope[]; allow: readonly string[]; expiresAt: number | null }

/** Returns the token's value, which is stored nowhere. Throws `limit_reached`. */
export function makeToken(
  tx: Tx,
  account: Account,
  { name, scopes, allow, expiresAt }: Wanted,
  now: number,
): { id: string; token: string } {
  if (countTokens(tx, account.id) >= TOKENS_PER_ACCOUNT)
    throw new ApiError(
      'limit_reached',
      `An account has at most ${TOKENS_PER_ACCOUNT} tokens. Revoke one that is not used.`,
    )
  const token = newToken()
  const id = newId('tok')
  insertToken(tx, {
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
  return { id, token }
}

/** `Servers: read, power`, one line for each thing that scopes are about. */
const scopeLines = (scopes: readonly Scope[]): string[] =>
  [...Map.groupBy(scopes, (scope) => scope.split(':')[0]!)].map(
    ([of, theirs]) =>
      `${of[0]!.toUpperCase()}${of.slice(1).replaceAll('-', ' ')}: ` +
      theirs
        .map((scope) =>
          scope
            .split(':')[1]!
            .replaceAll('-', ' ')
            .replace(/^write$/, 'change'),
        )
        .join(', '),
  )

/** Mails the account's holder: a token acts as the account without any further check. */
const tell = (
  tx: Tx,
  call: MailContext & Pick<Call, 'registry'>,
  account: Account,
  { name, scopes }: Pick<Wanted, 'name' | 'scopes'>,
) =>
  mailTo(tx, call, account, {
    subject: 'An API token was created for your account',
    paragraphs: [
      `It is called ${name}. Programs that use it may do the following in your name:`,
      ...scopeLines(scopes),
    ],
    button: { words: 'See your tokens', path: '/account/api' },
    closing: 'If this was not you, revoke it there at once and choose a new password.',
  })

/** `10.0.0.1` is `10.0.0.1/32`. Throws `validation_failed`. */
export function allowFrom(list: readonly string[]): string[] {
  return list.map((text) => {
    const cidr = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`
    if (!isCidr(cidr))
      throw invalid({ field: 'allow', message: 'must be addresses or CIDRs like 203.0.113.7 or 2001:db8::/48.' })
    return cidr
  })
}

export const asked = {
  preset: t.Optional(t.Enum(Object.keys(presets) as (keyof typeof presets)[])),
  scopes: t.Optional(t.Array(t.String({ maxLength: 40 }), { maxItems: 60 })),
  allow: t.Optional(t.Array(t.String({ maxLength: 49 }), { maxItems: 50 })),
}

/** A preset or a list, not both. Throws `validation_failed`, also for a scope that does not exist. */
function scopesFrom(
  { scopes }: Rights,
  { preset, scopes: list = [] }: { preset?: keyof typeof presets; scopes?: readonly string[] },
): Scope[] {
  if (!preset === !list.length) throw invalid({ field: 'scopes', message: 'or a preset is required, and not both.' })
  const wanted: readonly string[] = preset ? presets[preset] : list
  if (!wanted.every((name) => Object.hasOwn(scopes, name)))
    throw invalid({
      field: 'scopes',
      message: `names one that does not exist. These exist: ${Object.keys(scopes).join(', ')}.`,
    })
  return [...new Set(wanted as readonly Scope[])]
}

/** Absent: in a year; null: never. Throws `validation_failed` for a time in the past. */
function expiryFrom(text: string | null | undefined, now: number): number | null {
  if (text === null) return null
  if (text === undefined) return now + USUAL_LIFE_MS
  const at = timeFrom('expiresAt', text)
  if (!(at > now)) throw invalid({ field: 'expiresAt', message: 'must be in the future.' })
  return at
}

type Given = {
  name: string
  preset?: keyof typeof presets
  scopes?: readonly string[]
  allow?: readonly string[]
  expiresAt?: string | null
}
/** Makes the token and mails the account's holder. Throws `validation_failed` and `limit_reached`. */
export function giveToken({ tx, ...app }: MailContext & Pick<Call, 'tx' | 'registry'>, account: Account, given: Given) {
  const scopes = scopesFrom(app.registry, given)
  const now = app.clock()
  const expiresAt = expiryFrom(given.expiresAt, now)
  const wanted = { name: given.name, scopes, allow: allowFrom(given.allow ?? []), expiresAt }
  const made = makeToken(tx, account, wanted, now)
  tell(tx, app, account, wanted)
  return { ...made, scopes, expiresAt }
}
