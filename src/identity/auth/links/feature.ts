import { second } from '../../../kernel/db/clock.ts'
import { feature } from '../../../kernel/feature.ts'
import { inviteCustomer, mailResetLinks, mailSecondAccounts, requestReset, setPassword } from './password-links.ts'
import { expiredLinks, expiredResetRequests } from './queries.ts'
import { createSignInLink, useSignInLink } from './sign-in-links.ts'

const errors = {
  link_not_valid: {
    status: 401,
    when: 'The link was used, replaced by a newer one, or has expired.',
    remedy: 'Ask for a new one.',
    audited: true,
  },
} as const
type Errors = typeof errors

const ids = {
  link: { prefix: 'lnk' },
} as const
type Ids = typeof ids
declare module '../../../kernel/register.ts' {
  interface IdKinds extends Ids {}
  interface ErrorCodes extends Errors {}
}

export const linksFeature = feature({
  name: 'links',
  ids,
  errors,
  operations: [useSignInLink, requestReset, setPassword, inviteCustomer, createSignInLink],
  expiring: [expiredLinks, expiredResetRequests],
  schedule: [
    { everyMs: 2 * second, words: 'mailing links to new passwords', work: ({ db, app }) => mailResetLinks(db, app) },
    {
      everyMs: 10 * second,
      words: 'telling the holders of addresses of second accounts',
      work: ({ db, app }) => mailSecondAccounts(db, app),
    },
  ],
})
