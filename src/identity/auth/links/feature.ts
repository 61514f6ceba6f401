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

const ids = {
  link: { prefix: 'lnk' },
} as const

declare module '../../../kernel/register.ts' {
  interface Names {
    links: { ids: typeof ids; errors: typeof errors }
  }
}

export const linksFeature = feature({
  name: 'links',
  ids,
  errors,
  tables: [oneTimeLinks, resetRequests],
  operations: [createSignInLink],
  expiring: [expiredLinks, expiredResetRequests],
})
