import { feature } from '../../../kernel/feature.ts'
import { getSignInProvider, removeSignInProvider, setSignInProvider } from './configure.ts'
import { listIdentities, removeIdentity } from './identities.ts'
import { beginLink, linkIdentity } from './link.ts'
import { beginProviderSignIn, completeProviderSignIn, getProvider, START_PATH } from './oidc.ts'
import { Providers } from './provider.ts'
import { expiredProviderSignIns } from './queries.ts'
import { startAtProvider } from './start.ts'
import { accountIdentities, providerSignIns } from './tables.ts'
import { encryptedProviderSignIns } from './visit.ts'

const errors = {
  identity_not_found: { status: 404, when: 'There is no such identity of this account.', remedy: 'Check the id.' },
} as const

const ids = {
  identity: { prefix: 'idn' },
} as const

declare module '../../../kernel/register.ts' {
  interface Names {
    'identity-provider': { ids: typeof ids; errors: typeof errors }
  }
  interface Services {
    /** The identity provider's metadata and keys, and sign-ins that are at the provider. */
    providers: Providers
  }
}

export const identityProviderFeature = feature({
  name: 'identity-provider',
  ids,
  errors,
  tables: [accountIdentities, providerSignIns],
  encrypted: [encryptedProviderSignIns],
  expiring: [expiredProviderSignIns],
  operations: [
    getProvider,
    beginProviderSignIn,
    completeProviderSignIn,
    beginLink,
    linkIdentity,
    listIdentities,
    removeIdentity,
    getSignInProvider,
    setSignInProvider,
    removeSignInProvider,
  ],
  services: ({ clock, wallClock, config }) => ({
    providers: new Providers(clock, wallClock, config.localServices),
  }),
  routes: ({ httpContext }) => [['GET', START_PATH, (request) => startAtProvider(httpContext, request)]],
})
