import { feature } from '../../../kernel/feature.ts'
import { secondFactorDue } from './attention.ts'
import { factorsOf } from './factors.ts'
import { addPasskey, beginPasskey, removePasskey, renamePasskey } from './passkeys.ts'
import { expiredPasskeyChallenges } from './queries.ts'
import { resetCustomerFactors, resetStaffFactors } from './reset-factors.ts'
import { getSecondFactor, renewRecoveryCodes } from './second-factors.ts'
import { passkeyChallenges, passkeys, recoveryCodes, totp } from './tables.ts'
import { beginTotp, confirmTotp, encryptedTotp, removeTotp } from './totp.ts'

const errors = {
  passkey_not_found: { status: 404, when: 'There is no such passkey of this account.', remedy: 'Check the id.' },
} as const

const ids = {
  passkey: { prefix: 'pky' },
} as const

declare module '../../../kernel/register.ts' {
  interface Names {
    'second-factors': { ids: typeof ids; errors: typeof errors }
  }
}

export const secondFactorsFeature = feature({
  name: 'second-factors',
  ids,
  errors,
  tables: [totp, recoveryCodes, passkeys, passkeyChallenges],
  encrypted: [encryptedTotp],
  expiring: [expiredPasskeyChallenges],
  operations: [
    getSecondFactor,
    beginTotp,
    confirmTotp,
    removeTotp,
    renewRecoveryCodes,
    beginPasskey,
    addPasskey,
    renamePasskey,
    removePasskey,
    resetStaffFactors,
    resetCustomerFactors,
  ],
  checklist: [
    {
      kinds: ['staff'],
      position: 90,
      by: beginTotp,
      title: 'Second factor',
      words: 'Your account stays protected if someone learns its password.',
      done: ({ tx, actor }) => factorsOf(tx, actor.accountId).length > 0,
      href: () => '/account/security',
    },
    {
      kinds: ['reseller', 'customer'],
      position: 90,
      by: beginTotp,
      title: 'Second factor',
      words: 'A code or a passkey in addition to the password: a stolen password alone is not enough.',
      done: ({ tx, actor }) => factorsOf(tx, actor.accountId).length > 0,
      href: () => '/account/security',
    },
  ],
  attention: [secondFactorDue],
  nav: [
    {
      kinds: ['staff', 'reseller', 'customer'],
      group: 'Account',
      position: 420,
      name: 'security',
      menu: true,
      title: 'Security',
      href: '/account/security',
      icon: 'shield',
      sees: getSecondFactor,
    },
  ],
  actions: [
    {
      kinds: ['staff', 'reseller', 'customer'],
      position: 310,
      title: 'Set up a second factor',
      page: '/account/security',
      does: beginTotp,
    },
  ],
})
