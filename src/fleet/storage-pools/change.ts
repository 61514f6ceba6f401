import { Type as t } from 'typebox'
import { described, fields, operation } from '../../kernel/api/operation.ts'
import { showStoragePool, storagePool, storagePoolResponse } from './model.ts'
import { updateStoragePool } from './queries.ts'

export const changeStoragePool = operation({
  id: 'storage-pools.update',
  method: 'PATCH',
  path: '/admin/storage-pools/{id}',
  summary: 'Close a storage pool for the disks of new servers, or set its overcommit limit',
  past: 'Changed a storage pool',
  access: { staff: ['nodes:write'] },
  on: storagePool,
  body: fields({
    open: t.Optional(described(t.Boolean(), 'It takes the disks of new servers.')),
    overcommitPercent: t.Optional(
      described(t.Integer({ minimum: 10, maximum: 1000 }), 'The overcommit limit, of its size; 100: all of it.'),
    ),
  }),
  response: storagePoolResponse,
  example: { overcommitPercent: 150 },
  run: ({ tx, target, body }) => showStoragePool(tx, updateStoragePool(tx, target, body)),
})
