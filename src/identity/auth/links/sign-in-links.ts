// One-time sign-in from a billing system, which has signed its customer in already: what WHMCS calls single sign-on. It is for
// programs alone: a person who made such a link would be in somebody's account without a reason and without being on record there.
import { Type as t } from 'typebox'
import { type Server, server } from '../../../compute/servers/model.ts'
import { areas } from '../../../kernel/api/access.ts'
import { type Actor, sessionOf } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { type Call, fields, mayCallOn, operation, secret, time } from '../../../kernel/api/operation.ts'
import { iso } from '../../../kernel/db/clock.ts'
import type { Account } from '../../accounts/model.ts'
import { customer } from '../../accounts/model.ts'
import { completeSignIn, signedIn } from '../complete-sign-in.ts'
import { consumeLink, makeLink } from './links.ts'

const made = t.Object({ url: t.String(), expiresAt: time })
const declared = {
  method: 'POST',
  access: { staff: ['customers:write'], reseller: ['reseller:customers'] },
  response: made,
  status: 201,
} as const

export const createSignInLink = operation({
  ...declared,
  id: 'sign-in-links.create',
  path: '/customers/{id}/sign-in-links',
  summary:
    'A link that signs a customer in: good once, for 60 seconds. For billing systems whose customer is signed in there',
  on: customer,
  run: (call) => linkFor(call, call.target),
})

export const createServerSignInLink = operation({
  ...declared,
  id: 'sign-in-links.create-for-server',
  path: '/servers/{id}/sign-in-links',
  summary: 'A link that signs a customer in and leads to one of their servers',
  on: server,
  run(call) {
    const owner = ownerOf(call, call.target)
    return linkFor(call, owner, `${areas[owner.kind]}/servers/${call.target.id}`)
  },
})

/** Found as the call for a customer finds it: whoever may do much with a server may not for that be its owner. Throws `forbidden`. */
function ownerOf({ tx, actor }: Pick<Call, 'tx' | 'actor'>, { ownerId }: Server): Account {
  const owner = customer.find(tx, actor, ownerId)
  const rights = owner && customer.rights?.(tx, actor, owner)
  if (!owner || (rights && !mayCallOn(createSignInLink, actor, rights)))
    throw new ApiError(
      'forbidden',
      "This server is not one of your customers'. A sign-in link leads into the account of a customer in your care.",
    )
  return owner
}

function linkFor(
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
 * Staff who want to see what a customer sees say why, and are on record: that is a support session, never this; and a token is no way
 * round it, so it does this only while its maker may open support sessions. A reseller's people have the pages of their own area.
 */
function mustBeAProgram(actor: Actor) {
  if (sessionOf(actor))
    throw new ApiError(
      'forbidden',
      actor.kind === 'staff'
        ? "A sign-in link is for billing systems. To work in a customer's account, open a support session."
        : 'A sign-in link is for billing systems: make it with a token. What your customers have, you see in your own area.',
    )
  if (actor.kind === 'staff' && !actor.permissions.has('support_session'))
    throw new ApiError(
      'forbidden',
      'A sign-in link leads into a customer\'s account: the role of whoever made this token must include "Open support sessions".',
    )
}

export const useSignInLink = operation({
  id: 'sign-in-links.use',
  method: 'POST',
  path: '/sessions/from-link',
  summary: 'Sign in with a link from a billing system',
  access: 'anyone',
  authAttempt: true,
  body: fields({ token: secret(t.String({ minLength: 1, maxLength: 100 })) }),
  response: signedIn,
  status: 201,
  refuses: ['link_not_valid', 'rate_limited'],
  example: { token: '<token>' },
  run(call) {
    const { account, data, madeBy } = consumeLink(call.tx, ['sign-in'], call.body.token, call.clock())
    // Whoever holds the link has shown nothing about themselves: for what is dangerous they are asked.
    const answer = completeSignIn(call, account, { confirmed: false, linkOf: madeBy })
    return data && !('secondFactor' in answer) ? { ...answer, home: data } : answer
  },
})
