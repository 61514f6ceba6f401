// Unix sockets by the calls of the kernel: Bun hands no connection to another process, and one that does not pass
// through the agent costs it nothing.
import { dlopen, FFIType, ptr } from 'bun:ffi'
import { chmodSync, chownSync, closeSync, rmSync } from 'node:fs'

const AF_UNIX = 1
const SOCK_STREAM = 1
const SOCK_NONBLOCK = 0x800
const SOCK_CLOEXEC = 0x80000
const MOST_PATH_BYTES = 107
const ACCEPT_EVERY_MS = 10
const BACKLOG = 16
const POLLIN = 1

let opened: ReturnType<typeof open> | undefined
const open = () =>
  dlopen('libc.so.6', {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    bind: { args: [FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
    listen: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    accept4: { args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.i32], returns: FFIType.i32 },
    connect: { args: [FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
    poll: { args: [FFIType.ptr, FFIType.u64, FFIType.i32], returns: FFIType.i32 },
  }).symbols
const libc = () => {
  opened ??= open()
  return opened
}

/** `struct sockaddr_un`. */
function addressOf(path: string): Buffer {
  const bytes = Buffer.alloc(MOST_PATH_BYTES + 3)
  bytes.writeUInt16LE(AF_UNIX)
  if (bytes.write(path, 2, MOST_PATH_BYTES) !== Buffer.byteLength(path)) throw new Error(`${path} is too long a socket`)
  return bytes
}

type OnConnection = (file: number) => void | Promise<void>

/**
 * Listens at `path`, which the user `uid` alone may connect to beside root, and hands each connection to `on` as an
 * open file, which is closed when `on` has done with it. Answers a function that ends it and removes the socket.
 */
export function listenAt(path: string, uid: number, on: OnConnection): () => void {
  const gate = heldAt(path, uid, on)
  gate.open()
  return gate.stop
}

/** `isAsked`: somebody has connected, and waits. */
export type Gate = { open(): void; stop(): void; isAsked(): boolean }

/** As `listenAt`, but nobody is let in before `open`. Who connects does not see that, and sends what a socket holds. */
export function heldAt(path: string, uid: number, on: OnConnection): Gate {
  rmSync(path, { force: true })
  const { socket, bind, listen, accept4, poll } = libc()
  const listening = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)
  const address = addressOf(path)
  if (listening < 0 || bind(listening, ptr(address), address.length) !== 0 || listen(listening, BACKLOG) !== 0)
    throw new Error(`no socket can be made at ${path}`)
  chmodSync(path, 0o600)
  if (uid !== process.getuid?.()) chownSync(path, uid, -1)
  let timer: Timer | undefined
  let isStopped = false
  const accept = () => {
    for (let file = accept4(listening, 0, 0, SOCK_CLOEXEC); file >= 0; file = accept4(listening, 0, 0, SOCK_CLOEXEC))
      void handOn(file, on)
  }
  return {
    open() {
      if (isStopped) return
      timer ??= setInterval(accept, ACCEPT_EVERY_MS)
      accept()
    },
    stop() {
      if (isStopped) return
      isStopped = true
      clearInterval(timer)
      closeSync(listening)
      rmSync(path, { force: true })
    },
    isAsked() {
      const waits = Buffer.alloc(8)
      waits.writeInt32LE(listening, 0)
      waits.writeInt32LE(POLLIN, 4)
      return !isStopped && poll(ptr(waits), 1, 0) > 0
    },
  }
}

async function handOn(file: number, on: OnConnection) {
  try {
    await on(file)
  } finally {
    closeSync(file)
  }
}

/** The open file of a connection to the socket at `path`; undefined where nobody listens. */
export function connectTo(path: string): number | undefined {
  const { socket, connect } = libc()
  const file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)
  const address = addressOf(path)
  if (connect(file, ptr(address), address.length) === 0) return file
  closeSync(file)
  return undefined
}
