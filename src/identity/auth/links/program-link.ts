// Sign-in links from billing systems that have signed their customer in already; WHMCS calls it single sign-on. For
// programs only: a person would get into another's account with it, without a reason and without a record.
import { Type as t } from 'typebox'
import { type Actor, sessionOf } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { type Call, time } from '../../../kernel/api/operation.ts'
import { iso } from '../../../kernel/db/clock.ts'
import type { Account } from '../../account-records/model.ts'
import { makeLink } from './links.ts'

const made = t.Object({ url: t.String(), expiresAt: time })
/** The fields that every operation for such a link has. */
export const signInLinkFields = {
  method: 'POST',
  access: { staff: ['customers:write'], reseller: ['reseller:customers'] },
  response: made,
  status: 201,
} as const

/** A link for this account, to the path `leadsTo`; throws `forbidden` for whoever must not make one. */
export function linkFor(
  { tx, actor, clock, config }: Pick<Call, 'tx' | 'actor' | 'clock' | 'config'>,
  account: Account,
  leadsTo?: string,
) {
  mustBeAProgram(actor)
  const { path, expiresAt } = makeLink(tx, {
    purpose: 'sign-in',
    account,
    now: clock(),
    madeBy: actor,
    ...(leadsTo && { data: leadsTo }),
  })
  return { url: config.publicUrl + path, expiresAt: iso(expiresAt) }
}

/**
 * Staff who work in a customer's account open a support session, with a reason and a record. A token is no way around
 * it: it makes such links only while its maker may open support sessions. Resellers have the pages of their own area.
 */
function mustBeAProgram(actor: Actor) {
  if (sessionOf(actor))
    throw new ApiError(
      'forbidden',
      actor.kind === 'staff'
        ? "A sign-in link is for billing systems. To work in a customer's account, open a support session."
        : 'A sign-in link is for billing systems: make it with a token. ' +
            'What your customers have, you see in your own area.',
    )
  if (actor.kind === 'staff' && !actor.permissions.has('support_session'))
    throw new ApiError(
      'forbidden',
      "A sign-in link leads into a customer's account: " +
        'the role of whoever made this token must include "Open support sessions".',
    )
}
