// Rigs for the contract of pools on real devices: an image, ways to write and to read disks, and a search for the data
// of an earlier disk.
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

export async function qemuIo(format: string, path: string, command: string, ...args: string[]) {
  const child = Bun.spawn(['qemu-io', ...args, '-f', format, '-c', command, path], { stdout: 'pipe', stderr: 'pipe' })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0 || /failed|error/i.test(out)) throw new Error(`qemu-io ${command} ended with ${code}: ${out} ${err}`)
  return out
}

export async function readCharacter(path: string): Promise<string> {
  const out = await qemuIo('raw', path, 'read -v 0 16', '-r')
  return /^0+: +([0-9a-f]{2})/m.exec(out)![1]!.replace(/../, (hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** A path at which a disk can be read, until `close`. */
export type Opened = { path: string; close(): Promise<unknown> }
const asItIs = async (path: string): Promise<Opened> => ({ path, close: async () => {} })

/** The rig of a pool that is emptied for each test. `opened`: makes a snapshot readable. */
export async function rigOf(
  driver: BlockDriver,
  image: StorageRig['image'],
  address: (path: string) => string = (path) => path,
  opened: (path: string) => Promise<Opened> = asItIs,
): Promise<StorageRig> {
  const pool = new BlockPool('local', driver)
  await empty(pool)
  return {
    pool,
    image,
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
  }
}

export async function empty(pool: Pool) {
  for (const volume of await pool.list()) await pool.remove(volume)
}

/**
 * Fills disks of one tenant with a pattern and deletes them; then another's disks, of which each block is written in
 * part, must show nothing of it. Returns whether the pattern was found.
 */
export async function patternLeftBehind(
  { pool, image }: Pick<StorageRig, 'pool' | 'image'>,
  volumes: readonly Parameters<Pool['create']>[0][],
  sizeBytes: number,
  address: (path: string) => string = (path) => path,
): Promise<boolean> {
  const disks = async () => Promise.all(volumes.map(async (volume) => address((await pool.disk(volume)).path)))
  for (const volume of volumes) await pool.create(volume, image, sizeBytes)
  for (const path of await disks()) await qemuIo('raw', path, `write -P 90 0 ${sizeBytes}`)
  for (const volume of volumes) await pool.remove(volume)
  for (const volume of volumes) await pool.create(volume, image, sizeBytes)
  let found = false
  for (const path of await disks()) {
    const writes: string[] = []
    for (let at = 0; at < sizeBytes; at += 64 << 10) writes.push('-c', `write -q -P 1 ${at} 512`)
    await qemuIo('raw', path, 'flush', ...writes)
    found ||= await shows(path, 90)
  }
  return found
}

/** Whether the disk has a run of 512 bytes of this value, which is the least that a device writes. */
async function shows(path: string, value: number): Promise<boolean> {
  const copy = join(temporary('copy'), 'copy.raw')
  await run('qemu-img', ['convert', '-f', 'raw', '-O', 'raw', '--', path, copy], { limitSeconds: 300 })
  return Buffer.from(await Bun.file(copy).arrayBuffer()).includes(Buffer.alloc(512, value))
}
