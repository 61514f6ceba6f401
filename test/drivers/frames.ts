// Valid and forged Ethernet frames, and a raw socket that sends them without a network stack.
import { dlopen, FFIType, ptr } from 'bun:ffi'

const AF_PACKET = 17
const SOCK_RAW = 3

/** Sends raw frames out of an interface in the network namespace of this thread. */
export function openRawSocket(interfaceIndex: number) {
  const libc = dlopen('libc.so.6', {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    sendto: {
      args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32, FFIType.ptr, FFIType.u32],
      returns: FFIType.i64,
    },
    close: { args: [FFIType.i32], returns: FFIType.i32 },
  }).symbols
  const socket = libc.socket(AF_PACKET, SOCK_RAW, 0)
  if (socket < 0) throw new Error('no raw socket: this test needs root')
  const to = Buffer.alloc(20)
  to.writeUInt16LE(AF_PACKET, 0)
  to.writeInt32LE(interfaceIndex, 4)
  to[11] = 6
  return {
    send(frame: Buffer) {
      const sent = libc.sendto(socket, ptr(frame), frame.length, 0, ptr(to), to.length)
      if (Number(sent) !== frame.length) throw new Error(`the frame was not sent (${sent})`)
    },
    close: () => void libc.close(socket),
  }
}

const hex = (text: string) => Buffer.from(text.replace(/[^0-9a-fA-F]/g, ''), 'hex')
const u16 = (n: number) => Buffer.from([n >> 8, n & 255])
const ipv4 = (text: string) => Buffer.from(text.split('.').map(Number))

/** An IPv6 address with all its groups, or with one `::`. */
function ipv6(text: string): Buffer {
  const [head = '', tail = ''] = text.split('::')
  const groups = (part: string) => (part ? part.split(':') : [])
  const middle = Array<string>(8 - groups(head).length - groups(tail).length).fill('0')
  return Buffer.concat([...groups(head), ...middle, ...groups(tail)].map((group) => u16(Number.parseInt(group, 16))))
}

export const ethernet = (from: string, type: number, payload: Buffer) =>
  Buffer.concat([
    hex('ff:ff:ff:ff:ff:ff'),
    hex(from),
    u16(type),
    payload,
    Buffer.alloc(Math.max(0, 46 - payload.length)),
  ])

type Arp = { mac: string; senderMac?: string; sender: string; target?: string; operation?: 1 | 2 }
export const arp = ({ mac, senderMac = mac, sender, target = '10.77.0.1', operation = 1 }: Arp) =>
  ethernet(
    mac,
    0x0806,
    Buffer.concat([
      hex('0001 0800 06 04'),
      u16(operation),
      hex(senderMac),
      ipv4(sender),
      hex('000000000000'),
      ipv4(target),
    ]),
  )

const udp = (from: number, to: number) => Buffer.concat([u16(from), u16(to), u16(8), u16(0)])

export function udp4(mac: string, from: string, sourcePort = 1000): Buffer {
  const header = Buffer.concat([hex('4500'), u16(28), hex('0000 0000 40 11 0000'), ipv4(from), ipv4('10.77.0.1')])
  let sum = 0
  for (let i = 0; i < 20; i += 2) sum += header.readUInt16BE(i)
  header.writeUInt16BE(~((sum & 0xffff) + (sum >> 16)) & 0xffff, 10)
  return ethernet(mac, 0x0800, Buffer.concat([header, udp(sourcePort, 2000)]))
}

const v6 = (mac: string, from: string, next: number, payload: Buffer) =>
  ethernet(
    mac,
    0x86dd,
    Buffer.concat([
      hex('60000000'),
      u16(payload.length),
      Buffer.from([next, 255]),
      ipv6(from),
      ipv6('ff02::1'),
      payload,
    ]),
  )

export const udp6 = (mac: string, from: string, sourcePort = 1000) => v6(mac, from, 17, udp(sourcePort, 2000))

/** An ICMPv6 message; with `about`, a neighbour message about that address. */
export const icmp6 = (mac: string, from: string, type: number, about?: string) =>
  v6(mac, from, 58, Buffer.concat([Buffer.from([type, 0, 0, 0, 0, 0, 0, 0]), about ? ipv6(about) : Buffer.alloc(8)]))

/**
 * The first fragment of a message whose ICMPv6 header comes with the second: options of the destination fill the first.
 */
export const firstFragment = (mac: string, from: string) => {
  const options = Buffer.concat([Buffer.from([58, 0]), hex('01 04 00000000')])
  return v6(mac, from, 44, Buffer.concat([Buffer.from([60, 0]), u16(1), hex('00000001'), options]))
}

/** An ICMPv6 message behind options of the destination. */
export const icmp6WithOptions = (mac: string, from: string, type: number) =>
  v6(mac, from, 60, Buffer.concat([Buffer.from([58, 0]), hex('01 04 00000000'), Buffer.from([type]), Buffer.alloc(15)]))

/** A fragment of a long UDP message. */
export const udp6Fragment = (mac: string, from: string) =>
  v6(mac, from, 44, Buffer.concat([Buffer.from([17, 0]), u16(1), hex('00000001'), udp(1000, 2000)]))

/** The same frame with a VLAN tag. */
export const tagged = (frame: Buffer, vlan = 7) =>
  Buffer.concat([frame.subarray(0, 12), hex('8100'), u16(vlan), frame.subarray(12)])
