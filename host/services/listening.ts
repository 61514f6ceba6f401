// A listening socket that outlives the program that serves it: the supervisor opens it and passes it on, so that
// connections wait in the kernel while the program is replaced. Bun has no call that opens one without serving it.
import { dlopen, ptr, FFIType as t } from 'bun:ffi'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

const openLibc = () =>
  dlopen('libc.so.6', {
    socket: { args: [t.i32, t.i32, t.i32], returns: t.i32 },
    setsockopt: { args: [t.i32, t.i32, t.i32, t.ptr, t.u32], returns: t.i32 },
    bind: { args: [t.i32, t.ptr, t.u32], returns: t.i32 },
    listen: { args: [t.i32, t.i32], returns: t.i32 },
    close: { args: [t.i32], returns: t.i32 },
    flock: { args: [t.i32, t.i32], returns: t.i32 },
  }).symbols
let opened: ReturnType<typeof openLibc> | undefined
const libc = () => (opened ??= openLibc())

// Constants of Linux, equal on x86-64 and aarch64.
const [AF_INET, AF_INET6] = [2, 10]
const [SOCK_STREAM, SOCK_CLOEXEC] = [1, 0o2000000]
const [SOL_SOCKET, SO_REUSEADDR] = [1, 2]
const [LOCK_EX, LOCK_NB] = [2, 4]
const BACKLOG = 512

/** A descriptor that listens at ADDRESS:PORT; undefined where it cannot be opened: then the program says why. */
export function listenAt(address: string): number | undefined {
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? []
  if (!isIP(host)) return undefined
  const bytes = socketAddress(host, Number(port))
  const { socket, setsockopt, bind, listen, close } = libc()
  const fd = socket(host.includes(':') ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)
  if (fd < 0) return undefined
  const on = new Uint32Array([1])
  const isOpen =
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, ptr(on), 4) === 0 &&
    bind(fd, ptr(bytes), bytes.length) === 0 &&
    listen(fd, BACKLOG) === 0
  if (isOpen) return fd
  close(fd)
  return undefined
}

export const closeSocket = (fd: number) => void libc().close(fd)

/** Takes the lock of an open file, which ends with the process. False: another process has it. */
export const lock = (fd: number) => libc().flock(fd, LOCK_EX | LOCK_NB) === 0

/** struct sockaddr_in, or sockaddr_in6. */
function socketAddress(host: string, port: number): Uint8Array {
  const octets = ipaddr.parse(host).toByteArray()
  const isV4 = octets.length === 4
  const bytes = new Uint8Array(isV4 ? 16 : 28)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, isV4 ? AF_INET : AF_INET6, true)
  view.setUint16(2, port)
  bytes.set(octets, isV4 ? 4 : 8)
  return bytes
}
