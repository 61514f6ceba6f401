import { feature } from '../../kernel/feature.ts'
import { mailDelivery } from '../../kernel/mail/mail.ts'
import { hasDelivered } from '../../kernel/queue/queries.ts'
import { missingKeys, retriedMails, unsentMails } from './attention.ts'
import { answerBrand } from './brand.ts'
import { ownBranding, resellerBranding } from './branding.ts'
import { changeSetting, listSettings, settingWeakening } from './defaults.ts'
import { configureMail, getMail, testMail } from './mail.ts'
import { hasBranding } from './queries.ts'
import { dropSecretKey, listSecretKeys, rotateSecrets } from './rotate-secrets.ts'
import { branding } from './tables.ts'

const errors = {
  no_mail_server: { status: 409, when: 'No mail server is set.', remedy: 'Save one in the settings first.' },
  mail_refused: {
    status: 409,
    when: 'The mail server did not take the mail.',
    remedy: 'Read what it said, and change the settings.',
  },
  key_file_not_usable: {
    status: 409,
    when:
      'The key file cannot be read or written, or lacks a key that something is encrypted with; the message ' +
      'says which.',
    remedy: 'Put the right key file in place, then try again.',
  },
  former_key_not_found: {
    status: 404,
    when: 'No former key has this id.',
    remedy: 'See berth secrets list.',
  },
  former_key_in_use: {
    status: 409,
    when: 'Something in the database is encrypted with this former key, as after the restore of an older backup.',
    remedy: 'Rotate the keys, then drop it.',
  },
} as const

const scopes = {
  'settings:write': { words: 'Change settings' },
} as const

const permissions = {
  'settings.write': { words: 'Change settings', opens: ['settings:write'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    settings: { scopes: typeof scopes; permissions: typeof permissions; errors: typeof errors }
  }
}

export const settingsFeature = feature({
  name: 'settings',
  scopes,
  permissions,
  errors,
  tables: [branding],
  weakenings: [settingWeakening],
  operations: [
    getMail,
    configureMail,
    rotateSecrets,
    listSecretKeys,
    dropSecretKey,
    testMail,
    listSettings,
    changeSetting,
    ...Object.values(ownBranding),
    ...Object.values(resellerBranding),
  ],
  attention: [unsentMails, retriedMails, missingKeys],
  checklist: [
    {
      kinds: ['staff'],
      position: 10,
      by: configureMail,
      title: 'Public address',
      words: 'Browsers and nodes reach Berth over HTTPS.',
      done: ({ config }) => config.publicUrl.startsWith('https:'),
      href: () => '/admin#https',
    },
    {
      kinds: ['staff'],
      position: 80,
      by: configureMail,
      title: 'Mail',
      words: 'Invitations and links to new passwords reach people.',
      done: ({ tx }) => hasDelivered(tx, mailDelivery.kind),
      href: () => '/admin/settings',
    },
    {
      kinds: ['reseller'],
      position: 20,
      by: resellerBranding.change,
      title: 'Branding',
      words: 'Your name, logo and colour, and whom your mails come from.',
      done: ({ tx, actor }) => hasBranding(tx, actor.accountId),
      href: () => '/reseller/branding',
    },
  ],
  routes: ({ db }) => [['GET', '/brand/*', (request) => answerBrand(db, request)]],
  nav: [
    {
      kinds: ['staff'],
      group: 'Platform',
      position: 340,
      name: 'settings',
      title: 'Settings',
      href: '/admin/settings',
      icon: 'settings',
      sees: getMail,
    },
    {
      kinds: ['reseller'],
      group: 'Account',
      position: 390,
      name: 'branding',
      title: 'Branding',
      href: '/reseller/branding',
      icon: 'brand',
      sees: resellerBranding.get,
    },
  ],
  actions: [{ kinds: ['staff'], position: 130, title: 'Set up mail', page: '/admin/settings', does: configureMail }],
})
