// The port outlives the process. The supervisor of the controller keeps the listening socket while it is replaced, so
// that connections wait in the kernel and none is refused: systemd in its store of file descriptors
// (sd_notify(3), FDSTORE), the supervisor of `berth host` as descriptor 3. Both pass it as LISTEN_FDS
// (sd_listen_fds(3)); the supervisor cannot know the number of the process before it starts and names its own.
// Bun.serve can neither take a socket over nor stop accepting without closing, so libc does it. Where nobody keeps the
// socket, what the kernel has accepted is still served: its listening socket ignores new connections before it closes.
import { dlopen, ptr, FFIType as t } from 'bun:ffi'
import { closeSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { tellManager } from '../../../agent/protocol/systemd.ts'
import { log } from '../../kernel/log.ts'

type Address = { hostname: string; port: number }
export type Listening<S> = {
  server: S
  /** Does the socket outlive this process? Else the port closes with it. */
  isHeld: boolean
  /**
   * New connections wait from here on, and those that are open go on. Of a socket that is held they wait for the next
   * process; else the clients repeat their SYN, and find the next process or a closed port.
   */
  stopAccepting(): void
}

const openLibc = () =>
  dlopen('libc.so.6', {
    getsockname: { args: [t.i32, t.ptr, t.ptr], returns: t.i32 },
    dup3: { args: [t.i32, t.i32, t.i32], returns: t.i32 },
    fcntl: { args: [t.i32, t.i32, t.i32], returns: t.i32 },
    setsockopt: { args: [t.i32, t.i32, t.i32, t.ptr, t.u32], returns: t.i32 },
    epoll_ctl: { args: [t.i32, t.i32, t.i32, t.ptr], returns: t.i32 },
  }).symbols
type Libc = ReturnType<typeof openLibc>

// Constants of Linux, equal on x86-64 and aarch64.
const [AF_INET, AF_INET6] = [2, 10]
const [CLOEXEC, NONBLOCK] = [0o2000000, 0o4000]
const [F_GETFL, F_SETFL] = [3, 4]
const [EPOLL_CTL_ADD, EPOLL_CTL_DEL] = [1, 2]
const [SOL_SOCKET, SO_ATTACH_FILTER] = [1, 26]
/** The first descriptor that is passed. */
const FIRST_PASSED = 3
/** The name of the socket in the store. */
const STORED_AS = 'http'

/** Listens by `serve`, on the socket that the process before left where one was passed for this address, else anew. */
export function listenHeld<S extends { port?: number; stop(force?: boolean): unknown }>(
  wanted: Address,
  env: Record<string, string | undefined>,
  serve: (at: Address) => S,
): Listening<S> {
  const passed = passedIn(env)
  const notify = env['NOTIFY_SOCKET']
  let libc: Libc
  try {
    libc = openLibc()
  } catch (error) {
    log.warning('the listening socket is not kept over a restart, and a stop may cut connections off', { error })
    return { server: serve(wanted), isHeld: false, stopAccepting() {} }
  }
  const ours = passed.find((fd) => isAt(addressOf(libc, fd), wanted))
  for (const fd of passed) if (fd !== ours) closeSync(fd)
  if (ours === undefined) {
    if (passed.length)
      log.warning('the socket that was kept is for another address than PANEL_LISTEN; a new one is opened', {
        listen: `${wanted.hostname}:${wanted.port}`,
      })
    const server = serve(wanted)
    const fd = listeningFd(libc, server.port)
    if (notify && passed.length) tellManager(notify, `FDSTOREREMOVE=1\nFDNAME=${STORED_AS}`, { waits: true })
    const stored = notify && tellManager(notify, `FDSTORE=1\nFDPOLL=0\nFDNAME=${STORED_AS}`, { fd, waits: true })
    if (notify && !stored) log.warning('the service manager does not keep the listening socket over a restart')
    return stored
      ? { server, isHeld: true, stopAccepting: () => pause(libc, fd) }
      : { server, isHeld: false, stopAccepting: () => ignoreNew(libc, fd) }
  }
  // A port of loopback that nobody knows; the socket that was kept takes its place at once.
  const server = serve({ hostname: '127.0.0.1', port: 0 })
  const fd = listeningFd(libc, server.port)
  replace(libc, fd, ours)
  closeSync(ours)
  return { server, isHeld: true, stopAccepting: () => pause(libc, fd) }
}

/** The descriptors that were passed to this process, taken out of its environment. */
function passedIn(env: Record<string, string | undefined>): number[] {
  const { LISTEN_FDS: count = '', LISTEN_PID: pid, LISTEN_PPID: parent } = env
  for (const name of ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_PPID', 'LISTEN_FDNAMES']) delete env[name]
  const isForUs = pid === String(process.pid) || parent === String(process.ppid)
  if (!/^[1-9]$/.test(count) || !isForUs) return []
  return Array.from({ length: Number(count) }, (_, i) => FIRST_PASSED + i)
}

/** Undefined for a descriptor that is no socket of IPv4 or IPv6. */
function addressOf(libc: Libc, fd: number): Address | undefined {
  const bytes = new Uint8Array(28)
  if (libc.getsockname(fd, ptr(bytes), ptr(new Uint32Array([bytes.length]))) !== 0) return undefined
  const view = new DataView(bytes.buffer)
  const family = view.getUint16(0, true)
  if (family !== AF_INET && family !== AF_INET6) return undefined
  const address = family === AF_INET ? bytes.subarray(4, 8) : bytes.subarray(8, 24)
  return { hostname: ipaddr.fromByteArray([...address]).toString(), port: view.getUint16(2) }
}

/** A host's name is not resolved: it is the supervisor that reads the same setting. */
const isAt = (found: Address | undefined, { hostname, port }: Address) =>
  found?.port === port && (!isIP(hostname) || ipaddr.parse(hostname).toString() === found.hostname)

/** Throws when this process has no such socket. */
function listeningFd(libc: Libc, port: number | undefined): number {
  const fd = readdirSync('/proc/self/fd')
    .map(Number)
    .find((each) => linkOf(each).startsWith('socket:') && addressOf(libc, each)?.port === port)
  if (fd === undefined) throw new Error(`no descriptor listens on port ${port}`)
  return fd
}

function linkOf(fd: number): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return '' // of the listing itself, and closed since
  }
}

