import { feature } from '../../../kernel/feature.ts'
import { endOneSession, endOtherSessions, listSessions } from './own-sessions.ts'
import { expiredChallenges, expiredSessions } from './queries.ts'
import { closeSupport, openSupport } from './support-session.ts'
import { sessions, signInChallenges, signInPlaces } from './tables.ts'

const errors = {
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
declare module '../../../kernel/register.ts' {
  interface PermissionNames extends Permissions {}
  interface IdKinds extends Ids {}
  interface ErrorCodes extends Errors {}
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
