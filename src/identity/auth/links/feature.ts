import { feature } from '../../../kernel/feature.ts'
import { expiredLinks, expiredResetRequests } from './queries.ts'
import { createSignInLink } from './sign-in-links.ts'
import { oneTimeLinks, resetRequests } from './tables.ts'

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
  tables: [oneTimeLinks, resetRequests],
  operations: [createSignInLink],
  expiring: [expiredLinks, expiredResetRequests],
})
