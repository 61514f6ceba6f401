// The actor of a job, an audit line or a snapshot, as far as the reader may know it.
import type { AccountKind } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import type { Db } from '../../kernel/db/open.ts'
import { accountById } from '../account-records/queries.ts'

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

/** Something was done to a workload by this account; the name is that in the audit log. */
export type NotedActor = { id: string; name: string }
type Owned = { ownerId: string; resellerId: string | null }
/** The noted name, as much of it as the actor may know. */
export function notedNameFor(tx: Db, actor: Actor, { ownerId, resellerId }: Owned, { id, name }: NotedActor): string {
  const account = accountById(tx, id)
  const did = {
    accountId: id,
    kind: account?.kind ?? null,
    name,
    resellerId: account?.resellerId ?? null,
    providerId: resellerId,
  }
  const isOwn = ownerId === actor.accountId || resellerId === actor.accountId
  const known = auditActorFor(actor, did, isOwn ? 'own' : 'guest')
  // A name that has that of a token in it is for those who may know the token.
  return known.token || known.name !== name ? known.name : (account?.name ?? name)
}
