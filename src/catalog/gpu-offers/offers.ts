import { Type as t } from 'typebox'
import { knownModels } from '../../fleet/gpus/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described, fields, nullable, operation, see } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { bodyOf, changesOf } from '../../kernel/fields/field-list.ts'
import { count } from '../../kernel/words.ts'
import { mustBeWholePrice } from '../goods.ts'
import { goods, mayBeArchived } from '../goods-operations.ts'
import { containerPortsOf, gpuImage } from '../gpu-images/model.ts'
import { gpuOfferFields } from './fields.ts'
import { type GpuOffer, gpuOffer, gpuOfferResponse, offersShown } from './model.ts'
import { gpuOfferQueries, gpuOfferSorts, imagesIn, setImages } from './queries.ts'

const offerGoods = goods({
  word: 'offer',
  path: '/admin/gpu-offers',
  writers: ['gpu:write'],
  queries: gpuOfferQueries,
  sorts: gpuOfferSorts,
  response: gpuOfferResponse,
  show: offersShown,
})

const imageIds = described(
  t.Array(t.String({ minLength: 1, maxLength: 40 }), { minItems: 1, maxItems: 50 }),
  'In their order: the first that is not archived runs where an order names none.',
)

/** Throws `validation_failed` where an image is none, or needs more ports than instances have. */
function checkedImages(
  tx: Tx,
  actor: Actor,
  ids: readonly string[],
  { ports, ownIpv4 }: Pick<GpuOffer, 'ports' | 'ownIpv4'>,
) {
  const unique = [...new Set(ids)]
  for (const id of unique) {
    const image = see(tx, actor, gpuImage, id, 'imageIds')
    const needed = containerPortsOf(image).length
    if (!ownIpv4 && needed > ports)
      throw invalid({ field: 'ports', message: `are too few: ${image.name} needs ${count(needed, 'port')}.` })
  }
  return unique
}

export const createGpuOffer = operation({
  ...offerGoods.creates,
  id: 'gpu-offers.create',
  summary: 'Add an offer that GPU instances can be ordered with',
  past: 'Added a GPU offer',
  body: fields({ ...bodyOf(gpuOfferFields), imageIds }),
  example: {
    name: '1x H100',
    model: 'NVIDIA H100 80GB HBM3',
    cards: 1,
    vcpus: 16,
    memoryMb: 131_072,
    workspaceGb: 500,
    ports: 5,
    ownIpv4: false,
    billingProductId: 'whmcs:80',
    imageIds: ['<gpu_image_id>'],
  },
  run(call) {
    const { tx, actor, body, clock } = call
    const { imageIds: ids, ...given } = body
    mustBeWholePrice(given)
    const usual = { ports: gpuOfferFields.ports.usual, ownIpv4: gpuOfferFields.ownIpv4.usual }
    const row = { id: newId('off'), ...usual, ...given, createdAt: clock() }
    const images = checkedImages(tx, actor, ids, row)
    const made = offerGoods.insert(tx, row)
    setImages(tx, made.id, images)
    return offersShown(call)(made)
  },
})

export const changeGpuOffer = operation({
  ...offerGoods.changes,
  id: 'gpu-offers.update',
  summary: 'Change an offer of GPU instances, or archive it; instances keep what they were ordered with',
  past: 'Changed a GPU offer',
  on: gpuOffer,
  body: fields({
    ...changesOf(gpuOfferFields),
    imageIds: t.Optional(imageIds),
    ...mayBeArchived,
  }),
  example: { billingProductId: 'whmcs:81' },
  auditSnapshot: ({ tx, target }) => ({ ...target, imageIds: imagesIn(tx, target.id).map(({ id }) => id) }),
  run(call) {
    const { tx, actor, target, body } = call
    const { imageIds: ids = imagesIn(tx, target.id).map(({ id }) => id), ...given } = body as Partial<GpuOffer> & {
      imageIds?: string[]
    }
    mustBeWholePrice({ ...target, ...given })
    const images = checkedImages(tx, actor, ids, { ...target, ...given })
    const changed = offerGoods.update(tx, target, given)
    setImages(tx, target.id, images)
    return offersShown(call)(changed)
  },
})

export const listGpuOffers = operation({
  ...offerGoods.lists,
  id: 'gpu-offers.list',
  summary: 'Offers of GPU instances, with what is free of each in every location now',
  access: { staff: ['servers:read', 'servers:create', 'gpu:write'] },
  response: t.Object({
    data: t.Array(gpuOfferResponse),
    nextCursor: nullable(t.String()),
    total: t.Integer(),
    models: described(
      t.Array(t.Object({ model: t.String(), memoryMb: t.Integer() })),
      'The models of cards that nodes report.',
    ),
  }),
  run: (call) => ({ ...offerGoods.list(call), models: knownModels(call.tx) }),
})
