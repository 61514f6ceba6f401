// Who did something, as far as the one who asks may know it: said once, for jobs and for every list of what was done.
import type { AccountKind } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'

/** How the one who asks stands before what it was done to: it is their own or in their care, or its owner lets them in. */
export type RequestContext = 'own' | 'guest'

export type Doer = {
  /** The account that answers for it; empty where nobody was signed in yet. */
  accountId: string
  /** Null: no account at all, but System or a node. */
  kind: AccountKind | null
  name: string
  /** Whose customer it is. */
  resellerId: string | null
  /** The reseller in whose care is what it was done to. */
  providerId: string | null
}

export type Known = {
  you: boolean
  name: string
  /** May it be told which token it was? Its name was chosen by its holder, for its holder. */
  token: boolean
  /** May it be told from which address? */
  from: boolean
}

/**
 * A provider's people are "Staff" to its customers, a reseller is to its own, and where they sit is not theirs to know. Who is let
 * into somebody's server learns who else works on it, and neither from where nor by which token.
 */
export function asKnownTo(actor: Actor, did: Doer, asking: RequestContext): Known {
  const you = did.accountId === actor.accountId && did.accountId !== ''
  if (did.accountId === '') return { you, name: 'Somebody', token: false, from: asking === 'own' }
  if (you || actor.kind === 'staff') return { you, name: did.name, token: true, from: true }
  const provides = did.kind === null || did.kind === 'staff' || did.accountId === did.providerId
  if (provides) return { you, name: did.kind === null ? 'System' : 'Staff', token: false, from: false }
  const inCare = did.resellerId === actor.accountId
  return { you, name: did.name, token: inCare, from: asking === 'own' }
}
