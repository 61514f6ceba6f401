// Who asks. Everything is looked up through an actor; there is no other way to a row.
import { type AccountKind, allPermissions, allScopes, type Permission, type Scope } from './access.ts'

/** By what the actor came in; it stands in the audit log and in the jobs it starts. */
export type Via =
  | { type: 'session'; sessionId: string }
  | { type: 'token'; tokenId: string; tokenName: string }
  /** The controller itself: schedules, and `berth admin` on its host. */
  | { type: 'system' }

export type Actor = {
  accountId: string
  kind: AccountKind
  name: string
  scopes: ReadonlySet<Scope>
  permissions: ReadonlySet<Permission>
  via: Via
}

export const system: Actor = {
  accountId: 'system',
  kind: 'staff',
  name: 'System',
  scopes: allScopes,
  permissions: new Set(allPermissions),
  via: { type: 'system' },
}

export type StartedBy = { type: 'person' | 'token' | 'system'; id: string; name: string }

/** How a job names who started it. */
export const startedBy = (actor: Actor): StartedBy =>
  actor.via.type === 'token'
    ? { type: 'token', id: actor.via.tokenId, name: `${actor.via.tokenName} (${actor.name})` }
    : { type: actor.via.type === 'system' ? 'system' : 'person', id: actor.accountId, name: actor.name }
