import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { closeSync, openSync, readSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { uidBase } from '../../../agent/drivers/container/ids.ts'
import { FakePool } from '../../../agent/drivers/storage/fake.ts'
import { FilePool } from '../../../agent/drivers/storage/file.ts'
import { Ext4Workspaces } from '../../../agent/drivers/workspace/ext4.ts'
import { FakeWorkspaces } from '../../../agent/drivers/workspace/fake.ts'
import { run } from '../../../agent/host/exec.ts'
import { instanceId } from '../../agent/instances/examples.ts'
import { temporary } from '../../agent/temporary.ts'
import { missing, note } from '../tools.ts'
import { workspaceContract } from './workspace.contract.ts'

const MiB = 2 ** 20

describe('workspaces of the fake host', () => {
  workspaceContract(async () => {
    const workspaces = new FakeWorkspaces(new Database(':memory:'), 256 * MiB)
    return { workspaces, sizeBytes: async (workload) => workspaces.sizeBytes(workload)!, tooMuchBytes: 257 * MiB }
  })
})

describe.skipIf(note(await missing('mke2fs', 'e2fsck', 'resize2fs', 'fallocate'), 'workspaces in files'))(
  'workspaces in files',
  () => {
    const make = async () => {
      const pool = new FilePool('local', join(temporary('workspaces'), 'pool'))
      const workspaces = new Ext4Workspaces([new FakePool(new Database(':memory:'), 'thin', 1e12), pool], MiB)
      const { freeBytes } = await pool.capacity()
      return { pool, workspaces, sizeBytes: fileSystemBytes(pool), tooMuchBytes: freeBytes + 64 * MiB }
    }
    workspaceContract(make)

    test('all of its space is the pool’s from the beginning, and its root is the instance’s', async () => {
      const { workspaces } = await make()
      await workspaces.create(instanceId(1), 5, 64 * MiB)
      const path = await workspaces.ready(instanceId(1))
      expect(statSync(path).blocks * 512).toBeGreaterThanOrEqual(64 * MiB)
      const { out } = await run('e2fsck', ['-f', '-n', path])
      expect(out).toContain('berth-5')
      expect(rootOwner(path)).toBe(uidBase(5) & 0xffff)
    })
    test('what a crash left unfinished is no workspace, and a growth that was interrupted is completed', async () => {
      const { pool, workspaces, sizeBytes } = await make()
      await workspaces.create(instanceId(1), 1, 16 * MiB)
      const path = await workspaces.ready(instanceId(1))
      writeFileSync(path.replace(instanceId(1), instanceId(2)) + '.part', 'half')
      expect(await workspaces.list()).toEqual([instanceId(1)])
      await workspaces.create(instanceId(2), 2, 16 * MiB)
      truncateSync(path, 32 * MiB)
      await workspaces.create(instanceId(1), 1, 32 * MiB)
      expect(await sizeBytes(instanceId(1))).toBe(32 * MiB)
      expect(await pool.list()).toEqual([])
    })
    test('a file system that lost its table is left for a person, with the command for that', async () => {
      const { workspaces } = await make()
      await workspaces.create(instanceId(1), 1, 16 * MiB)
      const path = await workspaces.ready(instanceId(1))
      const file = openSync(path, 'r+')
      // Not unmounted properly, and without its table of groups.
      writeSync(file, Buffer.alloc(2), 0, 2, 1024 + 58)
      writeSync(file, Buffer.alloc(32_768, 0xff), 0, 32_768, 2048)
      closeSync(file)
      await expect(workspaces.ready(instanceId(1))).rejects.toMatchObject({
        code: 'workspace_damaged',
        message: expect.stringContaining(`e2fsck -f ${path}`),
      })
    })
    test('a host without a pool of files has no workspaces, and says so', async () => {
      const workspaces = new Ext4Workspaces([new FakePool(new Database(':memory:'), 'thin', 1e12)])
      expect(await workspaces.problems()).toEqual([expect.stringContaining('no pool of the kind file')])
      await expect(workspaces.create(instanceId(1), 1, MiB)).rejects.toMatchObject({ code: 'no_pool' })
      expect(await workspaces.list()).toEqual([])
    })
  },
)

const superblock = (path: string) => {
  const bytes = Buffer.alloc(1024)
  const file = openSync(path, 'r')
  readSync(file, bytes, 0, 1024, 1024)
  closeSync(file)
  return bytes
}

/** The size as the file system itself says it. */
const fileSystemBytes = (pool: FilePool) => async (workload: string) => {
  const block = superblock(join(pool.described.path, 'workspaces', `${workload}.ext4`))
  return block.readUInt32LE(4) * 2 ** (10 + block.readUInt32LE(24))
}

/** The lower half of the user id of its root directory. */
function rootOwner(path: string): number {
  const block = superblock(path)
  const blockBytes = 2 ** (10 + block.readUInt32LE(24))
  const file = openSync(path, 'r')
  const group = Buffer.alloc(64)
  // The table of groups is in the block after the superblock; the root directory is the second inode.
  readSync(file, group, 0, 64, blockBytes === 1024 ? 2048 : blockBytes)
  const inode = Buffer.alloc(128)
  readSync(file, inode, 0, 128, group.readUInt32LE(8) * blockBytes + block.readUInt16LE(88))
  closeSync(file)
  return inode.readUInt16LE(2)
}
