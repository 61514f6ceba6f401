// The pace of an SSH connection, which the kernel keeps: no byte has to pass through the agent for it, and it may
// change at any time. The agent reaches the socket of ssh by a second descriptor of it (pidfd_getfd, since Linux 5.6).
import { dlopen, FFIType, ptr } from 'bun:ffi'
import { closeSync, readdirSync } from 'node:fs'

/** The numbers of the calls are the same for every processor. */
const [PIDFD_OPEN, PIDFD_GETFD] = [434, 438] as const
const SOL_SOCKET = 1
const [SO_SNDBUFFORCE, SO_DOMAIN, SO_MAX_PACING_RATE] = [32, 39, 47] as const
const INTERNET: readonly number[] = [2, 10]
const MEGABIT_BYTES = 125_000
/**
 * The bytes that wait in the kernel go before a sign of life of ssh, which the other end must answer within 15 seconds:
 * so they are as many as the pace takes in a quarter of a second. The kernel doubles the value.
 */
const QUEUE_SECONDS = 0.125
const [LEAST_QUEUE_BYTES, MOST_QUEUE_BYTES] = [32 << 10, 2 << 20] as const
/** The kernel's word for none. */
const NO_LIMIT = 0xffff_ffff_ffff_ffffn

let opened: ReturnType<typeof open> | undefined
const open = () =>
  dlopen('libc.so.6', {
    syscall: { args: [FFIType.i64, FFIType.i64, FFIType.i64, FFIType.i64], returns: FFIType.i64_fast },
    getsockopt: { args: [FFIType.i32, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
    setsockopt: { args: [FFIType.i32, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
  }).symbols

/** Limits what this process sends to the internet; null: no limit. False where that cannot be done. */
export function paceProcess(pid: number, maxMbps: number | null): boolean {
  opened ??= open()
  const process = Number(opened.syscall(PIDFD_OPEN, pid, 0, 0))
  if (process < 0) return false
  try {
    const paced = openFilesOf(pid).map((file) => {
      const socket = Number(opened!.syscall(PIDFD_GETFD, process, file, 0))
      if (socket < 0) return false
      try {
        return INTERNET.includes(domainOf(socket)) && paceSocket(socket, maxMbps)
      } finally {
        closeSync(socket)
      }
    })
    return paced.includes(true)
  } finally {
    closeSync(process)
  }
}

function openFilesOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map(Number)
  } catch {
    return []
  }
}

/** The family of its addresses; -1 where it is no socket. */
function domainOf(file: number): number {
  const [value, length] = [new Int32Array([-1]), new Uint32Array([4])]
  opened!.getsockopt(file, SOL_SOCKET, SO_DOMAIN, ptr(value), ptr(length))
  return value[0]!
}

function paceSocket(socket: number, maxMbps: number | null): boolean {
  const rate = maxMbps === null ? NO_LIMIT : BigInt(Math.round(maxMbps * MEGABIT_BYTES))
  const queue = (maxMbps ?? Number.POSITIVE_INFINITY) * MEGABIT_BYTES * QUEUE_SECONDS
  const queueBytes = Math.round(Math.min(MOST_QUEUE_BYTES, Math.max(LEAST_QUEUE_BYTES, queue)))
  const set = (option: number, value: BigUint64Array | Int32Array) =>
    opened!.setsockopt(socket, SOL_SOCKET, option, ptr(value), value.byteLength) === 0
  return set(SO_SNDBUFFORCE, new Int32Array([queueBytes])) && set(SO_MAX_PACING_RATE, new BigUint64Array([rate]))
}
