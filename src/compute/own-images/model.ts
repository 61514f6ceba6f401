import { Type as t } from 'typebox'
import { hardware } from '../../catalog/images/hardware.ts'
import type { Image } from '../../catalog/images/model.ts'
import { imageById } from '../../catalog/images/queries.ts'
import { type UseContext, useOfImage } from '../../catalog/in-use.ts'
import { accountResource } from '../../identity/account-records/owned.ts'
import { described, namedSchema, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { wholeSetting } from '../../kernel/setting.ts'

export const IMAGES_PER_ACCOUNT = 20
export const ownImageGib = wholeSetting({
  name: 'images.own_gib',
  title: 'Largest own image',
  words: 'The largest file that a customer can add as an own image. Every node that uses it stores a copy.',
  weakens: 'never',
  default: 20,
  minimum: 1,
  maximum: 186,
  unit: 'GiB',
})

const present = (tx: Db, id: string): Image | undefined => {
  const found = imageById(tx, id)
  return found?.removedAt === null ? found : undefined
}
/** An image that an account chose. Others get the answer that an image which does not exist gets. */
export const ownImage = accountResource(
  { name: 'own image', notFound: 'image_not_found' },
  (tx, id) => present(tx, id)?.ownerId,
  present,
)

export const ownImageResponse = namedSchema('OwnImage', {
  id: t.String(),
  ownerId: t.String(),
  name: t.String(),
  url: t.String(),
  checksum: t.String(),
  sizeBytes: t.Integer(),
  minDiskGb: described(t.Integer(), 'The smallest disk that it fits on.'),
  os: hardware.os.response,
  networkConfig: hardware.networkConfig.response,
  createdAt: time,
  servers: described(t.Integer(), 'How many servers were installed with it.'),
})
export const showOwnImage = (call: UseContext, image: Image) => ({
  id: image.id,
  ownerId: image.ownerId!,
  name: image.name,
  url: image.url,
  checksum: image.checksum,
  sizeBytes: image.sizeBytes,
  minDiskGb: image.minDiskGb,
  os: image.os,
  networkConfig: image.networkConfig,
  createdAt: iso(image.createdAt),
  servers: useOfImage(call, image.id),
})
