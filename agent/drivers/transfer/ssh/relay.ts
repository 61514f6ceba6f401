// A session of SSH joined with a connection to a socket. The kernel hands the bytes on through a pipe, so that they are
// copied into no process; where somebody has to see them they are read and written.
import { dlopen, FFIType, ptr } from 'bun:ffi'
import { closeSync } from 'node:fs'

const SHUT_WR = 1
const [F_SETFL, F_SETPIPE_SZ] = [4, 1031] as const
const O_NONBLOCK = 0x800
const O_CLOEXEC = 0x80000
const SPLICE_F_NONBLOCK = 2
const [POLLIN, POLLOUT, POLLERR, POLLHUP] = [1, 4, 8, 16] as const
const BUFFER_BYTES = 1 << 20
/** A read or write that fails so often although it is due has an end that is gone. */
const MOST_FAILURES = 100

const open = () =>
  dlopen('libc.so.6', {
    poll: { args: [FFIType.ptr, FFIType.u64, FFIType.i32], returns: FFIType.i32 },
    read: { args: [FFIType.i32, FFIType.ptr, FFIType.u64], returns: FFIType.i64_fast },
    write: { args: [FFIType.i32, FFIType.ptr, FFIType.u64], returns: FFIType.i64_fast },
    splice: {
      args: [FFIType.i32, FFIType.u64, FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u32],
      returns: FFIType.i64_fast,
    },
    pipe2: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
    shutdown: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    fcntl: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  }).symbols
type Libc = ReturnType<typeof open>

/** One direction. `take` and `give` answer bytes, 0 at the end, less on failure. `heldBytes`: taken, and not given. */
type Way = { from: number; to: number; heldBytes: number; isOver: boolean; take(): number; give(): number }

/**
 * Joins the standard input and output of this process with the connection `file`, until both have ended or `mayGoOn`,
 * which is asked once a second, says no. Nothing else of the process works meanwhile: it has no other work. `onInput`
 * sees what goes to the connection before it goes there.
 */
export function relay(file: number, mayGoOn: () => boolean, onInput?: (bytes: Uint8Array) => void) {
  const libc = open()
  const [input, output] = [0, 1]
  for (const each of [input, output, file]) libc.fcntl(each, F_SETFL, O_NONBLOCK)
  const ways = [
    onInput ? readWay(libc, input, file, onInput) : spliceWay(libc, input, file),
    spliceWay(libc, file, output),
  ]
  // Behind those of the ways: that the connection is gone as a whole, where it sends nothing more.
  const waits = Buffer.alloc(8 * (ways.length + 1))
  const gone = 8 * ways.length
  let failures = 0
  while (ways.some(({ isOver }) => !isOver)) {
    for (const [i, { from, to, heldBytes, isOver }] of ways.entries()) {
      waits.writeInt32LE(isOver ? -1 : heldBytes ? to : from, i * 8)
      waits.writeInt32LE(heldBytes ? POLLOUT : POLLIN, i * 8 + 4)
    }
    waits.writeInt32LE(ways[1]!.isOver ? file : -1, gone)
    if (libc.poll(ptr(waits), ways.length + 1, 1000) === 0 && !mayGoOn()) return
    // The sender hears of it only when the session ends.
    if (ways[1]!.isOver && waits.readUInt16LE(gone + 6) & (POLLERR | POLLHUP)) return
    for (const [i, way] of ways.entries()) {
      const happened = waits.readUInt16LE(i * 8 + 6)
      if (way.isOver || happened === 0) continue
      // The other end is gone.
      if (way.heldBytes && happened & (POLLERR | POLLHUP)) return
      const bytes = way.heldBytes ? way.give() : way.take()
      if (bytes < 0 && (happened & POLLERR || ++failures > MOST_FAILURES)) return
      if (bytes >= 0) failures = 0
      if (way.heldBytes) way.give()
      else if (bytes === 0) {
        way.isOver = true
        if (way.to === file) libc.shutdown(file, SHUT_WR)
        else {
          closeSync(output)
          // It takes nothing any more either. The end of this process alone tells that to the other node.
          if (happened & POLLHUP) return
        }
      }
    }
  }
}

function spliceWay({ pipe2, fcntl, splice }: Libc, from: number, to: number): Way {
  const ends = new Int32Array(2)
  if (pipe2(ptr(ends), O_NONBLOCK | O_CLOEXEC) !== 0) throw new Error('no pipe can be made')
  const [out, into] = ends as unknown as [number, number]
  fcntl(into, F_SETPIPE_SZ, BUFFER_BYTES)
  const move = (source: number, target: number, most: number) =>
    Number(splice(source, 0, target, 0, most, SPLICE_F_NONBLOCK))
  return {
    ...{ from, to, heldBytes: 0, isOver: false },
    take() {
      const bytes = move(from, into, BUFFER_BYTES)
      this.heldBytes = Math.max(0, bytes)
      return bytes
    },
    give() {
      const bytes = move(out, to, this.heldBytes)
      this.heldBytes -= Math.max(0, bytes)
      return bytes
    },
  }
}

function readWay({ read, write }: Libc, from: number, to: number, onBytes: (bytes: Uint8Array) => void): Way {
  const buffer = Buffer.alloc(BUFFER_BYTES)
  let start = 0
  return {
    ...{ from, to, heldBytes: 0, isOver: false },
    take() {
      const bytes = Number(read(from, ptr(buffer), BUFFER_BYTES))
      start = 0
      this.heldBytes = Math.max(0, bytes)
      if (bytes > 0) onBytes(buffer.subarray(0, bytes))
      return bytes
    },
    give() {
      const bytes = Number(write(to, ptr(buffer, start), this.heldBytes))
      start += Math.max(0, bytes)
      this.heldBytes -= Math.max(0, bytes)
      return bytes
    },
  }
}
