// Rigs for the contract of pools on real devices: an image, and ways to write and to read disks.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BlockDriver } from '../../../agent/drivers/storage/block-pool.ts'
import { BlockPool } from '../../../agent/drivers/storage/block-pool.ts'
import type { Pool } from '../../../agent/drivers/storage/storage.ts'
import { run } from '../../../agent/host/exec.ts'
import { temporary } from '../../agent/temporary.ts'
import type { StorageRig } from '../storage.contract.ts'

const MiB = 2 ** 20

/** An image of 32 MiB that begins with 64 KiB of the character `i`. */
export async function makeImage() {
  const path = join(temporary('image'), 'image.qcow2')
  await run('qemu-img', ['create', '-q', '-f', 'qcow2', '--', path, String(32 * MiB)])
  await qemuIo('qcow2', path, `write -P ${'i'.charCodeAt(0)} 0 64k`)
  return { id: 'img_1', format: 'qcow2' as const, path, virtualSizeBytes: 32 * MiB }
}

/** Runs commands of qemu-io on a disk. What they discard is passed on. */
export async function qemuIoAll(format: string, path: string, commands: readonly string[], ...args: string[]) {
  const words = commands.flatMap((command) => ['-c', command])
  const child = Bun.spawn(['qemu-io', '-d', 'unmap', ...args, '-f', format, ...words, path], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0 || /failed|error/i.test(out)) throw new Error(`qemu-io ended with ${code}: ${out} ${err}`)
  return out
}

export const qemuIo = (format: string, path: string, command: string, ...args: string[]) =>
  qemuIoAll(format, path, [command], ...args)

export async function readCharacter(path: string, format = 'raw'): Promise<string> {
  const out = await qemuIo(format, path, 'read -v 0 16', '-r')
  return /^0+: +([0-9a-f]{2})/m.exec(out)![1]!.replace(/../, (hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** A path at which a disk can be read, until `close`. */
export type Opened = { path: string; close(): Promise<unknown> }
const asItIs = async (path: string): Promise<Opened> => ({ path, close: async () => {} })

/** Ways to disks of the same storage outside of the pool; without them its pool takes none in. */
export type Beside = {
  /** Makes a device at the same path each time, after that of before is gone. */
  make(sizeBytes: number): Promise<string>
  exists(path: string): Promise<boolean>
  clear(): Promise<void>
}

/** The rig of a pool that is emptied for each test. `opened`: makes a snapshot readable. */
export async function rigOf(
  driver: BlockDriver,
  image: StorageRig['image'],
  address: (path: string) => string = (path) => path,
  opened: (path: string) => Promise<Opened> = asItIs,
  beside?: Beside,
): Promise<StorageRig> {
  const pool = new BlockPool('local', driver)
  await empty(pool)
  await beside?.clear()
  return {
    pool,
    image,
    elsewhere: async () => '/dev/vda',
    ...(beside && {
      exists: beside.exists,
      async outside(character, sizeBytes) {
        const path = await beside.make(sizeBytes)
        await qemuIo('raw', path, `write -P ${character.charCodeAt(0)} 0 64k`)
        return path
      },
    }),
    write: async ({ path }, character) =>
      void (await qemuIo('raw', address(path), `write -P ${character.charCodeAt(0)} 0 64k`)),
    read: async (disk) => {
      const { path, close } = await opened(disk.path)
      try {
        return await readCharacter(address(path))
      } finally {
        await close()
      }
    },
    io: ({ path }, commands) => qemuIoAll('raw', address(path), commands),
    contentOf: ({ path }) => contentOf('raw', address(path)),
  }
}

export async function empty(pool: Pool) {
  for (const volume of await pool.list()) await pool.remove(volume)
}

/** All bytes of a disk. */
export async function contentOf(format: string, path: string): Promise<Buffer> {
  const copy = join(temporary('copy'), 'copy.raw')
  await run('qemu-img', ['convert', '-f', format, '-O', 'raw', '--', path, copy], { limitSeconds: 300 })
  try {
    return Buffer.from(await Bun.file(copy).arrayBuffer())
  } finally {
    rmSync(copy)
  }
}
