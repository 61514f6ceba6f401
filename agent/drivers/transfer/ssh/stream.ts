// `berth agent transfer-stream TRANSFER`, the forced command of a transfer's key: all that a source can do on its
// target. The word that it asks for comes in SSH_ORIGINAL_COMMAND, which no shell ever reads.
import { hashesOf } from '../nbd/blocks.ts'
import { NbdClient } from '../nbd/client.ts'
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
  if (asked.startsWith('map-')) return tellHashes(socketOf(directory, nbdWord(Number(asked.slice(-1)))))
  const path =
    asked === 'mig' || asked === 'nbd' ? migrationSocketOf(transfer, workload, asked) : socketOf(directory, asked)
  const isOpen = () => openWorkload(directory) !== undefined
  for (const until = performance.now() + SOCKET_WAIT_MS; performance.now() < until; await Bun.sleep(POLL_MS)) {
    const file = connectTo(path)
    if (file !== undefined) {
      relay(file, isOpen)
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

async function tellHashes(path: string): Promise<number> {
  try {
    const disk = await NbdClient.connect(path, EXPORT)
    const hashes = await hashesOf(disk)
    disk.close()
    await Bun.write(Bun.stdout, hashes)
    return 0
  } catch (error) {
    return refuse((error as Error).message, SILENT)
  }
}
