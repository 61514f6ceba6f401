import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Is the text a CIDR like `10.0.0.0/8` in its strict form: no `010.0.0.1`, no `10.1`, no `0x7f.1`, no zone? */
export const isCidr = (text: string) =>
  isIP(text.split('/')[0] ?? '') !== 0 && !text.includes('%') && ipaddr.isValidCIDR(text)

/** Is the address inside one of the CIDRs? IPv4 written as IPv6 (`::ffff:192.0.2.1`) counts as IPv4 in both. */
export function inside(address: string, cidrs: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  return cidrs.some((cidr) => {
    const [range, bits] = rangeOf(cidr)
    return range.kind() === parsed.kind() && parsed.match(range as any, bits)
  })
}

function rangeOf(cidr: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const [range, bits] = ipaddr.parseCIDR(cidr)
  return range instanceof ipaddr.IPv6 && range.isIPv4MappedAddress() && bits >= 96
    ? [range.toIPv4Address(), bits - 96]
    : [range, bits]
}
