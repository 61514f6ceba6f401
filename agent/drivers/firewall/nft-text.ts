// The words of nft's language that several chains have in common.
import ipaddr from 'ipaddr.js'
import { Failure } from '../../failure.ts'

/** The name of our tables: one of the bridge family for the ports, one of the inet family for the host's own. */
export const TABLE = 'berth'

export const dropped = (why: string) => `counter drop comment "${why}"`
export const set = (elements: readonly (string | number)[]) => `{ ${elements.join(', ')} }`
export const indent = (lines: readonly string[]) => lines.map((line) => `  ${line}`)
export const block = (head: string, lines: readonly string[]) => [`${head} {`, ...indent(lines), '}']
export const chain = (name: string, rules: readonly string[]) => block(`chain ${name}`, rules)

/** The length of an IPv6 prefix and its first `bits` bits as a number. Throws `invalid_address`. */
export function prefixOf(cidr: string): { bits: number; value: bigint } {
  const [address = '', length = ''] = cidr.split('/')
  const bits = Number(length)
  if (address.includes('%') || !ipaddr.IPv6.isValid(address) || !/^\d+$/.test(length) || bits < 1 || bits > 128)
    throw new Failure('invalid_address', `${cidr} is no IPv6 prefix`)
  return { bits, value: numberOf(address) >> BigInt(128 - bits) }
}

const numberOf = (address: string): bigint =>
  ipaddr.IPv6.parse(address).parts.reduce((sum, part) => (sum << 16n) | BigInt(part), 0n)

/** A match on the IPv6 address that begins `offset` bits into the transport header: nft has no keyword for it. */
export function ipv6At(offset: number, cidr: string): string {
  const { bits, value } = prefixOf(cidr)
  return `@th,${offset},${bits} 0x${value.toString(16)}`
}

/** An IPv4 address as nft writes it in a raw match. Throws `invalid_address`. */
export function ipv4Number(address: string): string {
  if (!ipaddr.IPv4.isValidFourPartDecimal(address))
    throw new Failure('invalid_address', `${address} is no IPv4 address`)
  return `0x${Buffer.from(ipaddr.IPv4.parse(address).octets).toString('hex')}`
}
