// One-time sign-in from a billing system, which has signed its customer in already: what WHMCS calls single sign-on.
import { Type as t } from 'typebox'
import { accountById, customer } from '../accounts/account.ts'
import type { Account } from '../accounts/tables.ts'
import { areas } from '../kernel/api/access.ts'
import type { Actor } from '../kernel/api/actor.ts'
import { Refusal } from '../kernel/api/errors.ts'
import { addressKey } from '../kernel/api/limits.ts'
import { type Call, fields, operation, secret, time } from '../kernel/api/operation.ts'
import { iso } from '../kernel/db/clock.ts'
import { server } from '../servers/server.ts'
import type { Server } from '../servers/tables.ts'
import { finishSignIn, signedIn } from './finish-sign-in.ts'
import { makeLink, spendLink } from './links.ts'

const made = t.Object({ url: t.String(), expiresAt: time })
const declared = {
  method: 'POST',
  access: { staff: ['customers:write'], reseller: ['reseller:customers'] },
  answer: made,
  status: 201,
} as const

export const createSignInLink = operation({
  ...declared,
  id: 'sign-in-links.create',
  path: '/customers/{id}/sign-in-links',
  summary: 'A link that signs a customer in: good once, for 60 seconds. For billing systems whose customer is signed in there',
  on: customer,
  run: (call) => linkFor(call, call.target),
})

export const createServerSignInLink = operation({
  ...declared,
  id: 'sign-in-links.create-for-server',
  path: '/servers/{id}/sign-in-links',
  summary: "The same, leading to one server of the customer's",
  on: server,
  run(call) {
    const owner = accountById(call.tx, (call.target as Server).ownerId)!
    return linkFor(call, owner, `${areas[owner.kind]}/servers/${call.target.id}`)
  },
})

function linkFor({ tx, actor, clock, config }: Pick<Call, 'tx' | 'actor' | 'clock' | 'config'>, account: Account, leadsTo?: string) {
  mustNotBeAPerson(actor)
  const { path, expiresAt } = makeLink(tx, { purpose: 'sign-in', account, now: clock(), ...(leadsTo && { data: leadsTo }) })
  return { url: config.publicUrl + path, expiresAt: iso(expiresAt) }
}

/** Staff who want to see what a customer sees say why, and are on record: that is a support session, never this. */
function mustNotBeAPerson(actor: Actor) {
  if (actor.kind === 'staff' && actor.via.type === 'session')
    throw new Refusal('forbidden', "A sign-in link is for billing systems. To work in a customer's account, open a support session.")
}

export const useSignInLink = operation({
  id: 'sign-in-links.use',
  method: 'POST',
  path: '/sessions/from-link',
  summary: 'Sign in with a link from a billing system',
  access: 'anyone',
  body: fields({ token: secret(t.String({ minLength: 1, maxLength: 100 })) }),
  answer: signedIn,
  status: 201,
  refuses: ['link_not_valid', 'rate_limited'],
  example: { token: '<token>' },
  prepare: async ({ signIns, from }) => signIns.take(addressKey(from)),
  run(call) {
    const { account, data } = spendLink(call.tx, ['sign-in'], call.body.token, call.clock())
    // Whoever holds the link has shown nothing about themselves: for what is dangerous they are asked.
    const answer = finishSignIn(call, account, { confirmed: false })
    return data && !('secondFactor' in answer) ? { ...answer, home: data } : answer
  },
})
