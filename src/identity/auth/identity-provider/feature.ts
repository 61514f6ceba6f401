import { feature } from '../../../kernel/feature.ts'
import { getSignInProvider, removeSignInProvider, setSignInProvider } from './configure.ts'
import { listIdentities, removeIdentity } from './identities.ts'
import { beginProviderSignIn, completeProviderSignIn, encryptedProviderSignIns, getProvider } from './oidc.ts'

export const identityProviderFeature = feature({
  name: 'identity-provider',
  encrypted: [encryptedProviderSignIns],
  operations: [
    getProvider,
    beginProviderSignIn,
    completeProviderSignIn,
    listIdentities,
    removeIdentity,
    getSignInProvider,
    setSignInProvider,
    removeSignInProvider,
  ],
})
