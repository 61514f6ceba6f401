import { and, eq, isNull } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { type Image, images } from './tables.ts'

export const imageReference = reference(images, ['name'])
export const imageTarget: AuditTarget = {
  prefix: 'img',
  name: (id) => imageReference.value('name', id),
}
export const imageById = rowBy(images, images.id)

const present = isNull(images.removedAt)
const published = and(present, eq(images.published, true))

/** A page of the images that are not removed, newest first. */
export const pageOfImages = <Shown>(call: ReadContext, show: (image: Image) => Shown) =>
  newest({ call, name: 'images', table: images, where: present, show })
/** A page of the images that can be ordered, newest first. */
export const pageOfPublishedImages = <Shown>(call: ReadContext, show: (image: Image) => Shown) =>
  newest({ call, name: 'offered images', table: images, where: published, show })

/** The entries of the catalogue that are images here; null stands for imported ones. */
export const catalogueIdsInUse = (tx: Db): Set<string | null> =>
  new Set(
    tx
      .select({ id: images.catalogueId })
      .from(images)
      .where(present)
      .all()
      .map(({ id }) => id),
  )

const anyPublished = prepared((db) => db.select({ id: images.id }).from(images).where(published).limit(1).prepare())
/** Is there an image that can be ordered? */
export const isAnyImagePublished = (tx: Db): boolean => anyPublished(tx).get() !== undefined

const isDefault = eq(images.isDefault, true)
/** Throws a unique violation when the name is taken. The first image is the default until staff choose another. */
export function insertImage(tx: Tx, row: typeof images.$inferInsert): Image {
  const hasDefault = tx.select({ id: images.id }).from(images).where(isDefault).get() !== undefined
  return tx
    .insert(images)
    .values({ ...row, isDefault: !hasDefault })
    .returning()
    .get()
}
/** Throws a unique violation when the name is taken. A new default takes the place of the one before. */
export function updateImage(tx: Tx, row: Image, given: Partial<Image>): Image {
  if (given.isDefault) tx.update(images).set({ isDefault: false }).where(isDefault).run()
  return patched(tx, images, row, given)
}
