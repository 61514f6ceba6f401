// Parts of an order that are the same for every kind of workload, and for a server from an image or from a backup.
import type { Account } from '../../identity/account-records/model.ts'
import { mustNotBeLocked } from '../../identity/account-records/model.ts'
import { sendWelcome } from '../../identity/auth/passwords/change.ts'
import { resellerOf } from '../../identity/resellers/model.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { mustBeFreeService, mustNameOwnService } from './service-id.ts'

/**
 * Throws where its owner may not have it now: for the identifier that billing gave it, `account_locked`, and what
 * `mustAllow` throws for the reseller of the owner.
 */
export function mustBeOrderable(
  tx: Tx,
  actor: Actor,
  owner: Account,
  billingServiceId: string | undefined,
  mustAllow: (reseller: NonNullable<ReturnType<typeof resellerOf>>) => void,
) {
  mustNameOwnService(actor, owner.id, billingServiceId)
  mustBeFreeService(tx, actor, { resellerId: owner.resellerId }, billingServiceId)
  mustNotBeLocked(owner, { isOwn: actor.accountId === owner.id })
  const reseller = resellerOf(tx, owner)
  if (reseller) mustAllow(reseller)
}

/** For an account that was made without an invitation: this is the first that its holder hears of it. */
export function welcomeOwner(tx: Tx, mails: Parameters<typeof sendWelcome>[1], owner: Account) {
  if (owner.passwordHash === null && owner.welcomedAt === null) sendWelcome(tx, mails, owner)
}
