// The hashes that were read of the disks of a transfer for their checksums, so that a start of the agent in the middle
// of many terabytes does not begin anew. Their file lies with the transfer and ends with it, and ends before anybody
// writes to a disk.
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { type KeptHashes, RUN_HASHES_BYTES } from '../nbd/blocks.ts'

const folderIn = (directory: string) => join(directory, 'hashes')

/** `name`: of the disk in the transfer whose directory this is. */
export function keptHashes(directory: string, name: string): KeptHashes {
  const path = join(folderIn(directory), name)
  return {
    read() {
      if (!existsSync(path)) return Buffer.alloc(0)
      const bytes = readFileSync(path)
      // A crash may have left a part of the last run.
      const whole = bytes.length - (bytes.length % RUN_HASHES_BYTES)
      if (whole !== bytes.length) truncateSync(path, whole)
      return bytes.subarray(0, whole)
    },
    add(hashes) {
      mkdirSync(folderIn(directory), { recursive: true, mode: 0o700 })
      if (hashes.length === RUN_HASHES_BYTES) appendFileSync(path, hashes, { mode: 0o600 })
    },
  }
}

/** The disks of the transfer may change from now on. */
export const forgetHashes = (directory: string) => rmSync(folderIn(directory), { recursive: true, force: true })
