// Who asks. Everything is looked up through an actor; there is no other way to a row.
import { type AccountKind, EveryName, type Permission, type Scope } from './access.ts'

/** By what the actor came in; it stands in the audit log and in the jobs it starts. */
export type Via =
  | { type: 'session'; sessionId: string; confirmedAt: number }
  /** A member of staff in somebody's account, with a reason that stands in the audit log. The actor is that account. */
  | { type: 'support'; sessionId: string; confirmedAt: number; staffId: string; staffName: string; until: number }
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
  /** A role demands a second factor and there is none: nothing but setting one up is possible. */
  lacksSecondFactor?: true
}

export const system: Actor = {
  accountId: 'system',
  kind: 'staff',
  name: 'System',
  scopes: new EveryName(),
  permissions: new EveryName(),
  via: { type: 'system' },
}

/** Nobody in particular: what calls open to anyone see as their actor. */
export const visitor: Actor = {
  accountId: '',
  kind: 'customer',
  name: 'Visitor',
  scopes: new Set(),
  permissions: new Set(),
  via: { type: 'session', sessionId: '', confirmedAt: 0 },
}

/** Whom the audit log and a job name: in a support session the member of staff, and in whose account. */
export const nameOf = ({ name, via }: Actor): string =>
  via.type === 'support' ? `${via.staffName} as ${name}` : via.type === 'token' ? `${via.tokenName} (${name})` : name

/** The account that answers for it. */
export const idOf = ({ accountId, via }: Actor): string => (via.type === 'support' ? via.staffId : accountId)

/** A browser session, with or without somebody else's account in it. */
export const sessionOf = ({ via }: Actor) => (via.type === 'session' || via.type === 'support' ? via : undefined)

export type StartedBy = { type: 'person' | 'token' | 'system'; id: string; name: string }

/** How a job names who started it. */
export const startedBy = (actor: Actor): StartedBy =>
  actor.via.type === 'token'
    ? { type: 'token', id: actor.via.tokenId, name: nameOf(actor) }
    : { type: actor.via.type === 'system' ? 'system' : 'person', id: idOf(actor), name: nameOf(actor) }
