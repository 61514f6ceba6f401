// A network namespace of the test's own, so that its rules and interfaces do not mix with those of the machine.
// Processes that the test starts inherit it.
import { dlopen, FFIType } from 'bun:ffi'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'

const CLONE_NEWNET = 0x40000000
const CLONE_NEWNS = 0x00020000

const open = () =>
  dlopen('libc.so.6', {
    unshare: { args: [FFIType.i32], returns: FFIType.i32 },
    setns: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  }).symbols

/** Enters a new, empty network. Returns a function that leaves it; undefined without the permission to do so. */
export function enterOwnNetwork(): (() => void) | undefined {
  const libc = open()
  const home = openSync('/proc/thread-self/ns/net', 'r')
  if (libc.unshare(CLONE_NEWNET) !== 0) return undefined
  return () => {
    libc.setns(home, CLONE_NEWNET)
    closeSync(home)
  }
}

/** Enters the network of this file, such as `/run/netns/NAME`. Returns a function that leaves it. */
export function enterNetwork(path: string): () => void {
  const libc = open()
  const home = openSync('/proc/thread-self/ns/net', 'r')
  const there = openSync(path, 'r')
  const failed = libc.setns(there, CLONE_NEWNET) !== 0
  closeSync(there)
  if (failed) throw new Error(`cannot enter ${path}`)
  return () => {
    libc.setns(home, CLONE_NEWNET)
    closeSync(home)
  }
}

/**
 * A directory on a file system of its own, of so many MiB. It lies in the mounts of a process that holds it: a mount of
 * this process is not seen by those of its threads that were started in mounts which it has left (`enterOwnMounts`).
 */
export async function smallFileSystem(mib: number): Promise<{ path: string; end(): Promise<unknown> }> {
  const mounting = `mount -t tmpfs -o size=${mib}m tmpfs /mnt && echo mounted && exec cat`
  const holder = Bun.spawn(['unshare', '--mount', '--propagation', 'private', 'sh', '-c', mounting], { stdin: 'pipe' })
  const { value } = await holder.stdout.getReader().read()
  if (!value) throw new Error(`no file system of ${mib} MiB: unshare or mount ended with ${await holder.exited}`)
  return {
    path: `/proc/${holder.pid}/root/mnt`,
    end() {
      holder.stdin.end()
      return holder.exited
    },
  }
}

const UNIFIED = '/sys/fs/cgroup/unified'

/**
 * Enters mounts of its own, in which a machine that has control groups of both versions has the old one alone: crun
 * refuses such a mixture. Returns a function that leaves them; mounts that were made meanwhile end with their users.
 */
export function enterOwnMounts(): (() => void) | undefined {
  const libc = open()
  const home = openSync('/proc/thread-self/ns/mnt', 'r')
  if (libc.unshare(CLONE_NEWNS) !== 0) return undefined
  Bun.spawnSync(['mount', '--make-rprivate', '/'])
  if (existsSync(join(UNIFIED, 'cgroup.controllers'))) Bun.spawnSync(['umount', UNIFIED])
  return () => {
    libc.setns(home, CLONE_NEWNS)
    closeSync(home)
  }
}
