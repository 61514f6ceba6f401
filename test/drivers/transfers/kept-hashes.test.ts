// The hashes of a large disk, whose reading is broken off and goes on: as after a start of the agent.
import { expect, test } from 'bun:test'
import { appendFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { BLOCK_BYTES, hashesOf } from '../../../agent/drivers/transfer/nbd/blocks.ts'
import type { NbdClient } from '../../../agent/drivers/transfer/nbd/client.ts'
import { forgetHashes, keptHashes } from '../../../agent/drivers/transfer/ssh/kept-hashes.ts'
import { temporary } from '../../agent/temporary.ts'

/** A disk of 3 GiB and a part of a block, with four blocks that hold something. `reads`: the blocks that were read. */
function largeDisk() {
  const blocks = [3, 1030, 2047, 3072]
  const sizeBytes = 3072 * BLOCK_BYTES + 4096
  const reads: number[] = []
  const disk = {
    sizeBytes,
    async extents(offset: number, length: number) {
      const [first, last] = [offset / BLOCK_BYTES, (offset + length) / BLOCK_BYTES]
      const found = blocks.filter((at) => at >= first && at < last)
      return found.map((at) => ({ offset: at * BLOCK_BYTES, length: 1, isZero: false }))
    },
    async read(offset: number, length: number) {
      reads.push(offset / BLOCK_BYTES)
      return Buffer.alloc(length, 1 + (offset / BLOCK_BYTES) * 7)
    },
  }
  return { disk: disk as unknown as NbdClient, reads }
}
const stopAfter = (blocks: number) => (done: number) => {
  if (done >= blocks) throw new Error('the agent was ended')
}

test('what was read of a disk is not read again, and the hashes are the same', async () => {
  const directory = temporary('hashes')
  const whole = await hashesOf(largeDisk().disk)
  const before = largeDisk()
  await expect(hashesOf(before.disk, stopAfter(2048), keptHashes(directory, '0'))).rejects.toThrow('ended')
  expect(before.reads).toEqual([3, 1030, 2047])
  // The power fails while some of the next ones are written.
  appendFileSync(join(directory, 'hashes/0'), Buffer.alloc(100, 9))
  const after = largeDisk()
  expect(await hashesOf(after.disk, undefined, keptHashes(directory, '0'))).toEqual(whole)
  expect(after.reads).toEqual([3072])
})

test('what was read counts no more when somebody may write to the disk, and each disk has its own', async () => {
  const directory = temporary('hashes')
  for (const name of ['0', '1'])
    await expect(hashesOf(largeDisk().disk, stopAfter(1024), keptHashes(directory, name))).rejects.toThrow('ended')
  expect(readdirSync(join(directory, 'hashes')).sort()).toEqual(['0', '1'])
  forgetHashes(directory)
  const after = largeDisk()
  await hashesOf(after.disk, undefined, keptHashes(directory, '0'))
  expect(after.reads).toEqual([3, 1030, 2047, 3072])
})
