// Workspaces as ext4 in a file each, which the container engine mounts: its size is the quota, for bytes as for files.
// The file has all of its blocks from the beginning, because a file system on a file that cannot grow loses data.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import { Failure, wordsOf } from '../../failure.ts'
import { find, type Program, run } from '../../host/exec.ts'
import { serialQueue } from '../../serial-queue.ts'
import { mustBeAlone, uidBase } from '../container/ids.ts'
import { deleted, toDisk } from '../storage/file.ts'
import type { Pool } from '../storage/storage.ts'
import type { Workspaces } from './workspaces.ts'

const DIRECTORY = 'workspaces'
/** With the number of the instance it fills the 16 characters of a label. */
const LABEL = 'berth-'
const LABEL_AT = 1024 + 0x78
const LABEL_BYTES = 16
const FILE = /^([a-z]{2,8}_[0-9a-z]{26})\.ext4$/
/** A full pool would stop the vms whose disks grow there. */
const RESERVE_BYTES = 2 ** 30
/** To write the blocks of a large file takes time where the host's file system cannot reserve them. */
const LIMIT_SECONDS = 3600
/** e2fsck: 1 and 2 are "errors were corrected". */
const REPAIRED = 2
const tools: readonly Program[] = ['mke2fs', 'e2fsck', 'resize2fs', 'fallocate', 'losetup']

export class Ext4Workspaces implements Workspaces {
  private readonly inTurn = serialQueue()

  /** They lie in the first of these pools that is one of files. */
  constructor(
    private pools: readonly Pool[],
    private reserveBytes = RESERVE_BYTES,
    /** The pool does not answer: to touch it would stop the whole agent. */
    private isHanging: (pool: Pool) => boolean = () => false,
  ) {}

  async problems() {
    const problems: string[] = []
    const lacking = tools.filter((tool) => !find(tool))
    if (lacking.length)
      problems.push(`Instances can have no /workspace: ${lacking.join(', ')} missing; install e2fsprogs.`)
    try {
      this.directory()
    } catch (error) {
      problems.push(`Instances can have no /workspace: ${wordsOf(error)}.`)
    }
    return problems
  }

  create(workload: string, number: number, sizeBytes: number): Promise<void> {
    return this.inTurn(async () => {
      mkdirSync(this.directory(), { recursive: true, mode: 0o700 })
      const there = await this.list()
      mustBeAlone(
        { workload, number },
        there.map((other) => ({ workload: other, number: numberIn(this.pathOf(other)) })),
      )
      const path = this.pathOf(workload)
      if (!existsSync(path)) await this.make(path, number, sizeBytes)
      else await this.grow(workload, path, sizeBytes)
    })
  }

  async ready(workload: string) {
    const path = this.pathOf(workload)
    if (!existsSync(path))
      throw new Failure('no_workspace', `${workload} has no workspace; workspace.create comes before its container`)
    if (!loopsOf(path).length) await check(path, ['-p'])
    return path
  }

  async remove(workload: string) {
    const path = this.pathOf(workload)
    await mustBeUnmounted(workload, path)
    await deleted(`${path}.part`)
    await deleted(path)
  }

  async list() {
    const directory = this.found()
    if (!directory || !existsSync(directory)) return []
    return readdirSync(directory)
      .flatMap((name) => FILE.exec(name)?.[1] ?? [])
      .toSorted()
  }

  private async make(path: string, number: number, sizeBytes: number) {
    const owner = uidBase(number)
    const part = `${path}.part`
    rmSync(part, { force: true })
    try {
      await this.reserve(part, sizeBytes, 0)
      // Without discard, which would give the blocks back. Without blocks for root, who is the tenant.
      const how = ['-q', '-F', '-t', 'ext4', '-m', '0', '-L', `${LABEL}${number}`]
      await run('mke2fs', [...how, '-E', `nodiscard,root_owner=${owner}:${owner}`, part], {
        limitSeconds: LIMIT_SECONDS,
      })
      await fillHoles(part)
      await toDisk(part)
      renameSync(part, path)
      await toDisk(this.directory())
    } finally {
      rmSync(part, { force: true })
    }
  }

