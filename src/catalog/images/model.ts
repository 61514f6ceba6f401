import { Type as t } from 'typebox'
import type { ImageSource } from '../../../agent/protocol/wire.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import { type Db, prepared } from '../../kernel/db/open.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { type Image, images } from './tables.ts'

/** Staff see every image, others the published ones. */
const seen = (actor: Actor, it: Image) => actor.kind === 'staff' || it.published

export const image: Resource<Image> = {
  name: 'image',
  notFound: 'image_not_found',
  find: (tx, actor, id) => {
    const it = imageById(tx, id)
    return it?.removedAt === null && seen(actor, it) ? it : undefined
  },
}

export const imageById = rowBy(images, images.id)

/** Where the controller keeps an image that nodes fetch from it. */
export const imagePath = (dataDir: string, id: string, format: string) => `${dataDir}/images/${id}.${format}`

/** What a node needs to fetch and recognise it. */
export const sourceOf = ({ id, url, format, checksum }: Image): ImageSource => ({ id, url, format, checksum })

export const imageAnswer = namedSchema('Image', {
  id: t.String(),
  name: t.String(),
  origin: t.Enum(['catalogue', 'imported']),
  catalogueId: nullable(t.String()),
  format: t.Enum(['qcow2', 'raw']),
  checksum: t.String(),
  sizeBytes: t.Integer(),
  minDiskGb: described(t.Integer(), 'The smallest disk that it fits on.'),
  user: described(t.String(), 'As whom one signs in to it.'),
  published: described(t.Boolean(), 'It can be ordered.'),
  createdAt: time,
  servers: t.Integer(),
})

const used = prepared(({ $client }) =>
  $client.prepare<{ n: number }, [string]>(
    'SELECT count(*) AS n FROM servers WHERE image_id = ? AND terminated_at IS NULL',
  ),
)

export const showImage = (tx: Db, it: Image) => ({
  id: it.id,
  name: it.name,
  origin: it.origin,
  catalogueId: it.catalogueId,
  format: it.format,
  checksum: it.checksum,
  sizeBytes: it.sizeBytes,
  minDiskGb: it.minDiskGb,
  user: it.user,
  published: it.published,
  createdAt: iso(it.createdAt),
  servers: used(tx).get(it.id)!.n,
})
