import { Delay } from '../../kernel/api/limits.ts'
import { feature } from '../../kernel/feature.ts'
import { beginConfirm, confirmSession } from './confirm.ts'
import { endOneSession, endOtherSessions, listSessions } from './own-sessions.ts'
import { expiredSessions, expiredUnfinished } from './queries.ts'
import { signIn, signOut } from './sign-in.ts'
import { closeSupport, openSupport } from './support-session.ts'
import {
  accountIdentities,
  oneTimeLinks,
  passkeyChallenges,
  passkeys,
  providerSignIns,
  recoveryCodes,
  resetRequests,
  sessions,
  signInChallenges,
  signInPlaces,
  totp,
} from './tables.ts'

const errors = {
  sign_in_failed: {
    status: 401,
    when: 'The e-mail address or the password is wrong; or the second factor is wrong, or came too late.',
    remedy: 'Check both, or start over.',
    audited: true,
  },
  session_not_found: { status: 404, when: 'There is no such session of this account.', remedy: 'Check the id.' },
} as const
type Errors = typeof errors

const ids = {
  session: { prefix: 'ses' },
} as const
type Ids = typeof ids

const permissions = {
  support_session: { words: 'Open support sessions', opens: [], limitsTokens: true },
} as const
type Permissions = typeof permissions
declare module '../../kernel/register.ts' {
  interface Services {
    /** Slows down guessing at one account. */
    signInThrottle: Delay
  }
  interface PermissionNames extends Permissions {}
  interface IdKinds extends Ids {}
  interface ErrorCodes extends Errors {}
}

export const authFeature = feature({
  name: 'auth',
  permissions,
  ids,
  errors,
  tables: [
    sessions,
    signInChallenges,
    totp,
    recoveryCodes,
    passkeys,
    passkeyChallenges,
    signInPlaces,
    oneTimeLinks,
    resetRequests,
    accountIdentities,
    providerSignIns,
  ],
  operations: [
    signIn,
    signOut,
    confirmSession,
    beginConfirm,
    listSessions,
    endOneSession,
    endOtherSessions,
    openSupport,
    closeSupport,
  ],
  expiring: [expiredSessions, ...expiredUnfinished],
  services: ({ clock }) => ({ signInThrottle: new Delay(clock) }),
})
