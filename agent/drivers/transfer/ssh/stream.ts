// `berth agent transfer-stream TRANSFER`, the forced command of a transfer's key: all that a source can do on its
// target. The word that it asks for comes in SSH_ORIGINAL_COMMAND, which no shell ever reads.
import { blocksOf, hashesAt, hashesOf } from '../nbd/blocks.ts'
import { NbdClient } from '../nbd/client.ts'
import { forgetHashes } from './kept-hashes.ts'
import { relay } from './relay.ts'
import {
  EXPORT,
  migrationSocketOf,
  nbdWord,
  openWorkload,
  RUN_ROOT,
  runDirectory,
  STREAM_WORD,
  socketOf,
  TRANSFER_ID,
} from './run-directory.ts'
import { connectTo } from './sockets.ts'
import { forgetWrites, notingWrites, writtenBlocks } from './written.ts'

/** The word behind `berth agent`. It is no command for people, and no help names it. */
export const TRANSFER_STREAM = 'transfer-stream'
/** Exit codes: the word or the transfer is none; the transfer is not open; nobody listens behind the word. */
export const REFUSED = 64
export const NOT_OPEN = 69
export const SILENT = 75

/** QEMU makes the socket of a migration only when its disks are ready. */
const SOCKET_WAIT_MS = 10_000
const POLL_MS = 20

/** Serves one session. Returns its exit code. */
export async function transferStream(
  args: readonly string[],
  asked = process.env['SSH_ORIGINAL_COMMAND'] ?? '',
  root = RUN_ROOT,
): Promise<number> {
  const [transfer = ''] = args
  if (args.length !== 1 || !TRANSFER_ID.test(transfer) || !STREAM_WORD.test(asked)) return refuse('refused', REFUSED)
  const directory = runDirectory(transfer, root)
  const workload = openWorkload(directory)
  if (workload === undefined) return refuse('the transfer is not open', NOT_OPEN)
  const [word, number = ''] = asked.split('-')
  const disk = Number(number)
  const served = socketOf(directory, nbdWord(disk))
  if (word === 'map') return tell(served, hashesOf)
  if (word === 'some') return tell(served, async (of) => hashesAt(of, await blocksAsked(of)))
  if (word === 'forget') return forgetWrites(directory, disk) ? 0 : refuse('nothing was written', SILENT)
  if (word === 'written') return tell(served, async () => writtenBlocks(directory, disk) ?? new Uint8Array())
  const path = number
    ? served
    : asked === 'mig' || asked === 'nbd'
      ? migrationSocketOf(transfer, workload, asked)
      : socketOf(directory, asked)
  // It may write, so what was read of the disks before counts no more.
  if (number) forgetHashes(directory)
  const onInput = word === 'mirror' ? notingWrites(directory, disk, await sizeOf(served)) : undefined
  const isOpen = () => openWorkload(directory) !== undefined
  for (const until = performance.now() + SOCKET_WAIT_MS; performance.now() < until; await Bun.sleep(POLL_MS)) {
    const file = connectTo(path)
    if (file !== undefined) {
      relay(file, isOpen, onInput)
      return 0
    }
    if (!isOpen()) break
  }
  return refuse('nobody listens', SILENT)
}

function refuse(words: string, code: number): number {
  process.stderr.write(`berth: ${words}\n`)
  return code
}

async function tell(path: string, answer: (disk: NbdClient) => Promise<Uint8Array>): Promise<number> {
  try {
    const disk = await NbdClient.connect(path, EXPORT)
    const bytes = await answer(disk)
    disk.close()
    await Bun.write(Bun.stdout, bytes)
    return 0
  } catch (error) {
    return refuse((error as Error).message, SILENT)
  }
}

async function sizeOf(path: string): Promise<number> {
  const disk = await NbdClient.connect(path, EXPORT)
  disk.close()
  return disk.sizeBytes
}

/** The numbers of blocks that come as input, each in four bytes. */
async function blocksAsked({ sizeBytes }: NbdClient): Promise<number[]> {
  const blocks = blocksOf(sizeBytes)
  const most = 4 * blocks
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of Bun.stdin.stream()) {
    bytes += part.length
    if (bytes > most) throw new Error('these are more blocks than the disk has')
    parts.push(part)
  }
  const asked = Buffer.concat(parts)
  const numbers = Array.from({ length: Math.floor(asked.length / 4) }, (_, i) => asked.readUInt32LE(4 * i))
  if (numbers.some((at) => at >= blocks)) throw new Error('the disk has no such block')
  return numbers
}
