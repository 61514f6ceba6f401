import { feature } from '../../kernel/feature.ts'
import { changeStoragePool } from './change.ts'
import { listStoragePools } from './list.ts'
import { storagePoolTarget } from './queries.ts'
import { storageHeld, storagePools } from './tables.ts'

const errors = {
  storage_pool_not_found: { status: 404, when: 'There is no such storage pool.', remedy: 'Check the id.' },
} as const
type Errors = typeof errors

const ids = { storagePool: { prefix: 'stp', sample: 'local' } } as const
type Ids = typeof ids
declare module '../../kernel/register.ts' {
  interface IdKinds extends Ids {}
  interface ErrorCodes extends Errors {}
}

export const storagePoolsFeature = feature({
  name: 'storage-pools',
  ids,
  errors,
  samples: { storageClass: 'nvme', storagePool: 'local', class: 'nvme', metadataPercent: null },
  tables: [storagePools, storageHeld],
  operations: [listStoragePools, changeStoragePool],
  auditTargets: [storagePoolTarget],
})
