import { type Static, Type as t } from 'typebox'
import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import { type AppContext, done, fields, line, nullable, operation, secret } from '../../../kernel/api/operation.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { log } from '../../../kernel/log.ts'
import { accountKinds } from '../../account-records/kinds.ts'
import { issuerDisabledReason } from './provider.ts'
import { CALLBACK_PAGE, dropProvider, keepProvider, type Provider, providerFrom } from './provider-setting.ts'

const access = { staff: ['settings:write'] } as const
const kinds = t.Array(t.Enum([...accountKinds]), { minItems: 1, maxItems: accountKinds.length, uniqueItems: true })

const response = t.Object({
  issuer: nullable(t.String()),
  clientId: nullable(t.String()),
  hasSecret: t.Boolean(),
  for: t.Array(t.Enum([...accountKinds])),
  label: nullable(t.String()),
  redirectUrl: t.String(),
})

/** Never the secret: only whether there is one. */
function show(tx: Db, { secrets, config }: Pick<AppContext, 'secrets' | 'config'>): Static<typeof response> {
  const redirectUrl = config.publicUrl + CALLBACK_PAGE
  const provider = providerFrom(tx, secrets)
  if (!provider) return { issuer: null, clientId: null, hasSecret: false, for: [], label: null, redirectUrl }
  const { clientSecret, ...rest } = provider
  return { ...rest, hasSecret: clientSecret !== null, redirectUrl }
}

export const getSignInProvider = operation({
  id: 'sign-in-provider.get',
  method: 'GET',
  path: '/admin/settings/sign-in',
  summary:
    'The identity provider through which people may sign in, without its secret; and the redirect URL to enter there',
  access,
  response,
  run: (call) => show(call.tx, call),
})

export const setSignInProvider = operation({
  id: 'sign-in-provider.set',
  method: 'PUT',
  path: '/admin/settings/sign-in',
  summary:
    'Let people sign in through an OpenID Connect provider. It is asked before anything is saved; ' +
    'without a secret the one that is kept stays',
  past: 'Changed the identity provider',
  access,
  powers: ['gives_access'],
  ownerOnly: 'The identity provider through which people sign in was set.',
  body: fields({
    issuer: t.String({ minLength: 1, maxLength: 500 }),
    clientId: line(200),
    clientSecret: t.Optional(nullable(secret(t.String({ minLength: 1, maxLength: 500 })))),
    for: kinds,
    label: line(60),
  }),
  response,
  refuses: ['source_unreachable'],
  example: {
    issuer: 'https://id.example.com/realms/staff',
    clientId: 'berth',
    clientSecret: '<secret>',
    for: ['staff'],
    label: 'Sign in with Example',
  },
  auditSnapshot: (call) => show(call.tx, call),
  async prepare({ db, body, secrets, config, providers }) {
    const why = issuerDisabledReason(body.issuer, config.localServices)
    if (why) throw invalid({ field: 'issuer', message: why })
    secretFor(body, providerFrom(db, secrets))
    await providers.discover(body.issuer, true).catch((error: Error) => {
      // The answer of an unknown host stays in the journal: this call must not tell which ports are open.
      log.warning('the identity provider was not accepted', { issuer: body.issuer, error: error.message })
      throw new ApiError(
        'source_unreachable',
        'No OpenID Connect provider with exactly this issuer answered, and nothing was saved. The journal has the ' +
          'details.',
      )
    })
  },
  run(call) {
    const { tx, body, secrets } = call
    keepProvider(tx, secrets, { ...body, clientSecret: secretFor(body, providerFrom(tx, secrets)) })
    return show(tx, call)
  },
})

type Given = Pick<Provider, 'issuer' | 'clientId'> & { clientSecret?: string | null }
/** A secret is only sent to the provider it was entered for: a changed issuer must not learn it. */
function secretFor({ issuer, clientId, clientSecret }: Given, kept: Provider | undefined): string | null {
  if (clientSecret !== undefined) return clientSecret
  if (!kept?.clientSecret) return null
  if (kept.issuer !== issuer || kept.clientId !== clientId)
    throw invalid({
      field: 'clientSecret',
      message: 'is required again: the one that is kept is for another issuer or client.',
    })
  return kept.clientSecret
}

export const removeSignInProvider = operation({
  id: 'sign-in-provider.remove',
  destroys: [],
  method: 'DELETE',
  path: '/admin/settings/sign-in',
  summary: 'Turn signing in through the identity provider off; people who are signed in stay signed in',
  past: 'Removed the identity provider',
  access,
  ownerOnly: 'Signing in through the identity provider was turned off.',
  response: done,
  auditSnapshot: (call) => show(call.tx, call),
  run({ tx }) {
    dropProvider(tx)
    return {}
  },
})
