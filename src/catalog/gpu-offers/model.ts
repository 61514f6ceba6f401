// Offers of GPU instances: a number of whole cards of one model with what goes with them.
import { type Static, Type as t } from 'typebox'
import { type GpuNeed, gpuStockCounter } from '../../fleet/gpus/placement.ts'
import type { Location } from '../../fleet/locations/model.ts'
import { allLocations } from '../../fleet/locations/queries.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { described, namedSchema, type Resource } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { responseOf, valuesOf } from '../../kernel/fields/field-list.ts'
import { archived } from '../goods.ts'
import type { GpuImage } from '../gpu-images/model.ts'
import { useOfGpuOffer } from '../in-use.ts'
import { gpuOfferFields } from './fields.ts'
import { gpuOfferById, imagesIn } from './queries.ts'
import type { GpuOffer } from './tables.ts'

export type { GpuOffer }

/** Staff see every offer; others those that they may order themselves. */
export const gpuOffer: Resource<GpuOffer> = {
  name: 'GPU offer',
  notFound: 'gpu_offer_not_found',
  find: (tx, actor, id) => {
    const found = gpuOfferById(tx, id)
    return found && (actor.kind === 'staff' || (found.selfService && !found.archived)) ? found : undefined
  },
}

/** One instance of an offer takes so much of its host. */
export const needOf = ({ model, cards, vcpus, memoryMb, workspaceGb, ports, ownIpv4 }: GpuOffer): GpuNeed => ({
  ...{ model, cards, vcpus, memoryMb, workspaceGb, ownIpv4 },
  ports: ownIpv4 ? 0 : ports,
})

/** The images of an offer that are on sale, in their order; the first runs where an order names none. */
export const imagesOf = (tx: Db, offerId: string): GpuImage[] =>
  imagesIn(tx, offerId).filter(({ archived }) => !archived)

export const gpuOfferResponse = namedSchema('GpuOffer', {
  id: t.String(),
  ...responseOf(gpuOfferFields),
  archived,
  images: described(
    t.Array(t.Object({ id: t.String(), name: t.String(), archived: t.Boolean() })),
    'An order that names none gets the first that is not archived.',
  ),
  locations: t.Array(
    namedSchema('GpuOfferLocation', {
      id: t.String(),
      name: t.String(),
      available: described(t.Boolean(), 'An order there is accepted now.'),
      free: described(t.Integer(), 'So many orders are accepted there now, one after another; 1000 and more are 1000.'),
    }),
  ),
  instances: t.Integer(),
})

type OfferContext = Pick<AppContext, 'nodes' | 'registry'> & { tx: Db }
/** Shows offers, with what is free of each at this moment. What is read for one counts for the next. */
export function offersShown({ tx, nodes, registry }: OfferContext) {
  const locations: Location[] = allLocations(tx)
  const stock = gpuStockCounter(tx, nodes)
  return (offer: GpuOffer): Static<typeof gpuOfferResponse> => {
    const images = imagesIn(tx, offer.id)
    const isSold = !offer.archived && images.some(({ archived }) => !archived)
    return {
      id: offer.id,
      ...valuesOf(gpuOfferFields, offer),
      archived: offer.archived,
      images: images.map(({ id, name, archived }) => ({ id, name, archived })),
      locations: locations.map((location) => {
        const free = isSold ? stock(location, needOf(offer)).available : 0
        return { id: location.id, name: location.name, available: free > 0, free }
      }),
      instances: useOfGpuOffer({ tx, registry }, offer.id),
    }
  }
}
