// API tokens: `pnl_` + 43 characters of 32 random bytes + 6 of checksum. Only SHA-256 is stored.
import { eq } from 'drizzle-orm'
import ipaddr from 'ipaddr.js'
import { Type as t } from 'typebox'
import { accountByEmail } from '../accounts/account.ts'
import type { Account } from '../accounts/tables.ts'
import { isScope, presets, type Scope, scopes } from '../kernel/api/access.ts'
import { invalid, Refusal } from '../kernel/api/errors.ts'
import { fields, line, operation } from '../kernel/api/operation.ts'
import { newId } from '../kernel/db/ids.ts'
import type { Tx } from '../kernel/db/open.ts'
import { digest, randomToken } from '../kernel/secrets.ts'
import { tokens } from './tables.ts'

const TOKENS_PER_ACCOUNT = 50

/** The checksum lets a client or a leak scanner tell a token from a look-alike without asking us. */
function newToken() {
  const random = randomToken()
  return `pnl_${random}${Buffer.from(digest(random), 'hex').toString('base64url').slice(0, 6)}`
}

type Wanted = { name: string; scopes: readonly Scope[]; allow: readonly string[]; expiresAt: number | null }

/** Answers the token itself, once. Throws `limit_reached`. */
export function makeToken(
  tx: Tx,
  account: Account,
  { name, scopes, allow, expiresAt }: Wanted,
  now: number,
): { id: string; token: string } {
  const held = tx.select({ id: tokens.id }).from(tokens).where(eq(tokens.accountId, account.id)).all().length
  if (held >= TOKENS_PER_ACCOUNT)
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

/** `10.0.0.1` is `10.0.0.1/32`. Throws `validation_failed`. */
export function allowFrom(list: readonly string[]): string[] {
  return list.map((text) => {
    const cidr = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`
    if (!ipaddr.isValidCIDR(cidr))
      throw invalid({ field: 'allow', message: 'must be addresses or CIDRs like 203.0.113.7 or 2001:db8::/48.' })
    return cidr
  })
}

export const grantToken = operation({
  id: 'tokens.grant',
  method: 'POST',
  path: '/admin/tokens',
  summary: 'Make an API token for an account; the token is answered this one time only',
  access: { staff: ['staff.write'] },
  inPerson: true,
  body: fields({
    account: t.String({ maxLength: 254 }),
    name: line(100),
    preset: t.Optional(t.Enum(['billing', 'reseller-billing'])),
    scopes: t.Optional(t.Array(t.String({ maxLength: 40 }), { maxItems: 60 })),
    allow: t.Optional(t.Array(t.String({ maxLength: 49 }), { maxItems: 50 })),
  }),
  answer: t.Object({ id: t.String(), token: t.String(), scopes: t.Array(t.String()) }),
  status: 201,
  refuses: ['limit_reached'],
  example: { account: 'ada@example.com', name: 'Billing', preset: 'billing' },
  run({ tx, body, clock }) {
    const account = accountByEmail(tx, body.account)
    if (!account) throw invalid({ field: 'account', message: 'No account has this e-mail address.' })
    if (!body.preset === !body.scopes) throw invalid({ field: 'scopes', message: 'Say either a preset or scopes.' })
    const wanted: readonly string[] = body.preset ? presets[body.preset as keyof typeof presets] : (body.scopes ?? [])
    const unknown = wanted.find((s) => !isScope(s))
    if (unknown !== undefined)
      throw invalid({ field: 'scopes', message: `has one that does not exist. There are: ${Object.keys(scopes).join(', ')}.` })
    const made = makeToken(
      tx,
      account,
      { name: body.name, scopes: wanted.filter(isScope), allow: allowFrom(body.allow ?? []), expiresAt: null },
      clock(),
    )
    return { ...made, scopes: [...wanted] }
  },
})
