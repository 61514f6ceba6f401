// A disk that no vm has open, served by NBD whatever its format: backups read and write disks of every kind alike.
import { existsSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Failure } from '../../failure.ts'
import { begin, run } from '../../host/exec.ts'
import { type Disk, qemuPath } from '../storage/storage.ts'
import { backupFailure, type ServedDisk } from './backup.ts'

const EXPORT = 'disk'
const START_SECONDS = 30
const POLL_MS = 20

/** qemu-nbd takes the second only after the first. */
const HOLES_STAY = ['--discard=unmap', '--detect-zeroes=unmap']

/**
 * Serves the disk while `work` runs, and has closed it when it resolves. `watch`: a vm may have it open, and what is
 * read may be older than what the vm has written. Zeros that are written become holes: nbdcopy
 * sends every zero that it reads from a pipe.
 */
export async function whileServed<T>(
  folder: string,
  disk: Disk,
  mode: 'read' | 'watch' | 'write',
  work: (served: ServedDisk) => Promise<T>,
): Promise<T> {
  const socket = join(folder, 'disk.sock')
  rmSync(socket, { force: true })
  const more = mode === 'write' ? HOLES_STAY : ['--read-only']
  const args = ['--socket', socket, '--export-name', EXPORT, '--persistent', ...more]
  const opened = mode === 'watch' ? openedBeside(disk) : ['--format', disk.format, '--', qemuPath(disk)]
  // Every connection of a copy is one.
  const server = begin('qemu-nbd', [...args, '--shared', '8', ...opened])
  let ended = false
  void server.ended.then(() => (ended = true))
  try {
    for (const until = performance.now() + START_SECONDS * 1000; !(await answers(socket)); await Bun.sleep(POLL_MS)) {
      if (ended)
        throw new Failure('tool_failed', `qemu-nbd does not serve ${disk.path}: ${(await server.ended).err.trim()}`)
      if (performance.now() > until) throw new Failure('tool_timeout', `qemu-nbd did not serve ${disk.path}`)
    }
    const result = await work({ socket, exportName: EXPORT })
    server.stop('SIGTERM')
    const { code, err } = await server.ended
    if (mode === 'write' && code !== 0) throw new Failure('tool_failed', `qemu-nbd ended with ${code}: ${err.trim()}`)
    return result
  } finally {
    server.stop()
    await server.ended
    rmSync(socket, { force: true })
  }
}

/** The arguments that open a disk beside a vm, past the locks of QEMU, and past the host's cache as the vm does. */
function openedBeside(disk: Disk): string[] {
  if (disk.kind === 'network') return ['--format', disk.format, '--', qemuPath(disk)]
  const driver = disk.kind === 'file' ? 'file' : 'host_device'
  const options = [
    ...[`driver=${disk.format}`, 'force-share=on', `file.driver=${driver}`],
    // A comma in a value is written twice.
    `file.filename=${disk.path.replaceAll(',', ',,')}`,
  ]
  return ['--cache', 'none', '--image-opts', '--', options.join(',')]
}

/** The size of the disk in bytes. */
export async function servedBytes(served: ServedDisk): Promise<number> {
  const { code, out, err } = await run('nbdinfo', ['--size', nbdUri(served)], {
    ...{ quietly: true, mayFail: true, limitSeconds: START_SECONDS },
  })
  // A vm that ends takes its socket with it.
  if (code !== 0) throw backupFailure('interrupted', `the disk is not served any more: ${err.trim()}`)
  const bytes = Number(out.trim())
  if (!(Number.isSafeInteger(bytes) && bytes > 0)) throw new Failure('tool_failed', 'nbdinfo names no size')
  return bytes
}

export const nbdUri = ({ socket, exportName }: ServedDisk) => `nbd+unix:///${exportName}?socket=${socket}`

const answers = (socket: string) =>
  new Promise<boolean>((resolve) => {
    if (!existsSync(socket)) return resolve(false)
    const probe = connect({ path: socket })
    const end = (isThere: boolean) => {
      probe.destroy()
      resolve(isThere)
    }
    probe.once('connect', () => end(true))
    probe.once('error', () => end(false))
  })
