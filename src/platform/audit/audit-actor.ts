// The actor of a job or of an audit line, as far as the reader may know it.
import type { AccountKind } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'

/** The reader's relation to the target. `own`: the reader owns it or cares for it; `guest`: its owner shares it. */
export type Relation = 'own' | 'guest'

export type AuditActor = {
  /** Empty where nobody was signed in. */
  accountId: string
  /** Null: System or a node, which have no account. */
  kind: AccountKind | null
  name: string
  /** The reseller of the account. */
  resellerId: string | null
  /** The reseller of the target. */
  providerId: string | null
}

export type KnownActor = {
  you: boolean
  name: string
  /** May the reader know the token? Its holder chose its name. */
  token: boolean
  /** May the reader know the address? */
  from: boolean
}

/**
 * Customers read "Staff" for the people of their provider, and no address of theirs. An account with which a server is
 * shared reads the names of the others who work on it, but neither their addresses nor their tokens.
 */
export function auditActorFor(actor: Actor, did: AuditActor, relation: Relation): KnownActor {
  const you = did.accountId === actor.accountId && did.accountId !== ''
  if (did.accountId === '') return { you, name: 'Somebody', token: false, from: relation === 'own' }
  if (you || actor.kind === 'staff') return { you, name: did.name, token: true, from: true }
  const provides = did.kind === null || did.kind === 'staff' || did.accountId === did.providerId
  if (provides) return { you, name: did.kind === null ? 'System' : 'Staff', token: false, from: false }
  const inCare = did.resellerId === actor.accountId
  return { you, name: did.name, token: inCare, from: relation === 'own' }
}
