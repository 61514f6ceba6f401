// Addresses that are never given out again, such as one that is on block lists for good. Triggers reserve them when
// they are free (0237_retired_addresses.sql); who has one keeps it until then.
import { Type as t } from 'typebox'
import { described, fields, line, nullable, operation } from '../../../kernel/api/operation.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { addressStates, poolAddress, stateOf } from '../model.ts'
import { addressById, setRetiredFor } from '../queries.ts'

const access = { staff: ['network:write'] } as const
const response = t.Object({
  id: t.String(),
  address: t.String(),
  state: described(t.Enum([...addressStates]), 'held: it is reserved when it is given back.'),
  retiredFor: nullable(t.String()),
})
function shown(tx: Tx, addressId: string) {
  const row = addressById(tx, addressId)!
  return { id: row.id, address: row.address, state: stateOf(row), retiredFor: row.retiredFor }
}

export const retireAddress = operation({
  id: 'pools.retire-address',
  method: 'POST',
  path: '/admin/ip-addresses/{id}/actions/retire',
  summary: 'Never give an address out again; a server that has it keeps it. Again with another reason: changes that',
  past: 'Set that an address is never given out again',
  access,
  on: poolAddress,
  body: fields({ reason: line(200) }),
  response,
  example: { reason: 'On block lists since abuse report 118' },
  run({ tx, target, body }) {
    setRetiredFor(tx, target.id, body.reason)
    return shown(tx, target.id)
  },
})

export const unretireAddress = operation({
  id: 'pools.unretire-address',
  method: 'POST',
  path: '/admin/ip-addresses/{id}/actions/unretire',
  summary: 'Let an address that was never to be given out again be given to servers; of any other it changes nothing',
  past: 'Let an address be given out again',
  access,
  on: poolAddress,
  response,
  run({ tx, target }) {
    setRetiredFor(tx, target.id, null)
    return shown(tx, target.id)
  },
})
