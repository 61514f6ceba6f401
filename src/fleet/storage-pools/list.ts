import { page, paginateAll } from '../../kernel/api/list.ts'
import { operation } from '../../kernel/api/operation.ts'
import { node } from '../node-records/model.ts'
import { showStoragePool, storagePoolResponse } from './model.ts'
import { poolsOn } from './queries.ts'

export const listStoragePools = operation({
  id: 'storage-pools.list',
  method: 'GET',
  path: '/admin/nodes/{id}/storage-pools',
  summary: 'The storage pools of a node by name: how full they are, and what is promised in them',
  access: { staff: ['nodes:read'] },
  on: node,
  // A node reports no more; those that it does not report any more are few.
  pages: { usual: 100, most: 100 },
  response: page(storagePoolResponse),
  run: (call) =>
    paginateAll({
      call,
      name: `storage pools ${call.target.id}`,
      all: poolsOn(call.tx, call.target.id),
      keyOf: (pool) => pool.name,
      show: (pool) => showStoragePool(call.tx, pool),
      order: 'names',
    }),
})