  /** Also completes a growth that a crash interrupted: the file system may be smaller than its file. */
  private async grow(workload: string, path: string, sizeBytes: number) {
    const { size } = statSync(path)
    if (size < sizeBytes) await this.reserve(path, sizeBytes, size)
    const [loop] = loopsOf(path)
    if (loop) {
      await run('losetup', ['--set-capacity', loop])
      await run('resize2fs', [loop], { limitSeconds: LIMIT_SECONDS }).catch((cause) => {
        throw new Failure('workspace_busy', `the workspace of ${workload} cannot be enlarged while it is in use`, {
          cause,
        })
      })
      return
    }
    await check(path, ['-f', '-p'])
    await run('resize2fs', [path], { limitSeconds: LIMIT_SECONDS })
    await fillHoles(path)
    await toDisk(path)
  }

  /** Gives the file all of its blocks, or none that it did not have. */
  private async reserve(path: string, sizeBytes: number, before: number) {
    const { bsize, bavail } = statfsSync(this.directory())
    const freeBytes = bavail * bsize - this.reserveBytes
    const full = (cause?: unknown) =>
      new Failure(
        'pool_full',
        `${sizeBytes - before} bytes are wanted for a workspace, the pool has ${Math.max(0, freeBytes)} left`,
        { cause },
      )
    if (sizeBytes - before > freeBytes) throw full()
    try {
      await run('fallocate', ['--length', String(sizeBytes), path], { limitSeconds: LIMIT_SECONDS })
    } catch (error) {
      if (before) truncateSync(path, before)
      throw full(error)
    }
  }

  /** Throws `no_pool` on a node without a pool of files, and `pool_silent`. */
  private directory(): string {
    const directory = this.found()
    if (directory) return directory
    throw new Failure('no_pool', 'this node has no pool of the kind file, in which workspaces are')
  }

  private found(): string | undefined {
    const pool = this.pools.find(({ described }) => described.kind === 'file')
    if (pool && this.isHanging(pool)) throw new Failure('pool_silent', `the storage pool ${pool.name} does not answer`)
    return pool && join(pool.described.path, DIRECTORY)
  }

  private pathOf = (workload: string) => join(this.directory(), `${workload}.ext4`)
}

/** e2fsprogs 1.47 writes zeros as holes, which a full pool could not fill any more. What has blocks keeps them. */
const fillHoles = (path: string) =>
  run('fallocate', ['--length', String(statSync(path).size), path], { limitSeconds: LIMIT_SECONDS })

/** Repairs what can be repaired without loss. Throws `workspace_damaged` for the rest. */
async function check(path: string, how: readonly string[]) {
  const { code, out, err } = await run('e2fsck', [...how, path], { mayFail: true, limitSeconds: LIMIT_SECONDS })
  if (code <= REPAIRED) return
  const words = (out.trim() || err.trim()).split('\n').slice(-3).join('; ').slice(0, 500)
  throw new Failure('workspace_damaged', `its file system needs a person (e2fsck -f ${path}): ${words}`)
}

/** A loop device is given back a moment after its file system was unmounted. */
async function mustBeUnmounted(workload: string, path: string) {
  for (let tries = 0; loopsOf(path).length > 0; tries++) {
    if (tries === 20) throw new Failure('workspace_busy', `the workspace of ${workload} is still mounted`)
    await Bun.sleep(100)
  }
}

/** The number of the instance whose file system this is, in its label. */
function numberIn(path: string): number {
  const file = openSync(path, 'r')
  try {
    const label = Buffer.alloc(LABEL_BYTES)
    readSync(file, label, 0, LABEL_BYTES, LABEL_AT)
    return Number(label.toString('latin1').replace(/\0.*$/s, '').slice(LABEL.length))
  } finally {
    closeSync(file)
  }
}

/** The loop devices that have this file. */
function loopsOf(file: string): string[] {
  if (!existsSync(file)) return []
  const path = realpathSync(file)
  return readdirSync('/sys/block')
    .filter((name) => name.startsWith('loop'))
    .flatMap((name) => {
      try {
        const backing = readFileSync(`/sys/block/${name}/loop/backing_file`, 'utf8').trimEnd()
        return backing === path ? [`/dev/${name}`] : []
      } catch {
        // It has no file.
        return []
      }
    })
}
