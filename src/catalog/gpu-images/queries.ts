import type { Sorts } from '../../kernel/api/list.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { encryptedColumn } from '../../kernel/db/encrypted.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { queriesOfGoods } from '../goods-queries.ts'
import { gpuImages } from './tables.ts'

export const registryPassword = encryptedColumn(
  gpuImages,
  'encryptedRegistryPassword',
  ({ id }: { id: string }) => `${id} registry password`,
)
export const gpuImageReference = reference(gpuImages, ['name', 'archived'])
export const gpuImageTarget: AuditTarget = { prefix: 'gim', name: (id) => gpuImageReference.value('name', id) }
export const gpuImageById = rowBy(gpuImages, gpuImages.id)

/** The orders of the list. */
export const gpuImageSorts = { name: 'gpu_images.name', archived: 'gpu_images.archived' } satisfies Sorts
export const gpuImageQueries = queriesOfGoods(gpuImages)
