// A network namespace of the test's own, so that its rules and interfaces do not mix with those of the machine.
// Processes that the test starts inherit it.
import { dlopen, FFIType } from 'bun:ffi'
import { closeSync, openSync } from 'node:fs'

const CLONE_NEWNET = 0x40000000

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
