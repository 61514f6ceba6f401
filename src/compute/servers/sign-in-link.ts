// A sign-in link that leads to a server, for billing systems that show their customer's servers.
import { areas } from '../../identity/account-records/areas.ts'
import { type Account, customer } from '../../identity/account-records/model.ts'
import { linkFor, signInLinkFields } from '../../identity/auth/links/program-link.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { type Call, mayCallOn, operation } from '../../kernel/api/operation.ts'
import { type Server, server } from '../server-records/model.ts'

export const createServerSignInLink = operation({
  ...signInLinkFields,
  id: 'sign-in-links.create-for-server',
  powers: ['gives_access'],
  path: '/servers/{id}/sign-in-links',
  summary: 'A link that signs a customer in and leads to one of their servers',
  past: 'Created a sign-in link',
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
  if (!owner || (rights && !mayCallOn(createServerSignInLink, actor, rights)))
    throw new ApiError(
      'forbidden',
      "This server is not one of your customers'. A sign-in link leads into the account of a customer in your care.",
    )
  return owner
}
