import { Type as t } from 'typebox'
import { counter } from '../bounds.ts'
import { ImageSource, IsoSource, imageId, isoId } from '../values/disks.ts'
import { act } from './declare.ts'

const nothing = t.Object({})
const failures = [
  'checksum_mismatch',
  'download_failed',
  'download_refused',
  'image_refused',
  'image_too_large',
  'insecure_download',
] as const

export const imageCommands = {
  /** Downloads the image unless the node has it, checks its checksum and header, and stores it for later volumes. */
  'image.ensure': act({ input: ImageSource, output: t.Object({ virtualSizeBytes: counter }), failures }),
  'image.remove': act({ input: t.Object({ id: imageId }), output: nothing, failures: [] }),
  /** Downloads the ISO unless the node has it, and checks its checksum. */
  'iso.ensure': act({ input: IsoSource, output: t.Object({ sizeBytes: counter }), failures }),
  /** Deletes the ISO; without one it does nothing. A vm whose definition names it does not start any more. */
  'iso.remove': act({ input: t.Object({ id: isoId }), output: nothing, failures: [] }),
}
