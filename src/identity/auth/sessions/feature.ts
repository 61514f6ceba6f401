import { feature } from '../../../kernel/feature.ts'
import { endOneSession, endOtherSessions, listSessions } from './own-sessions.ts'
import { expiredChallenges, expiredSessions } from './queries.ts'
import { closeSupport, openSupport } from './support-session.ts'
import { sessions, signInChallenges, signInPlaces } from './tables.ts'

const errors = {
  session_not_found: { status: 404, when: 'There is no such session of this account.', remedy: 'Check the id.' },
} as const

const ids = {
  session: { prefix: 'ses' },
} as const

const permissions = {
  support_session: { words: 'Open support sessions', opens: [], limitsTokens: true },
} as const

declare module '../../../kernel/register.ts' {
  interface Names {
    sessions: { permissions: typeof permissions; ids: typeof ids; errors: typeof errors }
  }
}

export const sessionsFeature = feature({
  name: 'sessions',
  permissions,
  ids,
  errors,
  tables: [sessions, signInChallenges, signInPlaces],
  operations: [listSessions, endOneSession, endOtherSessions, openSupport, closeSupport],
  expiring: [expiredSessions, expiredChallenges],
})
