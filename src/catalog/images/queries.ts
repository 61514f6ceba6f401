import { and, asc, count, desc, eq, isNotNull, isNull, lt, max, min, or } from 'drizzle-orm'
import type { ApiError, Code } from '../../kernel/api/errors.ts'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import type { GoodSignature } from '../../kernel/crypto/openpgp.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import type { Build } from './published.ts'
import { type Image, type ImageBuild, imageBuilds, images } from './tables.ts'

export const imageReference = reference(images, ['name'])
export const imageTarget: AuditTarget = {
  prefix: 'img',
  name: (id) => imageReference.value('name', id),
}
export const imageById = rowBy(images, images.id)

const present = isNull(images.removedAt)
const ofStaff = and(present, isNull(images.ownerId))
const ofOwner = (ownerId: string) => and(present, eq(images.ownerId, ownerId))
const published = and(ofStaff, eq(images.published, true))

/** A page of the images that staff offer, newest first. */
export const pageOfImages = <Shown>(call: ReadContext, show: (image: Image) => Shown) =>
  newest({ call, name: 'images', table: images, where: ofStaff, show })
/** A page of the images that this account can order: those that are published and its own, newest first. */
export const pageOfOfferedImages = <Shown>(call: ReadContext, ownerId: string, show: (image: Image) => Shown) =>
  newest({ call, name: `offered images ${ownerId}`, table: images, where: or(published, ofOwner(ownerId)), show })
/** A page of the account's own images, newest first. */
export const pageOfOwnImages = <Shown>(call: ReadContext, ownerId: string, show: (image: Image) => Shown) =>
  newest({ call, name: `own images ${ownerId}`, table: images, where: ofOwner(ownerId), show })
export const countOwnImages = (tx: Db, ownerId: string): number =>
  tx.select({ n: count() }).from(images).where(ofOwner(ownerId)).get()!.n

/** The entries of the catalogue that are images here; null stands for imported ones. */
export const catalogueIdsInUse = (tx: Db): Set<string | null> =>
  new Set(
    tx
      .select({ id: images.catalogueId })
      .from(images)
      .where(ofStaff)
      .all()
      .map(({ id }) => id),
  )

const anyPublished = prepared((db) => db.select({ id: images.id }).from(images).where(published).limit(1).prepare())
/** Is there an image that can be ordered? */
export const isAnyImagePublished = (tx: Db): boolean => anyPublished(tx).get() !== undefined

const isRescue = eq(images.isRescue, true)
/** The image from which rescue systems start; undefined where staff have chosen none. */
export const rescueImage = (tx: Db): Image | undefined => tx.select().from(images).where(and(present, isRescue)).get()

const isDefault = eq(images.isDefault, true)
/** Throws a unique violation when the name is taken. The first image is the default until staff choose another. */
export function insertImage(tx: Tx, row: typeof images.$inferInsert): Image {
  const hasDefault = tx.select({ id: images.id }).from(images).where(isDefault).get() !== undefined
  const made = tx
    .insert(images)
    .values({ ...row, isDefault: !hasDefault && !row.ownerId })
    .returning()
    .get()
  noteBuild(tx, made, made.createdAt)
  return made
}

/** Notes the build of the image, or the newer signature of one that is known. */
function noteBuild(tx: Tx, { id: imageId, checksum, url, sizeBytes, signedBy, signedAt }: Image, foundAt: number) {
  const signed = { signedBy, signedAt }
  const row = { imageId, checksum, url, sizeBytes, foundAt, ...signed }
  tx.insert(imageBuilds)
    .values(row)
    .onConflictDoUpdate({ target: [imageBuilds.imageId, imageBuilds.checksum], set: signed })
    .run()
}

/** When the newest known list of an entry of the catalogue was signed, also of images that were removed. */
export const newestSignature = (tx: Db, catalogueId: string): number | null =>
  tx
    .select({ at: max(imageBuilds.signedAt) })
    .from(imageBuilds)
    .innerJoin(images, eq(images.id, imageBuilds.imageId))
    .where(eq(images.catalogueId, catalogueId))
    .get()!.at

/** The build becomes the current one of the image. Its minimum disk grows with it, and never shrinks. */
export function takeBuild(tx: Tx, row: Image, build: Build, now: number): Image {
  const { url, checksum, sizeBytes, leastDiskGb, signature } = build
  const given = { url, checksum, sizeBytes, minDiskGb: Math.max(row.minDiskGb, leastDiskGb), ...signedAs(signature) }
  const after = tx.update(images).set(given).where(eq(images.id, row.id)).returning().get()!
  noteBuild(tx, after, now)
  return after
}

/** The list with the current build was read again: its signature, which may be newer or the first one. */
export function takeSignature(tx: Tx, row: Image, signature: GoodSignature | null): Image {
  const after = tx.update(images).set(signedAs(signature)).where(eq(images.id, row.id)).returning().get()!
  noteBuild(tx, after, row.createdAt)
  return after
}

/** The columns of a signature. */
export const signedAs = (signature: GoodSignature | null) => ({
  signedBy: signature?.fingerprint ?? null,
  signedAt: signature?.signedAt ?? null,
})

/** The builds of an image, newest first. */
export const buildsOf = (tx: Db, imageId: string): ImageBuild[] =>
  tx
    .select()
    .from(imageBuilds)
    .where(eq(imageBuilds.imageId, imageId))
    .orderBy(desc(imageBuilds.foundAt), desc(imageBuilds.checksum))
    .limit(SHOWN_BUILDS)
    .all()
/** A year of weekly builds. */
export const SHOWN_BUILDS = 60

const ofCatalogue = and(ofStaff, isNotNull(images.catalogueId))
/** The images of the catalogue whose distribution was not asked since. */
export const imagesToCheck = (tx: Db, before: number): Image[] =>
  tx
    .select()
    .from(images)
    .where(and(ofCatalogue, or(isNull(images.checkedAt), lt(images.checkedAt, before))))
    .orderBy(asc(images.checkedAt))
    .all()
/** The distribution was asked. `failure`: why it could not say what is current. */
export function noteCheck(tx: Tx, id: string, now: number, failure: Pick<ApiError, 'code' | 'message'> | null) {
  const { since } = tx.select({ since: images.checkFailingSince }).from(images).where(eq(images.id, id)).get()!
  const checkFailingSince = failure === null ? null : (since ?? now)
  const failed = { checkFailure: failure?.message ?? null, checkFailureCode: failure?.code ?? null }
  tx.update(images)
    .set({ checkedAt: now, ...failed, checkFailingSince })
    .where(eq(images.id, id))
    .run()
}
/** The images that could not be checked since before this time, for this reason, with the earliest time. */
export const uncheckedImages = (tx: Db, code: Code, before: number) =>
  tx
    .select({ n: count(), name: min(images.name), since: min(images.checkFailingSince), why: min(images.checkFailure) })
    .from(images)
    .where(and(ofCatalogue, eq(images.checkFailureCode, code), lt(images.checkFailingSince, before)))
    .get()!
/**
 * Throws a unique violation when the name is taken. A new default, and a new rescue image, takes the place of the one
 * before.
 */
export function updateImage(tx: Tx, row: Image, given: Partial<Image>): Image {
  if (given.isDefault) tx.update(images).set({ isDefault: false }).where(isDefault).run()
  if (given.isRescue) tx.update(images).set({ isRescue: false }).where(isRescue).run()
  return patched(tx, images, row, given)
}
