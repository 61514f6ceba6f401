// Frames that tell neighbours where an address is now. They carry the guest's MAC address, so no program of the host
// sends them: they leave through a packet socket, as the guest itself would send them.
import { readdirSync, readlinkSync } from 'node:fs'
import { isIP } from 'node:net'
import { basename } from 'node:path'
import ipaddr from 'ipaddr.js'
import { BROADCAST, checksum, ETH_P_ARP, ETH_P_IPV6, frame, macBytes, openSocket } from './frames.ts'

/** A frame may be lost, and a router that misses it sends to the old place until its entry ends. */
const TIMES = 2

/** Sends the announcements out of every port of the vm's bridge but its own. Throws `announce_failed`. */
export function announceOnBridge({ tap, mac }: { tap: string; mac: string }, addresses: readonly string[]) {
  announceFrom(otherPorts(tap), mac, addresses)
}

/** Sends the announcements out of these devices. Throws `announce_failed`. */
export function announceFrom(devices: readonly string[], mac: string, addresses: readonly string[]) {
  if (!devices.length) return
  const frames = addresses.flatMap((address) => announcements(mac, address))
  const socket = openSocket()
  try {
    for (let n = 0; n < TIMES; n++) for (const device of devices) for (const frame of frames) socket.send(device, frame)
  } finally {
    socket.close()
  }
}

/** The ports of the bridge that the tap is on, without the tap; none when there is no such tap. */
function otherPorts(tap: string): string[] {
  try {
    const bridge = basename(readlinkSync(`/sys/class/net/${tap}/master`))
    return readdirSync(`/sys/class/net/${bridge}/brif`).filter((port) => port !== tap)
  } catch {
    return []
  }
}

/** The frames for one address: ARP request and reply about itself (RFC 5227), or a neighbour advertisement. */
export function announcements(mac: string, address: string): Uint8Array[] {
  const hardware = macBytes(mac)
  if (isIP(address) === 6) return [advertisement(hardware, ipaddr.parse(address).toByteArray())]
  const ip = ipaddr.parse(address).toByteArray()
  return [1, 2].map((operation) => {
    const target = operation === 1 ? [0, 0, 0, 0, 0, 0] : macBytes(BROADCAST)
    const arp = [0, 1, 8, 0, 6, 4, 0, operation, ...hardware, ...ip, ...target, ...ip]
    return frame(macBytes(BROADCAST), hardware, ETH_P_ARP, arp)
  })
}

/** Unsolicited, with the override flag, to all nodes (RFC 4861, 7.2.6). */
function advertisement(hardware: number[], ip: number[]): Uint8Array {
  const allNodes = ipaddr.parse('ff02::1').toByteArray()
  const message = [136, 0, 0, 0, 0x20, 0, 0, 0, ...ip, 2, 1, ...hardware]
  const pseudoHeader = [...ip, ...allNodes, 0, 0, 0, message.length, 0, 0, 0, 58]
  const sum = checksum([...pseudoHeader, ...message])
  message.splice(2, 2, sum >> 8, sum & 0xff)
  const header = [0x60, 0, 0, 0, 0, message.length, 58, 255, ...ip, ...allNodes]
  return frame(macBytes('33:33:00:00:00:01'), hardware, ETH_P_IPV6, [...header, ...message])
}
