import { Type as t } from 'typebox'
import { load, type Server, server } from '../../../compute/server-records/model.ts'
import { serverIdsOf } from '../../../compute/server-records/queries.ts'
import { described, namedSchema, nullable, operation } from '../../../kernel/api/operation.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { addressesOf, isOwn } from '../../ip-pools/allocate.ts'
import { isRoutedBy } from '../../ip-pools/floating.ts'
import { changeEffects, textOf } from './parts.ts'

/** A list that a person chooses from; the call itself takes any. */
const MOST_PARTNERS = 100

const partner = t.Object({ id: t.String(), hostname: t.String(), address: t.String() })

export const primaryAddressOptions = operation({
  id: 'servers.primary-address-options',
  method: 'GET',
  path: '/servers/{id}/primary-address-options',
  summary: 'What a change of each primary address of a server means, and with which servers it can swap it',
  access: { staff: ['servers:resize'], reseller: ['reseller:servers'] },
  atReader: true,
  on: server,
  response: t.Object({
    options: t.Array(
      namedSchema('PrimaryAddressOption', {
        version: t.Enum([4, 6]),
        address: t.String(),
        effects: described(t.Array(t.String()), 'Of a change, in sentences.'),
        swapWith: described(
          t.Array(partner),
          `Servers of the same owner whose node routes its address, and the other way round: ${MOST_PARTNERS} at most.`,
        ),
        swapsWithNone: described(nullable(t.String()), 'Why there is none, in words.'),
      }),
    ),
  }),
  run({ tx, target }) {
    const own = addressesOf(tx, target.id).filter((a) => isOwn(a) && a.isPrimary)
    return {
      options: own.map((address) => {
        const swapWith = partnersOf(tx, target, address)
        return {
          version: address.version,
          address: textOf(address),
          effects: changeEffects(tx, target, address),
          swapWith,
          swapsWithNone: swapWith.length
            ? null
            : 'Its owner has no other server whose node routes this address, and the other way round.',
        }
      }),
    }
  },
})

function partnersOf(tx: Db, target: Server, address: ReturnType<typeof addressesOf>[number]) {
  return serverIdsOf(tx, target.ownerId, MOST_PARTNERS + 1).flatMap((id) => {
    if (id === target.id) return []
    const other = load(tx, id)
    const its = addressesOf(tx, id).find((a) => isOwn(a) && a.isPrimary && a.version === address.version)
    if (
      !its ||
      its.pool.vlan !== address.pool.vlan ||
      !isRoutedBy(tx, its.id, target.nodeId) ||
      !isRoutedBy(tx, address.id, other.nodeId)
    )
      return []
    return [{ id, hostname: other.hostname, address: textOf(its) }]
  })
}
