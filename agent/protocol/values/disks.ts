// Disks in the protocol, and the images and ISOs that they are made from.
import { type Static, Type as t } from 'typebox'
import { counter, workloadId } from '../bounds.ts'
import { address } from './ports.ts'

export const imageId = t.String({ pattern: '^img_[0-9a-z]{26}$' })
export const isoId = t.String({ pattern: '^iso_[0-9a-z]{26}$' })

/**
 * A vm's disk in one of the node's storage pools. Its name on the host derives from workload and generation. A disk
 * that replaces another has a higher generation, so that both exist until the old one is removed; a generation is never
 * used twice. An extra volume belongs to no vm: it has its own id as `workload`, and the generation 0.
 */
export const Volume = t.Object({
  workload: workloadId,
  generation: t.Integer({ minimum: 0, maximum: 999_999 }),
  pool: t.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$' }),
  format: t.Enum(['qcow2', 'raw']),
  /**
   * The layer in use, always qcow2; left out: the first, which was made from the image. A snapshot is a layer that
   * nothing writes any more, with the next one on top. All layers of a generation are deleted with it.
   */
  layer: t.Optional(t.Integer({ minimum: 1, maximum: 999_999 })),
})
export type Volume = Static<typeof Volume>

/** The characters of a serial number that virtio shows to a guest. */
const SERIAL_LENGTH = 20
/**
 * The serial number of an extra volume, from its id: the guest finds it as `/dev/disk/by-id/virtio-<serial>`. The end
 * of an id is its random part.
 */
export const serialOf = (volumeId: string): string => `vol_${volumeId.slice(-(SERIAL_LENGTH - 4))}`

/** A layer of a disk by its number; 0 is the one that was made from the image. */
export const layerNumber = t.Integer({ minimum: 0, maximum: 999_999 })

/** Checksum of a downloaded file; distributions publish one of the two kinds. */
export const checksum = t.String({ pattern: '^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$' })
/** The source of an image and its checksum. A `url` that starts with `/` is on the controller. */
export const ImageSource = t.Object({
  id: imageId,
  url: t.String({ maxLength: 2048 }),
  format: t.Enum(['qcow2', 'raw']),
  checksum,
  /** A customer chose the address: it is downloaded from public addresses alone, whatever the node allows others. */
  publicOnly: t.Optional(t.Boolean()),
  /** Addresses that are no source, public or not: those by which nodes reach each other. */
  refused: t.Optional(t.Array(address, { maxItems: 10_000 })),
})
export type ImageSource = Static<typeof ImageSource>

/** The source of an ISO and the checksum of its file, which may have `mostBytes`. */
export const IsoSource = t.Object({
  ...ImageSource.properties,
  id: isoId,
  format: t.Literal('raw'),
  mostBytes: counter,
})
export type IsoSource = Static<typeof IsoSource>
