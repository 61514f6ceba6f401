import { feature } from '../../kernel/feature.ts'
import { emptyingPools } from './attention.ts'
import { attachPool, createPool, getPool, listPoolAddresses, listPools, removePool, reserveAddress } from './pools.ts'
import { addresses, poolNodes, pools } from './tables.ts'

const errors = {
  pool_not_found: { status: 404, when: 'There is no such address pool.', remedy: 'Check the id.' },
  address_not_found: { status: 404, when: 'There is no such address.', remedy: 'Check the id.' },
  no_addresses: {
    status: 409,
    when: 'The pools of the node have no free IPv4 address.',
    remedy: 'Treat it as out of stock; add a pool.',
  },
  pool_overlaps: {
    status: 409,
    when: 'The network overlaps with another pool.',
    remedy: 'Choose another network, or remove that pool.',
  },
  address_in_use: { status: 409, when: 'A server has the address.', remedy: 'Choose another, or free it.' },
} as const
type Errors = typeof errors
declare module '../../kernel/register.ts' {
  interface ErrorCodes extends Errors {}
}

export const ipPoolsFeature = feature({
  name: 'ip-pools',
  errors,
  tables: [pools, addresses, poolNodes],
  operations: [createPool, listPools, getPool, listPoolAddresses, attachPool, reserveAddress, removePool],
  attention: [emptyingPools],
})
