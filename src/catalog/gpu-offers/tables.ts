import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Sizes in which GPU instances are sold: whole cards of one model and what goes with them. */
export const gpuOffers = sqliteTable('gpu_offers', {
  id: text().primaryKey(),
  name: text().notNull(),
  /** As the nodes report it. */
  model: text().notNull(),
  cards: integer().notNull(),
  vcpus: integer().notNull(),
  memoryMb: integer('memory_mb').notNull(),
  workspaceGb: integer('workspace_gb').notNull(),
  /** Ports of the host that lead to an instance, that of SSH among them; without a meaning for one with an address. */
  ports: integer().notNull(),
  /** Its instances have an IPv4 address of their own. */
  ownIpv4: integer('own_ipv4', { mode: 'boolean' }).notNull(),
  billingProductId: text('billing_product_id'),
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
