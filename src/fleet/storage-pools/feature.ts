import { feature } from '../../kernel/feature.ts'
import { changeStoragePool } from './change.ts'
import { listStoragePools } from './list.ts'
import { storagePoolTarget } from './queries.ts'
import { storageHeld, storagePools } from './tables.ts'

const errors = {
  storage_pool_not_found: { status: 404, when: 'There is no such storage pool.', remedy: 'Check the id.' },
} as const

const ids = { storagePool: { prefix: 'stp', sample: 'local' } } as const

declare module '../../kernel/register.ts' {
  interface Names {
    'storage-pools': { ids: typeof ids; errors: typeof errors }
  }
}

/** Causes of failed jobs, in words for everybody. */
const failures = {
  disk_in_use: 'Another node has its disk open.',
  disk_too_small: 'The disk is too small for the image.',
  no_pool: 'The storage of the node is not available.',
  no_volume: 'The disk is not on the node.',
  pool_full: 'The storage of the node is full.',
  pool_silent: 'The storage of the node does not respond.',
  pool_unsafe: 'The storage of the node is not set up safely, so it is not used.',
  pools_file: 'The list of storage pools on the node has a mistake.',
  volume_differs: 'The disk on the node is not the expected one.',
  disk_is_thick: 'The disk was taken over from another panel as it was, and cannot do this before it has moved.',
} as const

export const storagePoolsFeature = feature({
  name: 'storage-pools',
  failures,
  ids,
  errors,
  samples: { storageClass: 'nvme', storagePool: 'local', class: 'nvme', metadataPercent: null },
  tables: [storagePools, storageHeld],
  operations: [listStoragePools, changeStoragePool],
  auditTargets: [storagePoolTarget],
})
