// Controller and agent under systemd: its journal, and the messages that tell it whether they work.
import { dlopen, ptr, FFIType as t } from 'bun:ffi'
import { closeSync, fstatSync } from 'node:fs'

export type Level = 'info' | 'warning' | 'error'

/** JOURNAL_STREAM names device and inode of the journal's stream; in a shell that a service started they differ. */
const toJournal = (() => {
  try {
    const { dev, ino } = fstatSync(2)
    return process.env['JOURNAL_STREAM'] === `${dev}:${ino}`
  } catch {
    return false
  }
})()
const priorities = { info: '<6>', warning: '<4>', error: '<3>' }
/** The prefix that gives a line its priority in the journal (`journalctl -p warning`); empty where no journal reads. */
export const journalPriority = (level: Level): string => (toJournal ? priorities[level] : '')

const openLibc = () =>
  dlopen('libc.so.6', {
    socket: { args: [t.i32, t.i32, t.i32], returns: t.i32 },
    sendmsg: { args: [t.i32, t.ptr, t.i32], returns: t.i64 },
  }).symbols
/** Opened once: each opening compiles the calls anew. */
let libc: ReturnType<typeof openLibc> | undefined

// Constants of Linux, equal on x86-64 and aarch64.
const [AF_UNIX, SOCK_DGRAM, CLOEXEC] = [1, 2, 0o2000000]
const [SOL_SOCKET, SCM_RIGHTS] = [1, 1]
const [MSG_DONTWAIT, MSG_NOSIGNAL] = [0x40, 0x4000]

/**
 * Sends one datagram to the service manager at NOTIFY_SOCKET (sd_notify(3)), with a descriptor where one is given. Bun
 * has no sockets of that kind, so libc does it. `waits`: the call waits while the manager is slow to read. Answers
 * whether it was sent; throws where there is no libc of this name.
 */
export function tellManager(
  socket: string,
  text: string,
  { fd, waits = false }: { fd?: number; waits?: boolean } = {},
) {
  libc ??= openLibc()
  const path = Buffer.from(socket.replace(/^@/, '\0'))
  const name = new Uint8Array(2 + path.length + 1)
  name[0] = AF_UNIX
  name.set(path, 2)
  const body = Buffer.from(text)
  const vector = new BigUint64Array([BigInt(ptr(body)), BigInt(body.length)])
  const control = new DataView(new ArrayBuffer(24))
  control.setBigUint64(0, 20n, true)
  control.setInt32(8, SOL_SOCKET, true)
  control.setInt32(12, SCM_RIGHTS, true)
  control.setInt32(16, fd ?? 0, true)
  const controlBytes = new Uint8Array(control.buffer)
  const message = new BigUint64Array([
    BigInt(ptr(name)),
    // An abstract name ends where it ends; that of a file ends in a zero.
    BigInt(socket.startsWith('@') ? name.length - 1 : name.length),
    BigInt(ptr(vector)),
    1n,
    fd === undefined ? 0n : BigInt(ptr(controlBytes)),
    fd === undefined ? 0n : BigInt(controlBytes.length),
    0n,
  ])
  const sender = libc.socket(AF_UNIX, SOCK_DGRAM | CLOEXEC, 0)
  const flags = MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT)
  const sent = sender >= 0 && Number(libc.sendmsg(sender, ptr(message), flags)) === body.length
  if (sender >= 0) closeSync(sender)
  return sent
}

/** A day: no start takes longer. */
const SUSPENDED_US = 86_400_000_000
/** Ten minutes for work that must not be cut off, so that one that hangs is ended all the same. */
const PATIENT_US = 600_000_000
/** Pings in the time after which the manager kills a program that sent none. */
const PINGS = 3

/**
 * The service manager that started this program, where it has one that wants to be told: without NOTIFY_SOCKET nothing
 * happens. It learns when the program works, and after that several times within WATCHDOG_USEC that it lives.
 */
export class ServiceManager {
  private readonly socket: string | undefined
  private readonly watchdogUs: number
  private pinging: Timer | undefined
  private isWatched = false
  private hasFailed = false

  constructor(
    private warn: (text: string, about: Record<string, unknown>) => void,
    env: Record<string, string | undefined> = process.env,
  ) {
    this.socket = env['NOTIFY_SOCKET']
    const isForUs = env['WATCHDOG_PID'] === undefined || env['WATCHDOG_PID'] === String(process.pid)
    const us = Number(env['WATCHDOG_USEC'])
    this.watchdogUs = isForUs && Number.isSafeInteger(us) && us > 0 ? us : 0
  }

  /**
   * The program works. From now on the manager is told so for as long as the event loop turns and `isAlive` does not
   * throw.
   */
  ready(isAlive: () => unknown = () => {}) {
    this.tell('READY=1', true)
    this.watch(isAlive)
  }

  /** Tells the manager that the program lives, from now on by this check. */
  watch(isAlive: () => unknown = () => {}) {
    clearInterval(this.pinging)
    if (!this.watchdogUs) return
    let wasAlive = true
    const ping = () => {
      try {
        isAlive()
        this.tell('WATCHDOG=1')
        wasAlive = true
      } catch (error) {
        if (wasAlive) this.warn('the watchdog is not told that this program lives', { error: String(error) })
        wasAlive = false
      }
    }
    this.isWatched = true
    this.tell(`WATCHDOG_USEC=${this.watchdogUs}`)
    ping()
    this.pinging = setInterval(ping, this.watchdogUs / 1000 / PINGS)
  }

  /** Until `watch`: work begins that may hold up the event loop for long, and must not be cut off. */
  suspend() {
    this.isWatched = false
    clearInterval(this.pinging)
    if (this.watchdogUs) this.tell(`WATCHDOG_USEC=${SUSPENDED_US}`, true)
  }

  /** Does work that may hold up the event loop for some minutes. */
  patiently<T>(work: () => T): T {
    // Where nothing is watched, such as at the start, this must not begin it.
    if (!this.isWatched) return work()
    this.tell(`WATCHDOG_USEC=${PATIENT_US}`, true)
    try {
      return work()
    } finally {
      this.tell(`WATCHDOG_USEC=${this.watchdogUs}`, true)
    }
  }

  stopping() {
    this.isWatched = false
    this.tell('STOPPING=1')
    clearInterval(this.pinging)
  }

  private tell(text: string, waits = false) {
    if (!this.socket) return
    try {
      if (tellManager(this.socket, text, { waits })) return
      this.failed('it takes no message')
    } catch (error) {
      this.failed(String(error))
    }
  }

  private failed(error: string) {
    if (!this.hasFailed) this.warn('the service manager cannot be told that this program works', { error })
    this.hasFailed = true
  }
}