/** Where the event loop watches the descriptor, as /proc/self/fdinfo shows it (proc_pid_fdinfo(5)). */
function watchOf(fd: number): { epoll: number; events: number; data: bigint } {
  for (const epoll of readdirSync('/proc/self/fd').map(Number)) {
    if (linkOf(epoll) !== 'anon_inode:[eventpoll]') continue
    const line = new RegExp(`^tfd: +${fd} events: +([0-9a-f]+) data: +([0-9a-f]+)`, 'm')
    const found = line.exec(readFileSync(`/proc/self/fdinfo/${epoll}`, 'utf8'))
    if (found) return { epoll, events: Number.parseInt(found[1]!, 16), data: BigInt(`0x${found[2]}`) }
  }
  throw new Error(`no event loop watches descriptor ${fd}`)
}

/** Puts the other socket behind this descriptor, watched as the one before. */
function replace(libc: Libc, fd: number, by: number) {
  const { epoll, events, data } = watchOf(fd)
  libc.fcntl(by, F_SETFL, libc.fcntl(by, F_GETFL, 0) | NONBLOCK)
  if (libc.dup3(by, fd, CLOEXEC) < 0) throw new Error('dup3 failed')
  // Packed on x86-64 only.
  const at = process.arch === 'x64' ? 4 : 8
  const event = new DataView(new ArrayBuffer(at + 8))
  event.setUint32(0, events, true)
  event.setBigUint64(at, data, true)
  if (libc.epoll_ctl(epoll, EPOLL_CTL_ADD, fd, ptr(new Uint8Array(event.buffer))) !== 0)
    throw new Error('epoll_ctl failed')
}

const pause = (libc: Libc, fd: number) => void libc.epoll_ctl(watchOf(fd).epoll, EPOLL_CTL_DEL, fd, null)

/** Instructions of classic BPF: code, jump if true, jump if false, operand. */
const DROP_SYN: readonly (readonly [number, number, number, number])[] = [
  [0x30, 0, 0, 13], // load the byte of the flags in the TCP header
  [0x54, 0, 0, 0x12], // of them SYN and ACK
  [0x15, 0, 1, 0x02], // SYN alone opens a connection
  [0x06, 0, 0, 0], // drop
  [0x06, 0, 0, 0xffff_ffff], // take
]

/**
 * The kernel drops the packets that open a connection; handshakes that have begun end, and Bun takes those. To close
 * or shut the socket down at once would reset what waits in its queue.
 */
function ignoreNew(libc: Libc, fd: number) {
  const code = new DataView(new ArrayBuffer(8 * DROP_SYN.length))
  for (const [i, [op, onTrue, onFalse, operand]] of DROP_SYN.entries()) {
    code.setUint16(8 * i, op, true)
    code.setUint8(8 * i + 2, onTrue)
    code.setUint8(8 * i + 3, onFalse)
    code.setUint32(8 * i + 4, operand, true)
  }
  const instructions = new Uint8Array(code.buffer)
  // struct sock_fprog: the count, and behind padding where they are.
  const program = new DataView(new ArrayBuffer(16))
  program.setUint16(0, DROP_SYN.length, true)
  program.setBigUint64(8, BigInt(ptr(instructions)), true)
  if (libc.setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, ptr(new Uint8Array(program.buffer)), 16) !== 0)
    log.warning('the kernel takes no filter for the listening socket; connections may be cut off at this stop')
}
