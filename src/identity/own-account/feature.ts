import { feature } from '../../kernel/feature.ts'
import { accountById } from '../account-records/queries.ts'
import { lockedAccount } from './attention.ts'
import { changeEmail, confirmEmail } from './email-address.ts'
import { changePassword } from './password.ts'
import { changeOwnAccount, getOwnAccount } from './profile.ts'

const scopes = {
  'account:read': { words: 'See the own account and its SSH keys', heldBy: ['staff', 'reseller', 'customer'] },
  'account:write': { words: 'Change the own account and its SSH keys', heldBy: ['staff', 'reseller', 'customer'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    'own-account': { scopes: typeof scopes }
  }
}

export const ownAccountFeature = feature({
  name: 'own-account',
  scopes,
  operations: [confirmEmail, getOwnAccount, changeOwnAccount, changePassword, changeEmail],
  attention: [lockedAccount],
  checklist: [
    {
      kinds: ['reseller', 'customer'],
      position: 10,
      by: changePassword,
      title: 'Password',
      words: 'Set a password so that you can sign in again.',
      done: ({ tx, actor }) => accountById(tx, actor.accountId)?.passwordHash != null,
      href: () => '/account',
    },
  ],
  nav: [
    {
      kinds: ['staff', 'reseller', 'customer'],
      group: 'Account',
      position: 400,
      name: 'account',
      menu: true,
      title: 'Account',
      href: '/account',
      icon: 'user',
      sees: getOwnAccount,
    },
  ],
  actions: [
    {
      kinds: ['staff', 'reseller', 'customer'],
      position: 320,
      title: 'Change password',
      page: '/account',
      dialog: true,
      does: changePassword,
    },
  ],
})
