// A service manager as systemd is one, as far as a listening socket goes: it takes descriptors into its store
// (sd_notify(3), FDSTORE) and passes them to the next process (sd_listen_fds(3)).
import { dlopen, ptr, FFIType as t } from 'bun:ffi'
import { closeSync, rmSync } from 'node:fs'

const { symbols: libc } = dlopen('libc.so.6', {
  socket: { args: [t.i32, t.i32, t.i32], returns: t.i32 },
  bind: { args: [t.i32, t.ptr, t.i32], returns: t.i32 },
  recvmsg: { args: [t.i32, t.ptr, t.i32], returns: t.i64 },
})
const [AF_UNIX, SOCK_DGRAM, CLOEXEC, MSG_DONTWAIT, MSG_CMSG_CLOEXEC] = [1, 2, 0o2000000, 0x40, 0x40000000]

export function serviceManager(path: string) {
  const address = new Uint8Array(2 + path.length + 1)
  address[0] = AF_UNIX
  address.set(Buffer.from(path), 2)
  const socket = libc.socket(AF_UNIX, SOCK_DGRAM | CLOEXEC, 0)
  if (libc.bind(socket, ptr(address), address.length) !== 0) throw new Error(`no socket at ${path}`)
  const told: string[] = []
  let stored: number | undefined

  /** Reads what was sent since. */
  function listen() {
    for (;;) {
      const body = Buffer.alloc(4096)
      const vector = new BigUint64Array([BigInt(ptr(body)), BigInt(body.length)])
      const control = new DataView(new ArrayBuffer(24))
      const controlBytes = new Uint8Array(control.buffer)
      const message = new BigUint64Array([0n, 0n, BigInt(ptr(vector)), 1n, BigInt(ptr(controlBytes)), 24n, 0n])
      const length = Number(libc.recvmsg(socket, ptr(message), MSG_DONTWAIT | MSG_CMSG_CLOEXEC))
      if (length <= 0) return
      const text = body.subarray(0, length).toString()
      told.push(text)
      if (text.startsWith('FDSTOREREMOVE=1')) forget()
      if (text.startsWith('FDSTORE=1')) stored = control.getInt32(16, true)
    }
  }
  function forget() {
    if (stored !== undefined) closeSync(stored)
    stored = undefined
  }

  return {
    told,
    get stored() {
      listen()
      return stored
    },
    /** The parts of a process at its start: its environment, and its descriptors from 3 on. The shell knows its id. */
    passes(command: readonly string[]) {
      listen()
      const fds = stored === undefined ? [] : [stored]
      const script = fds.length ? 'LISTEN_PID=$$ exec "$@"' : 'exec "$@"'
      return {
        command: ['/bin/sh', '-c', script, 'sh', ...command],
        env: { NOTIFY_SOCKET: path, ...(fds.length ? { LISTEN_FDS: String(fds.length) } : {}) },
        fds,
      }
    },
    close() {
      listen()
      forget()
      closeSync(socket)
      rmSync(path, { force: true })
    },
  }
}
