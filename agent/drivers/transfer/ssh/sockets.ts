// Unix sockets by the calls of the kernel: Bun hands no connection to another process, and one that does not pass
// through the agent costs it nothing.
import { dlopen, FFIType, ptr } from 'bun:ffi'
import { chmodSync, chownSync, closeSync, rmSync } from 'node:fs'

const AF_UNIX = 1
const SOCK_STREAM = 1
const SOCK_NONBLOCK = 0x800
const SOCK_CLOEXEC = 0x80000
const SHUT_WR = 1
const F_SETFL = 4
const O_NONBLOCK = 0x800
const [POLLIN, POLLOUT, POLLERR, POLLHUP] = [1, 4, 8, 16] as const
const MOST_PATH_BYTES = 107
const ACCEPT_EVERY_MS = 10

let opened: ReturnType<typeof open> | undefined
const open = () =>
  dlopen('libc.so.6', {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    bind: { args: [FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
    listen: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    accept4: { args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.i32], returns: FFIType.i32 },
    connect: { args: [FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
    poll: { args: [FFIType.ptr, FFIType.u64, FFIType.i32], returns: FFIType.i32 },
    read: { args: [FFIType.i32, FFIType.ptr, FFIType.u64], returns: FFIType.i64 },
    write: { args: [FFIType.i32, FFIType.ptr, FFIType.u64], returns: FFIType.i64 },
    shutdown: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    fcntl: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
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

/**
 * Listens at `path`, which the user `uid` alone may connect to beside root, and hands each connection to `on` as an
 * open file, which is closed when `on` returns. Answers a function that ends it and removes the socket.
 */
export function listenAt(path: string, uid: number, on: (file: number) => void): () => void {
  rmSync(path, { force: true })
  const { socket, bind, listen, accept4 } = libc()
  const listening = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)
  const address = addressOf(path)
  if (listening < 0 || bind(listening, ptr(address), address.length) !== 0 || listen(listening, 16) !== 0)
    throw new Error(`no socket can be made at ${path}`)
  chmodSync(path, 0o600)
  if (uid !== process.getuid?.()) chownSync(path, uid, -1)
  const timer = setInterval(() => {
    for (let file = accept4(listening, 0, 0, SOCK_CLOEXEC); file >= 0; file = accept4(listening, 0, 0, SOCK_CLOEXEC))
      try {
        on(file)
      } finally {
        closeSync(file)
      }
  }, ACCEPT_EVERY_MS)
  return () => {
    clearInterval(timer)
    closeSync(listening)
    rmSync(path, { force: true })
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

const BUFFER_BYTES = 1 << 20
/** A read or write that fails so often although it is due has an end that is gone. */
const MOST_FAILURES = 100

/** One direction: what is read and not written yet. */
type Way = { from: number; to: number; buffer: Buffer; start: number; end: number; isOver: boolean }

/**
 * Joins the standard input and output of this process with the connection `file`, until both have ended or `mayGoOn`,
 * which is asked once a second, says no. Nothing else of the process works meanwhile: it has no other work.
 */
export function relay(file: number, mayGoOn: () => boolean) {
  const { poll, read, write, shutdown, fcntl } = libc()
  const [input, output] = [0, 1]
  for (const each of [input, output, file]) fcntl(each, F_SETFL, O_NONBLOCK)
  const ways = [wayOf(input, file), wayOf(file, output)]
  const waits = Buffer.alloc(8 * 2)
  let failures = 0
  while (ways.some(({ isOver }) => !isOver)) {
    for (const [i, { from, to, start, end, isOver }] of ways.entries()) {
      waits.writeInt32LE(isOver ? -1 : end > start ? to : from, i * 8)
      waits.writeInt32LE(end > start ? POLLOUT : POLLIN, i * 8 + 4)
    }
    if (poll(ptr(waits), 2, 1000) === 0 && !mayGoOn()) return
    for (const [i, way] of ways.entries()) {
      const happened = waits.readUInt16LE(i * 8 + 6)
      if (way.isOver || happened === 0) continue
      const isWriting = way.end > way.start
      // The other end is gone.
      if (isWriting && happened & (POLLERR | POLLHUP)) return
      const bytes = isWriting
        ? Number(write(way.to, ptr(way.buffer, way.start), way.end - way.start))
        : Number(read(way.from, ptr(way.buffer), BUFFER_BYTES))
      if (bytes < 0 && (happened & POLLERR || ++failures > MOST_FAILURES)) return
      if (bytes >= 0) failures = 0
      if (isWriting && bytes > 0) way.start += bytes
      else if (!isWriting && bytes > 0) [way.start, way.end] = [0, bytes]
      else if (!isWriting && bytes === 0) {
        way.isOver = true
        if (way.to === file) shutdown(file, SHUT_WR)
        else closeSync(output)
      }
    }
  }
}

const wayOf = (from: number, to: number): Way => ({
  ...{ from, to, start: 0, end: 0, isOver: false },
  buffer: Buffer.alloc(BUFFER_BYTES),
})
