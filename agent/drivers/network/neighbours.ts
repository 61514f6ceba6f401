// Asks a vm's card for its addresses, as a neighbour that has none itself: an ARP probe (RFC 5227), and the
// solicitation of duplicate address detection (RFC 4862). Both leave through the vm's tap and are answered there.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { BROADCAST, checksum, ETH_P_ARP, ETH_P_IPV6, frame, macBytes, openSocket } from './frames.ts'

const LIMIT_MS = 1000
const EVERY_MS = 20
/** A guest that is still busy may miss a frame. */
const AGAIN_MS = 300
/** The sender: a locally administered address that no card has. */
const OURS = '02:be:27:00:00:01'

/** Those of the addresses for which the card with this MAC answers at the tap within a second. */
export async function answeringAt(
  { tap, mac }: { tap: string; mac: string },
  addresses: readonly string[],
): Promise<string[]> {
  if (!addresses.length) return []
  const socket = openSocket()
  try {
    if (!socket.listen(tap)) return []
    const left = new Set(addresses)
    const until = performance.now() + LIMIT_MS
    let askAt = 0
    while (left.size && performance.now() < until) {
      if (performance.now() >= askAt) {
        for (const address of left) socket.send(tap, question(address))
        askAt = performance.now() + AGAIN_MS
      }
      for (let got = socket.receive(); got; got = socket.receive()) {
        const answered = answerIn(got, mac)
        if (answered) left.delete(answered)
      }
      if (left.size) await Bun.sleep(EVERY_MS)
    }
    return addresses.filter((address) => !left.has(address))
  } finally {
    socket.close()
  }
}

/** The frame that asks who has the address. */
export function question(address: string): Uint8Array {
  const from = macBytes(OURS)
  const ip = ipaddr.parse(address).toByteArray()
  if (isIP(address) === 4) {
    const arp = [0, 1, 8, 0, 6, 4, 0, 1, ...from, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...ip]
    return frame(macBytes(BROADCAST), from, ETH_P_ARP, arp)
  }
  const group = [...ipaddr.parse('ff02::1:ff00:0').toByteArray().slice(0, 13), ...ip.slice(13)]
  const message = [135, 0, 0, 0, 0, 0, 0, 0, ...ip]
  const nobody = new Array<number>(16).fill(0)
  const sum = checksum([...nobody, ...group, 0, 0, 0, message.length, 0, 0, 0, 58, ...message])
  message.splice(2, 2, sum >> 8, sum & 0xff)
  const header = [0x60, 0, 0, 0, 0, message.length, 58, 255, ...nobody, ...group]
  return frame([0x33, 0x33, ...group.slice(12)], from, ETH_P_IPV6, [...header, ...message])
}

/** The address for which this frame answers, in its shortest form; undefined: it is no answer of the card. */
export function answerIn(bytes: Uint8Array, mac: string): string | undefined {
  const protocol = (bytes[12]! << 8) | bytes[13]!
  if (macBytes(mac).some((byte, i) => bytes[6 + i] !== byte)) return undefined
  // An ARP reply, whose sender is the address; a neighbour advertisement, whose target is.
  if (protocol === ETH_P_ARP && bytes.length >= 42 && bytes[21] === 2) return text(bytes.subarray(28, 32))
  if (protocol === ETH_P_IPV6 && bytes.length >= 78 && bytes[20] === 58 && bytes[54] === 136)
    return text(bytes.subarray(62, 78))
  return undefined
}

const text = (bytes: Uint8Array) => {
  const address = ipaddr.fromByteArray([...bytes])
  return address.kind() === 'ipv6' ? (address as ipaddr.IPv6).toRFC5952String() : address.toString()
}
