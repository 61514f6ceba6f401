import { Type as t } from 'typebox'
import { type Server, server } from '../../compute/server-records/model.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { type Call, described, fields, operation } from '../../kernel/api/operation.ts'
import { addressesOf } from '../ip-pools/allocate.ts'
import { leadsTo } from './forward.ts'
import { addressField, addressIn, MOST_NAMES, nameField, noNameServer, reverseName, showName } from './model.ts'
import { nameServer } from './name-server.ts'
import { namesOf, reverseNameOf, wantName } from './queries.ts'

const response = t.Object({
  configured: described(t.Boolean(), 'False: the provider keeps no reverse DNS here.'),
  names: t.Array(reverseName),
})
const idsOf = (tx: Parameters<typeof addressesOf>[0], serverId: string) => addressesOf(tx, serverId).map(({ id }) => id)

export const listReverseNames = operation({
  id: 'reverse-dns.list',
  method: 'GET',
  path: '/servers/{id}/reverse-dns',
  summary: 'The names that the addresses of a server have in reverse DNS',
  access: everybody('servers:read'),
  on: server,
  response,
  run: ({ tx, target, secrets }) => ({
    configured: nameServer(tx, secrets) !== undefined,
    names: namesOf(tx, idsOf(tx, target.id)).map(showName),
  }),
})

const body = fields({
  address: addressField,
  name: described(nameField, 'Null: the address has no name any more.'),
})
const example = { address: '203.0.113.10', name: 'mail.example.com' }
type Body = { address: string; name: string | null }

export const setReverseName = operation({
  id: 'reverse-dns.set',
  method: 'PUT',
  path: '/servers/{id}/reverse-dns',
  summary: 'Set the reverse DNS name of an address; the name must lead to the address',
  past: 'Changed reverse DNS',
  access: everybody('servers:settings'),
  on: server,
  body,
  response,
  refuses: ['no_name_server', 'name_leads_elsewhere', 'name_of_another', 'limit_reached', 'server_terminated'],
  example,
  // Without a name server nothing is looked up for anybody.
  prepare: async ({ db, target, body: { address, name }, secrets, forwardLookUp }) => {
    if (name === null || !nameServer(db, secrets)) return true
    return leadsTo(forwardLookUp, name.toLowerCase(), addressIn(db, target.id, address).address)
  },
  run(call) {
    const { address } = addressIn(call.tx, call.target.id, call.body.address)
    if (!nameServer(call.tx, call.secrets)) throw noNameServer()
    if (!call.prepared)
      throw new ApiError(
        'name_leads_elsewhere',
        `${call.body.name} does not lead to ${address}. Add an ${address.includes(':') ? 'AAAA' : 'A'} record with ` +
          'this address to the name first, and try again when it is published.',
      )
    return change(call)
  },
})

export const setReverseNameUnconfirmed = operation({
  id: 'reverse-dns.set-unconfirmed',
  method: 'PUT',
  path: '/admin/servers/{id}/reverse-dns',
  summary: 'Set the reverse DNS name of an address without checking where the name leads',
  past: 'Changed reverse DNS without a check',
  access: { staff: ['servers:settings'] },
  on: server,
  body,
  response,
  refuses: ['no_name_server', 'name_of_another', 'limit_reached', 'server_terminated'],
  example,
  run(call) {
    addressIn(call.tx, call.target.id, call.body.address)
    if (!nameServer(call.tx, call.secrets)) throw noNameServer()
    return change(call)
  },
})

type Change = Pick<Call<Server, Body, unknown, 'PUT'>, 'tx' | 'target' | 'body' | 'clock'>
function change({ tx, target, body, clock }: Change) {
  if (target.lifecycle === 'terminated') throw new ApiError('server_terminated', `${target.hostname} was terminated.`)
  const { address, held } = addressIn(tx, target.id, body.address)
  const name = body.name?.toLowerCase() ?? null
  const names = namesOf(tx, idsOf(tx, target.id))
  const shown = () => ({ configured: true, names: namesOf(tx, idsOf(tx, target.id)).map(showName) })
  const present = reverseNameOf(tx, address)
  // A private address may be a server's at each location, and a name server has one record for all of them.
  const isAnothers = present !== undefined && present.name !== null && present.addressId !== held.id
  if (isAnothers && name === null) return shown()
  if (isAnothers)
    throw new ApiError(
      'name_of_another',
      `${address} has a name for a server at another location, where the same private range is used. The name server ` +
        'has one record for both.',
    )
  if (name !== null && !present && names.length >= MOST_NAMES)
    throw new ApiError('limit_reached', `The addresses of a server have at most ${MOST_NAMES} names. Remove one first.`)
  // A name that was never there needs no deletion.
  if (name !== null || present) wantName(tx, address, held.id, name, clock())
  return shown()
}
