import { Type as t } from 'typebox'
import { page, paginate } from '../../kernel/api/list.ts'
import { described, namedSchema, nullable, operation, type ReadContext, time } from '../../kernel/api/operation.ts'
import { moment, momentFrom } from '../../kernel/api/query.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import type { Where } from '../../kernel/db/rows.ts'
import { settingValue } from '../../kernel/setting.ts'
import { addressStates, pool, stateOf } from '../ip-pools/model.ts'
import { addressById, poolById } from '../ip-pools/queries.ts'
import { historyDays } from './keep.ts'
import { holdingResponse, knownAddress, showHolding } from './model.ts'
import { countLines, linesOf, ofAddress, ofPool, storedAs } from './queries.ts'

/** They name customers beside servers. */
const access = { staff: ['customers:read'] } as const

const listing = (call: ReadContext, name: string, where: Where) =>
  paginate({
    call,
    name,
    rows: (slice) => linesOf(call.tx, where, slice),
    keyOf: ({ id }) => String(id),
    show: showHolding,
    total: () => countLines(call.tx, where),
  })

/** Those that the call asks for by its address and `at`, a page of them. Throws `address_not_found`. */
export function holdingsAsked(call: ReadContext) {
  const address = call.params['address']!
  const { at } = call.query
  const then = at === undefined ? undefined : momentFrom('at', at)
  // First: a wrong cursor is refused whatever the address is.
  const found = listing(call, `history ${address} ${at ?? ''}`, ofAddress(storedAs(address) ?? [], then))
  if (!found.total) knownAddress(call.tx, address)
  return found
}

export const listAddressHistory = operation({
  id: 'addresses.history',
  method: 'GET',
  path: '/admin/addresses/{address}/history',
  summary: 'Who had an address, from when to when, newest first; also an address inside an IPv6 prefix',
  access,
  query: { at: moment('Who had it at this time: no other holding is answered.') },
  pages: { usual: 50, most: 200 },
  response: page(holdingResponse),
  refuses: ['address_not_found'],
  run: holdingsAsked,
})

export const listPoolHistory = operation({
  id: 'pools.history',
  method: 'GET',
  path: '/admin/ip-pools/{id}/history',
  summary: 'Who had the addresses of a pool, from when to when, newest first',
  access,
  on: pool,
  pages: { usual: 50, most: 200 },
  response: page(holdingResponse),
  run: (call) => listing(call, `history of ${call.target.id}`, ofPool(call.target.id)),
})

export const getAddress = operation({
  id: 'addresses.get',
  method: 'GET',
  path: '/admin/addresses/{address}',
  summary: 'An address as its pools have it now, and how long its history is kept',
  access,
  response: namedSchema('AddressNow', {
    address: t.String(),
    historyDays: described(t.Integer(), 'Who had it is kept for so many days.'),
    rows: described(
      t.Array(
        t.Object({
          id: t.String(),
          address: described(t.String(), 'The first address of the IPv6 prefix in which it lies.'),
          prefixLength: t.Integer(),
          state: t.Enum([...addressStates]),
          reservedFor: nullable(t.String()),
          retiredFor: described(
            nullable(t.String()),
            'Why it is never given out again, also of one that a server has still.',
          ),
          restsUntil: nullable(time),
          pool: t.Object({ id: t.String(), name: t.String(), gateway: t.String() }),
        }),
      ),
      'More than one where pools of several locations have the same private range; none where its pool was removed, ' +
        'or its prefix is not cut yet.',
    ),
  }),
  refuses: ['address_not_found'],
  run({ tx, params }) {
    const address = params['address']!
    const { spellings, ids } = knownAddress(tx, address)
    return {
      address: spellings[0]![0],
      historyDays: settingValue(tx, historyDays),
      rows: ids.map((id) => {
        const row = addressById(tx, id)!
        const { name, gateway } = poolById(tx, row.poolId)!
        return {
          id,
          address: row.address,
          prefixLength: row.prefixLength,
          state: stateOf(row),
          reservedFor: row.reservedFor,
          retiredFor: row.retiredFor,
          restsUntil: isoOrNull(row.restsUntil),
          pool: { id: row.poolId, name, gateway },
        }
      }),
    }
  },
})
