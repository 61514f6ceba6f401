// The actor of a call. Every row is looked up through an actor; there is no other way to one.
import { type AccountKind, EveryName, type Permission, type Scope } from './access.ts'

/** The way the actor authenticated; the audit log and the actor's jobs keep it. */
export type Via =
  | { type: 'session'; sessionId: string; confirmedAt: number }
  /** A member of staff in a customer's account; the audit log keeps the reason. The actor is that account. */
  | { type: 'support'; sessionId: string; confirmedAt: number; staffId: string; staffName: string; until: number }
  | { type: 'token'; tokenId: string; tokenName: string }
  /** The controller itself: schedules, and `berth admin` on its host. */
  | { type: 'system' }

export type Actor = {
  accountId: string
  kind: AccountKind
  name: string
  /** The rights of the credential at hand, never those of the account behind it. */
  scopes: ReadonlySet<Scope>
  /** Of a token: those of its maker that limit tokens (`limitsTokens`), and no other. */
  permissions: ReadonlySet<Permission>
  via: Via
  /** An owner in person, or System. Never a token, and never a support session. */
  isOwner?: true
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
  isOwner: true,
}

/** The actor of a call without credentials, for operations that are open to anyone. */
export const visitor: Actor = {
  accountId: '',
  kind: 'customer',
  name: 'Visitor',
  scopes: new Set(),
  permissions: new Set(),
  via: { type: 'session', sessionId: '', confirmedAt: 0 },
}

/** The name in the audit log and in jobs; in a support session that of the member of staff and of the account. */
export const nameOf = ({ name, via }: Actor): string =>
  via.type === 'support' ? `${via.staffName} as ${name}` : via.type === 'token' ? `${via.tokenName} (${name})` : name

/** The account that is responsible for the call: in a support session that of the member of staff. */
export const idOf = ({ accountId, via }: Actor): string => (via.type === 'support' ? via.staffId : accountId)

/** A browser session, with or without somebody else's account in it. */
export const sessionOf = ({ via }: Actor) => (via.type === 'session' || via.type === 'support' ? via : undefined)

export type StartedBy = { type: 'person' | 'token' | 'system'; id: string; name: string }

/** How a job names who started it. */
export const startedBy = (actor: Actor): StartedBy =>
  actor.via.type === 'token'
    ? { type: 'token', id: actor.via.tokenId, name: nameOf(actor) }
    : { type: actor.via.type === 'system' ? 'system' : 'person', id: idOf(actor), name: nameOf(actor) }
