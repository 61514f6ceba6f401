// The script by which a running Windows guest changes its addresses. Windows keeps them over its boots.
import type { GuestNetwork } from '../../../protocol/values/guests.ts'

/**
 * The protocol allows hexadecimal digits, dots, colons and a slash in what it is made of, so nothing can end its
 * quotes. It may be run again.
 */
export function readdressInWindows({ mac, addresses, gateways, resolvers, leave }: GuestNetwork): string {
  const listed = (values: readonly string[]) => `@(${values.map((value) => `'${value}'`).join(', ')})`
  return [
    "$ErrorActionPreference = 'Stop'",
    `$card = Get-NetAdapter | Where-Object MacAddress -eq '${mac.replaceAll(':', '-').toUpperCase()}'`,
    "if (-not $card) { throw 'no such card' }",
    '$at = $card.ifIndex',
    'Set-NetIPInterface -InterfaceIndex $at -AddressFamily IPv4 -Dhcp Disabled',
    'Set-NetIPInterface -InterfaceIndex $at -AddressFamily IPv6 -Dhcp Disabled -RouterDiscovery Disabled',
    `$leave = ${listed(leave)}`,
    'Get-NetIPAddress -InterfaceIndex $at | Where-Object { $leave -contains $_.IPAddress } | ' +
      'Remove-NetIPAddress -Confirm:$false',
    "Get-NetRoute -InterfaceIndex $at | Where-Object { '0.0.0.0/0', '::/0' -contains $_.DestinationPrefix } | " +
      'Remove-NetRoute -Confirm:$false',
    ...addresses.map((cidr) => {
      const [address, length] = cidr.split('/')
      return (
        `if (-not (Get-NetIPAddress -InterfaceIndex $at | Where-Object IPAddress -eq '${address}')) ` +
        `{ New-NetIPAddress -InterfaceIndex $at -IPAddress '${address}' -PrefixLength ${length} | Out-Null }`
      )
    }),
    ...gateways.flatMap(({ version, via, isOnLink }) => [
      ...(isOnLink
        ? [
            `New-NetRoute -InterfaceIndex $at -DestinationPrefix '${via}/${version === 4 ? 32 : 128}' ` +
              `-NextHop '${version === 4 ? '0.0.0.0' : '::'}' -ErrorAction SilentlyContinue | Out-Null`,
          ]
        : []),
      `New-NetRoute -InterfaceIndex $at -DestinationPrefix '${version === 4 ? '0.0.0.0/0' : '::/0'}' ` +
        `-NextHop '${via}' | Out-Null`,
    ]),
    ...(resolvers.length
      ? [`Set-DnsClientServerAddress -InterfaceIndex $at -ServerAddresses ${listed(resolvers)}`]
      : []),
  ].join('\n')
}
