// Addresses as numbers, so that ranges can be counted, compared and cut.

import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Network = { version: 4 | 6; first: bigint; last: bigint; bits: number }
const width = { 4: 32n, 6: 128n } as const

/** Parses the strict forms only: no `127.1`, no `0x7f.1`, no zone. Undefined for anything else. */
export function toNumber(text: string): { version: 4 | 6; n: bigint } | undefined {
  const version = isIP(text)
  if ((version !== 4 && version !== 6) || text.includes('%')) return undefined
  return {
    version,
    n: ipaddr
      .parse(text)
      .toByteArray()
      .reduce((n, byte) => (n << 8n) | BigInt(byte), 0n),
  }
}

/** The shortest usual form (RFC 5952 for IPv6). */
export function toText(version: 4 | 6, n: bigint): string {
  const bytes = Array.from({ length: version === 4 ? 4 : 16 }, (_, i, all = version === 4 ? 4 : 16) =>
    Number((n >> BigInt(8 * (all - 1 - i))) & 255n),
  )
  return version === 4 ? bytes.join('.') : (ipaddr.fromByteArray(bytes) as ipaddr.IPv6).toRFC5952String()
}

/** `203.0.113.0/24` with the host bits zero; undefined when it is not one. */
export function toNetwork(cidr: string): Network | undefined {
  const [text = '', bitsText = '', more] = cidr.split('/')
  const base = toNumber(text)
  const bits = Number(bitsText)
  if (!base || more !== undefined || !/^[0-9]{1,3}$/.test(bitsText) || bits > Number(width[base.version]))
    return undefined
  const size = 1n << (width[base.version] - BigInt(bits))
  if (base.n % size !== 0n) return undefined
  return { version: base.version, first: base.n, last: base.n + size - 1n, bits }
}

export const overlap = (a: Network, b: Network) => a.version === b.version && a.first <= b.last && b.first <= a.last
