// Ethernet frames, and a packet socket that sends and receives them as they are.
import { dlopen, FFIType, ptr } from 'bun:ffi'
import { Failure } from '../../failure.ts'

const AF_PACKET = 17
const SOCK_RAW = 3
const SOCK_CLOEXEC = 0o2000000
const MSG_DONTWAIT = 0x40
export const ETH_P_ARP = 0x0806
export const ETH_P_IPV6 = 0x86dd
/** All protocols, in network order. */
const ETH_P_ALL = 0x0300
export const BROADCAST = 'ff:ff:ff:ff:ff:ff'

/** The Internet checksum (RFC 1071) over an even number of bytes. */
export function checksum(bytes: readonly number[]): number {
  let sum = 0
  for (let i = 0; i < bytes.length; i += 2) sum += (bytes[i]! << 8) | bytes[i + 1]!
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  return ~sum & 0xffff
}

export const frame = (to: number[], from: number[], protocol: number, payload: number[]) =>
  Uint8Array.from([...to, ...from, protocol >> 8, protocol & 0xff, ...payload])
export const macBytes = (mac: string) => mac.split(':').map((byte) => Number.parseInt(byte, 16))

/** Throws `announce_failed`. */
export function openSocket() {
  const libc = dlopen('libc.so.6', {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    if_nametoindex: { args: [FFIType.ptr], returns: FFIType.u32 },
    sendto: {
      args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32, FFIType.ptr, FFIType.u32],
      returns: FFIType.i64,
    },
    bind: { args: [FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
    recv: { args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32], returns: FFIType.i64 },
    close: { args: [FFIType.i32], returns: FFIType.i32 },
  })
  const { symbols } = libc
  const socket = symbols.socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)
  if (socket < 0) throw new Failure('announce_failed', 'no packet socket can be opened; is the agent root?')
  const buffer = Buffer.alloc(2048)
  // struct sockaddr_ll: family, protocol, index, then 12 bytes that a frame with its own header does not need.
  const place = (port: string, protocol: number) => {
    const index = symbols.if_nametoindex(ptr(Buffer.from(`${port}\0`)))
    if (!index) return undefined
    const to = Buffer.alloc(20)
    to.writeUInt16LE(AF_PACKET, 0)
    to.writeUInt16LE(protocol, 2)
    to.writeInt32LE(index, 4)
    return to
  }
  return {
    /** From now on it receives the frames of this port; false where there is none. */
    listen(port: string): boolean {
      const at = place(port, ETH_P_ALL)
      return at !== undefined && symbols.bind(socket, ptr(at), at.length) === 0
    },
    /** The next frame that has come in; undefined: there is none now. */
    receive(): Uint8Array | undefined {
      const length = Number(symbols.recv(socket, ptr(buffer), buffer.length, MSG_DONTWAIT))
      return length > 0 ? Uint8Array.from(buffer.subarray(0, length)) : undefined
    },
    /** A port that is gone meanwhile, or is down, is passed over. */
    send(port: string, frame: Uint8Array) {
      const to = place(port, 0)
      if (!to) return
      symbols.sendto(socket, ptr(frame), frame.length, 0, ptr(to), to.length)
    },
    close() {
      symbols.close(socket)
      libc.close()
    },
  }
}
