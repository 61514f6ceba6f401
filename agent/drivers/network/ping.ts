// Asks addresses for an echo (ICMP: RFC 792 and RFC 4443), as `ping` does. The host's routes say the way, so an answer
// shows that packets come to the address and back. No program is needed for it, which a minimal host may not have.
import { dlopen, FFIType, ptr } from 'bun:ffi'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Failure } from '../../failure.ts'
import { checksum } from './frames.ts'

const LIMIT_MS = 1000
const EVERY_MS = 20
/** A packet may be lost while a neighbour is looked for. */
const AGAIN_MS = 300

const SOCK_RAW_CLOEXEC = 3 | 0o2000000
const MSG_DONTWAIT = 0x40
/** The types of echo messages. `hasHeader`: a raw socket shows the IP header before the message. */
const versions = {
  4: { family: 2, protocol: 1, request: 8, reply: 0, sockaddrBytes: 16, addressAt: 4, hasHeader: true },
  6: { family: 10, protocol: 58, request: 128, reply: 129, sockaddrBytes: 28, addressAt: 8, hasHeader: false },
} as const
type Version = keyof typeof versions

/**
 * Those of the addresses that answer an echo within a second, in the order in which they were given. Throws
 * `ping_failed` where the host cannot ask.
 */
export async function pinged(addresses: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    ([4, 6] as const).map((version) => {
      const asked = addresses.filter((address) => isIP(address) === version)
      return asked.length ? pingedOf(version, asked) : Promise.resolve<string[]>([])
    }),
  )
  return addresses.filter((address) => found.some((one) => one.includes(address)))
}

async function pingedOf(version: Version, addresses: readonly string[]): Promise<string[]> {
  const socket = openSocket(version)
  // The addresses may be written in several ways: the sequence number says which of them answers.
  const identifier = crypto.getRandomValues(new Uint16Array(1))[0]!
  try {
    const left = new Set(addresses.keys())
    const until = performance.now() + LIMIT_MS
    for (let askAt = 0; left.size && performance.now() < until; ) {
      if (performance.now() >= askAt) {
        for (const n of left) socket.send(addresses[n]!, echo(version, identifier, n))
        askAt = performance.now() + AGAIN_MS
      }
      for (let got = socket.receive(); got; got = socket.receive()) {
        const n = answeredBy(version, identifier, got.message)
        if (n !== undefined && n < addresses.length && isSame(addresses[n]!, got.from)) left.delete(n)
      }
      if (left.size) await Bun.sleep(EVERY_MS)
    }
    return addresses.filter((_, n) => !left.has(n))
  } finally {
    socket.close()
  }
}

/** An echo request. Of IPv6 the kernel fills in the checksum. */
function echo(version: Version, identifier: number, n: number): Uint8Array {
  const head = [versions[version].request, 0, 0, 0, identifier >> 8, identifier & 0xff, n >> 8, n & 0xff]
  const message = [...head, ...new TextEncoder().encode('berth-reach-test')]
  if (version === 4) {
    const sum = checksum(message)
    message.splice(2, 2, sum >> 8, sum & 0xff)
  }
  return Uint8Array.from(message)
}

/** The sequence number of a reply to us; undefined: it is none. A raw socket receives those of all programs. */
function answeredBy(version: Version, identifier: number, bytes: Uint8Array): number | undefined {
  const { reply, hasHeader } = versions[version]
  const at = hasHeader ? ((bytes[0] ?? 0) & 0x0f) * 4 : 0
  if (bytes.length < at + 8 || bytes[at] !== reply || ((bytes[at + 4]! << 8) | bytes[at + 5]!) !== identifier)
    return undefined
  return (bytes[at + 6]! << 8) | bytes[at + 7]!
}

const isSame = (address: string, bytes: readonly number[]) =>
  ipaddr.parse(address).toByteArray().join() === bytes.join()

/** Throws `ping_failed`. */
function openSocket(version: Version) {
  const { family, protocol, sockaddrBytes, addressAt } = versions[version]
  const libc = dlopen('libc.so.6', {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    sendto: {
      args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32, FFIType.ptr, FFIType.u32],
      returns: FFIType.i64,
    },
    recvfrom: {
      args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32, FFIType.ptr, FFIType.ptr],
      returns: FFIType.i64,
    },
    close: { args: [FFIType.i32], returns: FFIType.i32 },
  })
  const { symbols } = libc
  const socket = symbols.socket(family, SOCK_RAW_CLOEXEC, protocol)
  if (socket < 0) {
    libc.close()
    throw new Failure('ping_failed', `no socket for ICMP of IPv${version} can be opened; is the agent root?`)
  }
  const buffer = Buffer.alloc(2048)
  const from = Buffer.alloc(sockaddrBytes)
  const fromLength = Buffer.alloc(4)
  const addressBytes = version === 4 ? 4 : 16
  return {
    /** An address to which the host has no route is passed over: nothing answers there. */
    send(address: string, message: Uint8Array) {
      const to = Buffer.alloc(sockaddrBytes)
      to.writeUInt16LE(family, 0)
      Buffer.from(ipaddr.parse(address).toByteArray()).copy(to, addressAt)
      symbols.sendto(socket, ptr(message), message.length, 0, ptr(to), to.length)
    },
    /** The next message that has come in; undefined: there is none now. */
    receive(): { from: number[]; message: Uint8Array } | undefined {
      fromLength.writeUInt32LE(sockaddrBytes, 0)
      const length = Number(
        symbols.recvfrom(socket, ptr(buffer), buffer.length, MSG_DONTWAIT, ptr(from), ptr(fromLength)),
      )
      if (length <= 0) return undefined
      return {
        from: [...from.subarray(addressAt, addressAt + addressBytes)],
        message: Uint8Array.from(buffer.subarray(0, length)),
      }
    },
    close() {
      symbols.close(socket)
      libc.close()
    },
  }
}
