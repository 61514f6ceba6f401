import { Delay } from '../../../kernel/api/limits.ts'
import { second } from '../../../kernel/db/clock.ts'
import { feature } from '../../../kernel/feature.ts'
import {
  beginPasskeySignIn,
  beginSecondPasskey,
  completeSecondFactor,
  getSignInChallenge,
  passkeySignIn,
} from './complete-second-factor.ts'
import { beginConfirm, confirmSession } from './confirm.ts'
import { mailResetLinks, mailSecondAccounts, requestReset, setPassword } from './password-links.ts'
import { signIn, signOut } from './sign-in.ts'
import { useSignInLink } from './with-link.ts'

const errors = {
  sign_in_failed: {
    status: 401,
    when: 'The e-mail address or the password is wrong; or the second factor is wrong, or came too late.',
    remedy: 'Check both, or start over.',
    audited: true,
  },
} as const

declare module '../../../kernel/register.ts' {
  interface Names {
    'sign-in': { errors: typeof errors }
  }
  interface Services {
    /** Slows down guessing at one account. */
    signInThrottle: Delay
  }
}

export const signInFeature = feature({
  name: 'sign-in',
  errors,
  operations: [
    signIn,
    signOut,
    confirmSession,
    beginConfirm,
    getSignInChallenge,
    completeSecondFactor,
    beginSecondPasskey,
    beginPasskeySignIn,
    passkeySignIn,
    useSignInLink,
    requestReset,
    setPassword,
  ],
  schedule: [
    { everyMs: 2 * second, words: 'mailing links to new passwords', work: ({ db, app }) => mailResetLinks(db, app) },
    {
      everyMs: 10 * second,
      words: 'telling the holders of addresses of second accounts',
      work: ({ db, app }) => mailSecondAccounts(db, app),
    },
  ],
  services: ({ clock }) => ({ signInThrottle: new Delay(clock) }),
})
