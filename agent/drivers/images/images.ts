import type { ImageSource, IsoSource } from '../../protocol/wire.ts'

export type Source = ImageSource | IsoSource

/** A verified image on this host. `virtualSizeBytes` is the size of a disk made from it. */
export type Image = { id: string; format: ImageSource['format']; path: string; virtualSizeBytes: number }
/** With the checksum of its file. */
export type StoredImage = Image & { checksum: string }

/** The images of a node, from which it makes disks; and its ISOs, which it attaches as they are. */
export interface Images {
  /**
   * Downloads and verifies the image unless it is here; calls for the same file share one download. A file with another
   * checksum takes the place of the one before. Throws `download_failed`, `download_refused`, `insecure_download`,
   * `checksum_mismatch`, `image_refused` or `image_too_large`, and then stores nothing: an image that was here stays.
   */
  ensure(source: Source): Promise<StoredImage>
  /** The image, or undefined if it is not on this host. */
  find(id: string): Promise<StoredImage | undefined>
  /** Deletes the image; without one it does nothing. Disks made from it are copies and stay. */
  remove(id: string): Promise<void>
}
