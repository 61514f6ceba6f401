import { getTableColumns, sql } from 'drizzle-orm'
import { ended, type Slice, type Sorts } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { encryptedColumn } from '../../kernel/db/encrypted.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { type GpuImage, gpuImages } from './tables.ts'

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
/** A slice of the images, by name where nothing else is asked for. */
export function gpuImagesByName(tx: Db, slice: Slice): GpuImage[] {
  const { behind, inOrder, sortValue } = ended(slice, gpuImages.name, 'ASC')
  return tx
    .select({ ...getTableColumns(gpuImages), ...sortValue })
    .from(gpuImages)
    .where(behind)
    .orderBy(...inOrder)
    .limit(slice.limit)
    .offset(slice.skip)
    .all()
}
export const countGpuImages = (tx: Db): number => tx.select({ n: sql<number>`count(*)` }).from(gpuImages).get()!.n

/** Throws a unique violation when the name is taken. */
export const insertGpuImage = (tx: Tx, row: typeof gpuImages.$inferInsert): GpuImage =>
  tx.insert(gpuImages).values(row).returning().get()
/** Throws a unique violation when the name is taken. */
export const updateGpuImage = (tx: Tx, row: GpuImage, given: Partial<GpuImage>): GpuImage =>
  patched(tx, gpuImages, row, given)
