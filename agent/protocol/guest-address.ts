// The address that a guest has of an IPv6 prefix: its seed says so, and nodes route the prefix to it.
import ipaddr from 'ipaddr.js'

/** The second address of the prefix whose first one is given, such as `2001:db8::1`. */
export function guestAddressIn(first: string): string {
  const bytes = ipaddr.IPv6.parse(first).toByteArray()
  for (let i = bytes.length - 1; i >= 0; i--) {
    bytes[i] = (bytes[i]! + 1) & 255
    if (bytes[i] !== 0) break
  }
  return (ipaddr.fromByteArray(bytes) as ipaddr.IPv6).toRFC5952String()
}
