// One-time sign-in from a billing system that has signed its customer in already; WHMCS calls it single sign-on. For
// programs only: a person would get into another's account with it, without a reason and without a record.
import { Type as t } from 'typebox'
import { type Server, server } from '../../../compute/servers/model.ts'
import { type Actor, sessionOf } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { type Call, fields, mayCallOn, operation, secret, time } from '../../../kernel/api/operation.ts'
import { iso } from '../../../kernel/db/clock.ts'
import { areas } from '../../accounts/areas.ts'
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

/** Access to a server is not access to its owner: the owner is looked up through the actor. Throws `forbidden`. */
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
    // The holder of a link has proved nothing: dangerous changes ask for a confirmation.
    const answer = completeSignIn(call, account, { confirmed: false, linkOf: madeBy })
    return data && !('secondFactor' in answer) ? { ...answer, home: data } : answer
  },
})
