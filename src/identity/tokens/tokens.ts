import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import {
  done,
  fields,
  line,
  namedSchema,
  nullable,
  operation,
  type Resource,
  time,
} from '../../kernel/api/operation.ts'
import { digest } from '../../kernel/crypto/secrets.ts'
import { hour, iso, isoOrNull } from '../../kernel/db/clock.ts'
import { accountByEmail, accountById } from '../account-records/queries.ts'
import { asked, giveToken, newToken, USUAL_OVERLAP_HOURS } from './model.ts'
import { presets } from './presets.ts'
import { ownToken, pageOfTokens, type Token, updateToken } from './queries.ts'

export const grantToken = operation({
  id: 'tokens.grant',
  method: 'POST',
  path: '/admin/tokens',
  summary: 'Create an API token for any account; the token is shown only once',
  past: 'Created an API token',
  access: {},
  localOnly: true,
  body: fields({
    account: t.String({ maxLength: 254 }),
    name: line(100),
    ...asked,
    expiresAt: t.Optional(nullable(time)),
  }),
  response: t.Object({ id: t.String(), token: t.String(), scopes: t.Array(t.String()) }),
  status: 201,
  refuses: ['limit_reached'],
  example: { account: 'ada@example.com', name: 'Billing', preset: 'billing' },
  run(call) {
    const { tx, body } = call
    const account = accountByEmail(tx, body.account)
    if (!account) throw invalid({ field: 'account', message: 'No account has this e-mail address.' })
    // For a program that runs unattended: without an `expiresAt` it must not stop one day.
    const { id, token, scopes } = giveToken(call, account, { ...body, expiresAt: body.expiresAt ?? null })
    return { id, token, scopes }
  },
})

/** The actor's own tokens only, for staff too. Nobody sees a revoked one. */
const token: Resource<Token> = {
  name: 'token',
  notFound: 'token_not_found',
  find: (tx, actor, id) => ownToken(tx, actor.accountId, id),
}

const changes = everybody('account:write')

export const createToken = operation({
  id: 'tokens.create',
  method: 'POST',
  path: '/account/tokens',
  summary: 'Create a token for your own account; it is shown only once',
  past: 'Created an API token',
  access: changes,
  requiresSession: true,
  requiresRecentAuth: true,
  body: fields({ name: line(100), ...asked, expiresAt: t.Optional(nullable(time)) }),
  response: t.Object({ id: t.String(), token: t.String(), scopes: t.Array(t.String()), expiresAt: nullable(time) }),
  status: 201,
  refuses: ['scope_not_allowed', 'forbidden', 'limit_reached'],
  grants: ({ preset, scopes }) => [
    ...(preset && Object.hasOwn(presets, preset) ? presets[preset] : []),
    ...(Array.isArray(scopes) ? scopes : []),
  ],
  example: { name: 'Monitoring', scopes: ['servers:read'], allow: ['203.0.113.7'] },
  run(call) {
    const { tx, actor, body } = call
    const account = accountById(tx, actor.accountId)
    if (!account) throw new ApiError('forbidden', 'System needs no token. tokens.grant makes one for an account.')
    const made = giveToken(call, account, body)
    return { ...made, expiresAt: isoOrNull(made.expiresAt) }
  },
})

export const listTokens = operation({
  id: 'tokens.list',
  method: 'GET',
  path: '/account/tokens',
  summary: 'The own tokens, without their values: when and from where each was last used',
  access: everybody('account:read'),
  requiresSession: true,
  pages: { usual: 50, most: 100 },
  response: page(
    namedSchema('Token', {
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
    return pageOfTokens(
      call,
      actor.accountId,
      ({ id, name, ending, scopes, allow, createdAt, expiresAt, previousUntil, usedAt, usedFrom }) => ({
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
    )
  },
})

/** The longest time for which the old value of a rotated token is accepted. */
export const MOST_OVERLAP_HOURS = 7 * 24
export const rotateToken = operation({
  id: 'tokens.rotate',
  method: 'POST',
  path: '/tokens/{id}/actions/rotate',
  summary: 'Rotate a token: a new value, shown only once; the old one is accepted a while longer',
  past: 'Rotated an API token',
  access: changes,
  requiresSession: true,
  requiresRecentAuth: true,
  on: token,
  body: fields({ overlapHours: t.Optional(t.Integer({ minimum: 0, maximum: MOST_OVERLAP_HOURS })) }),
  response: t.Object({ id: t.String(), token: t.String(), previousUntil: nullable(time), expiresAt: nullable(time) }),
  refuses: ['not_possible'],
  example: { overlapHours: 24 },
  run({ tx, target, body, clock }) {
    const now = clock()
    if (target.expiresAt !== null && target.expiresAt <= now)
      throw new ApiError(
        'not_possible',
        'This token has expired, and a new value would not change that. Make a new token.',
      )
    const { overlapHours = USUAL_OVERLAP_HOURS } = body
    const value = newToken()
    const previousUntil = overlapHours ? now + overlapHours * hour : null
    updateToken(tx, target.id, {
      tokenHash: digest(value),
      ending: value.slice(-4),
      previousHash: overlapHours ? target.tokenHash : null,
      previousUntil,
    })
    return {
      id: target.id,
      token: value,
      previousUntil: isoOrNull(previousUntil),
      expiresAt: isoOrNull(target.expiresAt),
    }
  },
})

export const revokeToken = operation({
  id: 'tokens.revoke',
  destroys: ['keys'],
  method: 'DELETE',
  path: '/tokens/{id}',
  summary: 'Revoke a token at once, also its previous value',
  past: 'Revoked an API token',
  access: changes,
  requiresSession: true,
  on: token,
  response: done,
  run({ tx, target, clock }) {
    updateToken(tx, target.id, { revokedAt: clock() })
    return {}
  },
})
