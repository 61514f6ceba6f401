import { Type as t } from 'typebox'
import type { ImageSource } from '../../../agent/protocol/wire.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import { responseOf, valuesOf } from '../../kernel/fields/field-list.ts'
import { type UseContext, useOfImage } from '../in-use.ts'
import { entryOf } from './distributions/catalogue.ts'
import { signingKeys } from './distributions/signing-keys.ts'
import { hardware } from './hardware.ts'
import { imageById } from './queries.ts'
import type { Image } from './tables.ts'

export type { Image }

/** Staff see every image that they offer, others the published ones. An own image is its owner's alone. */
const canSee = (actor: Actor, { published, ownerId }: Image) =>
  ownerId === null ? actor.kind === 'staff' || published : ownerId === actor.accountId

export const image: Resource<Image> = {
  name: 'image',
  notFound: 'image_not_found',
  find: (tx, actor, id) => {
    const found = imageById(tx, id)
    return found?.removedAt === null && canSee(actor, found) ? found : undefined
  },
}

/** Where the controller keeps an image that nodes fetch from it. */
export const imagePath = (dataDir: string, id: string, format: string) => `${dataDir}/images/${id}.${format}`

/** The part of an image that a node needs to fetch and recognise it. */
export const sourceOf = ({ id, url, format, checksum, ownerId }: Image): ImageSource => ({
  id,
  url,
  format,
  checksum,
  ...(ownerId !== null && { publicOnly: true }),
})

export const verification = described(
  t.Object({
    by: described(
      t.Enum(['signature', 'https', 'import']),
      'signature: the list with its checksum is signed by its distribution. https: the list came from its ' +
        "distribution's server by HTTPS, without a signature. import: the controller computed it from the file.",
    ),
    fingerprint: described(nullable(t.String()), 'Of the key that signed; null without a signature.'),
    signedAt: nullable(time),
    words: described(t.String(), 'The same as a sentence, with the reason where no signature is verified.'),
  }),
  'How its checksum was verified before nodes compare files with it.',
)

type Signed = Pick<Image, 'signedBy' | 'signedAt'>
/** `signed`: the columns of the image, or of one of its builds. */
export function showVerification({ origin, catalogueId }: Image, { signedBy, signedAt }: Signed) {
  const shown = { fingerprint: signedBy, signedAt: isoOrNull(signedAt) }
  if (origin === 'imported')
    return { by: 'import' as const, ...shown, words: 'Checksum computed when the file was imported.' }
  if (signedBy) {
    const owner = Object.values(signingKeys).find(({ fingerprint }) => fingerprint === signedBy)?.owner
    return { by: 'signature' as const, ...shown, words: `Signed by ${owner ?? 'its distribution'}, key ${signedBy}.` }
  }
  const signing = entryOf(catalogueId)?.signature
  const why = signing && 'unsigned' in signing ? signing.unsigned : 'its signature has not been verified yet'
  return { by: 'https' as const, ...shown, words: `Checksum over HTTPS only: ${why}.` }
}

export const imageResponse = namedSchema('Image', {
  id: t.String(),
  name: t.String(),
  origin: t.Enum(['catalogue', 'imported']),
  catalogueId: nullable(t.String()),
  format: t.Enum(['qcow2', 'raw']),
  checksum: t.String(),
  sizeBytes: t.Integer(),
  minDiskGb: described(t.Integer(), 'The smallest disk that it fits on.'),
  user: described(t.String(), 'The user to sign in as.'),
  published: described(t.Boolean(), 'It can be ordered.'),
  isDefault: described(t.Boolean(), 'An order form chooses it first; at most one image is.'),
  isRescue: described(t.Boolean(), 'Rescue systems start from it; at most one image is.'),
  ...responseOf(hardware),
  createdAt: time,
  checkedAt: described(
    nullable(time),
    'When its distribution was last asked for the current build. Null: not yet, or it comes from no distribution.',
  ),
  checkFailure: described(nullable(t.String()), 'Why the distribution could not say; null: it could.'),
  verification,
  servers: t.Integer(),
})

export const showImage = (call: UseContext, image: Image) => ({
  id: image.id,
  name: image.name,
  origin: image.origin,
  catalogueId: image.catalogueId,
  format: image.format,
  checksum: image.checksum,
  sizeBytes: image.sizeBytes,
  minDiskGb: image.minDiskGb,
  user: image.user,
  published: image.published,
  isDefault: image.isDefault,
  isRescue: image.isRescue,
  ...valuesOf(hardware, image),
  createdAt: iso(image.createdAt),
  checkedAt: isoOrNull(image.checkedAt),
  checkFailure: image.checkFailure,
  verification: showVerification(image, image),
  servers: useOfImage(call, image.id),
})
