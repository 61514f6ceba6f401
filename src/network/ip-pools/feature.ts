import { feature } from '../../kernel/feature.ts'
import { emptyingPools } from './attention.ts'
import { attachPool, createPool, getPool, listPoolAddresses, listPools, removePool, reserveAddress } from './pools.ts'
import { addresses, poolNodes, pools } from './tables.ts'

export const ipPoolsFeature = feature({
  name: 'ip-pools',
  tables: [pools, addresses, poolNodes],
  operations: [createPool, listPools, getPool, listPoolAddresses, attachPool, reserveAddress, removePool],
  attention: [emptyingPools],
})
