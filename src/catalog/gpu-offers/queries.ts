import { eq, sql } from 'drizzle-orm'
import type { Slice, Sorts } from '../../kernel/api/list.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { queriesOfGoods } from '../goods-queries.ts'
import { gpuImageById } from '../gpu-images/queries.ts'
import { type GpuOffer, gpuOfferImages, gpuOffers } from './tables.ts'

export const gpuOfferReference = reference(gpuOffers, ['name', 'billingProductId'])
export const gpuOfferTarget: AuditTarget = { prefix: 'off', name: (id) => gpuOfferReference.value('name', id) }
export const gpuOfferById = rowBy(gpuOffers, gpuOffers.id)

/** The orders of the list. */
export const gpuOfferSorts = {
  name: 'gpu_offers.name',
  cards: 'gpu_offers.cards',
  archived: 'gpu_offers.archived',
} satisfies Sorts
export const gpuOfferQueries = queriesOfGoods(gpuOffers)
// As literals: SQLite uses a partial index for a condition that it can read.
const isSelfService = sql`${gpuOffers.selfService} = 1 AND ${gpuOffers.archived} = 0`
/** A slice of the offers that customers and resellers may order themselves, by name. */
export const selfServiceOffers = (tx: Db, slice: Slice): GpuOffer[] => gpuOfferQueries.byName(tx, slice, isSelfService)
export const countSelfServiceOffers = (tx: Db): number => gpuOfferQueries.count(tx, isSelfService)
const isOnSale = sql`${gpuOffers.archived} = 0`
/** A slice of all offers that are not archived, by name. */
export const offersOnSale = (tx: Db, slice: Slice): GpuOffer[] => gpuOfferQueries.byName(tx, slice, isOnSale)
export const countOffersOnSale = (tx: Db): number => gpuOfferQueries.count(tx, isOnSale)
const anySelfService = prepared(({ $client }) =>
  $client.prepare('SELECT 1 FROM gpu_offers WHERE self_service = 1 AND archived = 0 LIMIT 1'),
)
export const hasSelfServiceOffers = (tx: Db): boolean => anySelfService(tx).get() !== null

/** Every offer by name, archived ones too. */
export const everyGpuOffer = (tx: Db): GpuOffer[] => tx.select().from(gpuOffers).orderBy(gpuOffers.name).all()

const statements = prepared(({ $client }) => ({
  images: $client.prepare<{ id: string }, [string]>(
    'SELECT image_id AS id FROM gpu_offer_images WHERE offer_id = ? ORDER BY place',
  ),
  short: $client.prepare<{ name: string; ports: number }, [string, number]>(
    `SELECT o.name, o.ports FROM gpu_offer_images i JOIN gpu_offers o ON o.id = i.offer_id
     WHERE i.image_id = ? AND o.own_ipv4 = 0 AND o.archived = 0 AND o.ports < ? ORDER BY o.name LIMIT 1`,
  ),
}))
/** The images of an offer in their order, archived ones too. */
export const imagesIn = (tx: Db, offerId: string) =>
  statements(tx)
    .images.all(offerId)
    .map(({ id }) => gpuImageById(tx, id)!)
/** An offer whose instances with this image have fewer ports than the image needs. */
export const offerShortOfPorts = (tx: Db, imageId: string, ports: number) =>
  statements(tx).short.get(imageId, ports) ?? undefined

/** These are its images from now on, in this order. */
export function setImages(tx: Tx, offerId: string, imageIds: readonly string[]) {
  tx.delete(gpuOfferImages).where(eq(gpuOfferImages.offerId, offerId)).run()
  for (const [place, imageId] of imageIds.entries()) tx.insert(gpuOfferImages).values({ offerId, place, imageId }).run()
}
