import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { columnsOf } from '../../kernel/fields/field-list.ts'
import { gpuOfferFields } from './fields.ts'

/** Sizes in which GPU instances are sold: whole cards of one model and what goes with them. */
export const gpuOffers = sqliteTable('gpu_offers', {
  id: text().primaryKey(),
  ...columnsOf(gpuOfferFields),
  archived: integer({ mode: 'boolean' }).notNull().default(false),
  createdAt: integer('created_at').notNull(),
})
export type GpuOffer = typeof gpuOffers.$inferSelect

/** The images of an offer, in their order: the first one on sale runs where an order names none. */
export const gpuOfferImages = sqliteTable(
  'gpu_offer_images',
  {
    offerId: text('offer_id').notNull(),
    place: integer().notNull(),
    imageId: text('image_id').notNull(),
  },
  (t) => [primaryKey({ columns: [t.offerId, t.place] })],
)
