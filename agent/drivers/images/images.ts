import type { ImageSource } from '../../protocol/wire.ts'

/** A verified image on this host. */
export type Image = { id: string; format: ImageSource['format']; path: string; virtualSizeBytes: number }

/** The images a node keeps to make disks from. */
export interface Images {
  /** Downloads and verifies the image unless it is here. Two that ask for one image at once share one download. */
  ensure(source: ImageSource): Promise<Image>
  /** The image, or undefined if it is not on this host. */
  find(id: string): Promise<Image | undefined>
  remove(id: string): Promise<void>
}
