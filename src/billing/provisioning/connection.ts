// The first call of a billing system: whether its token works, and what it lacks.
import { Type as t } from 'typebox'
import { presets } from '../../identity/tokens/presets.ts'
import { ownToken } from '../../identity/tokens/queries.ts'
import { described, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import { VERSION } from '../../kernel/version.ts'

export const testConnection = operation({
  id: 'billing.test-connection',
  method: 'GET',
  path: '/billing/connection',
  summary: 'Whether a billing system can work with its token: whose it is, what it may do and what it lacks',
  access: { staff: presets.billing, reseller: presets['reseller-billing'] },
  response: namedSchema('BillingConnection', {
    product: t.String(),
    version: t.String(),
    time: described(time, 'The time here: signatures and retries depend on clocks that agree.'),
    account: t.Object({ id: t.String(), name: t.String(), kind: t.String() }),
    calledWith: described(
      nullable(t.Object({ name: t.String(), expiresAt: nullable(time) })),
      'The API token of the call; null for a person who is signed in.',
    ),
    preset: t.Enum(Object.keys(presets) as (keyof typeof presets)[]),
    missingScopes: described(t.Array(t.String()), 'Scopes of the preset that this token lacks; empty: it is ready.'),
  }),
  run({ tx, actor, wallClock }) {
    const preset: keyof typeof presets = actor.kind === 'reseller' ? 'reseller-billing' : 'billing'
    const token = actor.via.type === 'token' ? ownToken(tx, actor.accountId, actor.via.tokenId) : undefined
    return {
      product: 'Berth',
      version: VERSION,
      time: iso(wallClock()),
      account: { id: actor.accountId, name: actor.name, kind: actor.kind },
      calledWith: token ? { name: token.name, expiresAt: isoOrNull(token.expiresAt) } : null,
      preset,
      missingScopes: presets[preset].filter((scope) => !actor.scopes.has(scope)),
    }
  },
})
