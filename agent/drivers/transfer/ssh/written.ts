// Notes of the blocks of a disk that a source has written, by the session that hands its writes on: a byte for each
// block, in a file that the other sessions of the transfer see at once.
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BLOCK_BYTES, blocksOf } from '../nbd/blocks.ts'
import { NbdRequests } from '../nbd/requests.ts'
import { makeRunDirectory } from './run-directory.ts'

const pathOf = (directory: string, disk: number) => join(makeRunDirectory(directory), `written-${disk}`)

/** A function that is given what goes to the disk, and notes the blocks that it changes. */
export function notingWrites(directory: string, disk: number, sizeBytes: number): (bytes: Uint8Array) => void {
  const path = pathOf(directory, disk)
  const file = openSync(path, 'a', 0o600)
  ftruncateSync(file, blocksOf(sizeBytes))
  closeSync(file)
  const blocks = Bun.mmap(path)
  const requests = new NbdRequests((offset, length) => {
    // Behind its end the server refuses them.
    if (length > 0 && offset < sizeBytes)
      blocks.fill(1, Math.floor(offset / BLOCK_BYTES), Math.floor((offset + length - 1) / BLOCK_BYTES) + 1)
  })
  return (bytes) => requests.read(bytes)
}

/** False without notes: nothing was written through them. */
export function forgetWrites(directory: string, disk: number): boolean {
  const path = pathOf(directory, disk)
  if (!existsSync(path)) return false
  Bun.mmap(path).fill(0)
  return true
}

/** A byte for each block; undefined without notes. */
export function writtenBlocks(directory: string, disk: number): Uint8Array | undefined {
  const path = pathOf(directory, disk)
  return existsSync(path) ? readFileSync(path) : undefined
}
