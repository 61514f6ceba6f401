// The comparison of mirrored disks while their vm runs, so that after its stop only what was written meanwhile has to
// be read. The target notes the blocks that are written there. A block that was the same on both nodes, and that was
// not written since, is the same: a mirror writes the source first.
import { say } from '../../../controller-link/job-log.ts'
import { Failure, wordsOf } from '../../../failure.ts'
import { whileServed } from '../../backup/disk-server.ts'
import { blocksOf, differing, HASH_BYTES, hashesOf } from '../nbd/blocks.ts'
import { NbdClient, NbdError } from '../nbd/client.ts'
import type { Copying, ServedVolume } from '../transfer.ts'
import type { SshLink } from './link.ts'
import { forgetWord, mapWord, someWord, writtenWord } from './run-directory.ts'

/** `differing`: of each disk, the blocks that were not found to be the same. */
export type Compared = { differing: readonly ReadonlySet<number>[] }

/** Undefined where the disks cannot be compared beside the vm; the copy after its stop reads all of them then. */
export async function compareBeside(
  link: SshLink,
  { disks }: Copying,
  secret: string,
  signal: AbortSignal,
): Promise<Compared | undefined> {
  try {
    const found: Set<number>[] = []
    for (const [i, volume] of disks.entries()) {
      await link.fetch(forgetWord(i), 0)
      found.push(await unlike(link, i, volume, secret, signal))
    }
    return { differing: found }
  } catch (error) {
    if (signal.aborted || !(error instanceof Failure || error instanceof NbdError)) throw error
    say('warning', `The disks are compared after the stop, not before: ${wordsOf(error)}`)
    return undefined
  }
}

async function unlike(
  link: SshLink,
  i: number,
  { disk, sizeBytes }: ServedVolume,
  secret: string,
  signal: AbortSignal,
) {
  const mayGoOn = () => {
    if (signal.aborted) throw new Failure('transfer_ended', 'the transfer was ended')
  }
  return whileServed(secret, disk, 'watch', async ({ socket, exportName }) => {
    const ours = await NbdClient.connect(socket, exportName)
    try {
      const [ourHashes, theirHashes] = await Promise.all([hashesOf(ours, mayGoOn), fetchHashes(link, i, sizeBytes)])
      return new Set(differing(ourHashes, theirHashes))
    } finally {
      ours.close()
    }
  })
}

/** The hashes of all blocks of the target's disk. */
export async function fetchHashes(link: SshLink, i: number, sizeBytes: number): Promise<Buffer> {
  const wanted = blocksOf(sizeBytes) * HASH_BYTES
  const hashes = await link.fetch(mapWord(i), wanted)
  if (hashes.length !== wanted) throw new Failure('transfer_cut', `the target told ${hashes.length} bytes of hashes`)
  return hashes
}

/** The hashes of these blocks of the target's disk. */
export async function fetchSome(link: SshLink, i: number, blocks: readonly number[]): Promise<Buffer> {
  if (!blocks.length) return Buffer.alloc(0)
  const wanted = blocks.length * HASH_BYTES
  const hashes = await link.fetch(someWord(i), wanted, Buffer.from(Uint32Array.from(blocks).buffer))
  if (hashes.length !== wanted) throw new Failure('transfer_cut', `the target told ${hashes.length} bytes of hashes`)
  return hashes
}

/** The blocks of the disk that may differ now that its vm is off; undefined: all of them. */
export async function suspects(link: SshLink, compared: Compared | undefined, i: number, sizeBytes: number) {
  const before = compared?.differing[i]
  if (!before) return undefined
  const count = blocksOf(sizeBytes)
  const written = await link.fetch(writtenWord(i), count)
  if (written.length !== count) return undefined
  return Array.from({ length: count }, (_, at) => at).filter((at) => before.has(at) || written[at] !== 0)
}
