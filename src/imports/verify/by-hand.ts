// The lines with which a person gives a system its new addresses by its console, where no guest agent does it.
import { quoted } from '../../../agent/protocol/shell-quote.ts'
import type { Card } from '../../compute/server-vm/network-config.ts'

export type ByHand = { system: 'linux' | 'windows'; lines: string[]; lasting: string }

/** For the card of the server as it is to be. `old`: the addresses that it gives up. */
export function linesByHand(card: Card, old: readonly string[], isWindows: boolean): ByHand {
  return isWindows ? inWindows(card, old) : inLinux(card)
}

function inLinux({ mac, addresses, gateways }: Card): ByHand {
  return {
    system: 'linux',
    lines: [
      // The name of the card is the system's own; its MAC address is ours.
      `card=$(basename "$(dirname "$(grep -il ${quoted(mac)} /sys/class/net/*/address | head -n 1)")")`,
      'ip addr flush dev "$card" scope global',
      ...addresses.map((cidr) => `ip ${cidr.includes(':') ? '-6 ' : ''}addr add ${quoted(cidr)} dev "$card"`),
      ...gateways.flatMap(({ version, via, isOnLink }) => {
        const ip = version === 6 ? 'ip -6' : 'ip'
        return [
          ...(isOnLink ? [`${ip} route replace ${quoted(via)} dev "$card"`] : []),
          `${ip} route replace default via ${quoted(via)} dev "$card"`,
        ]
      }),
    ],
    lasting:
      'These lines hold until its next boot. Write the same addresses into its own network settings: /etc/netplan, ' +
      '/etc/network/interfaces, nmcli, or /etc/sysconfig/network-scripts.',
  }
}

function inWindows({ mac, addresses, gateways }: Card, old: readonly string[]): ByHand {
  const card = mac.replaceAll(':', '-').toUpperCase()
  return {
    system: 'windows',
    lines: [
      `$at = (Get-NetAdapter | Where-Object MacAddress -eq '${card}').ifIndex`,
      'Get-NetRoute -InterfaceIndex $at -DestinationPrefix 0.0.0.0/0,::/0 -ErrorAction SilentlyContinue | ' +
        'Remove-NetRoute -Confirm:$false',
      ...old.map((one) => `Remove-NetIPAddress -InterfaceIndex $at -IPAddress '${one}' -Confirm:$false`),
      ...addresses.map((cidr) => {
        const [address, length] = cidr.split('/')
        return `New-NetIPAddress -InterfaceIndex $at -IPAddress '${address}' -PrefixLength ${length}`
      }),
      ...gateways.map(
        ({ version, via }) =>
          `New-NetRoute -InterfaceIndex $at -DestinationPrefix '${version === 4 ? '0.0.0.0/0' : '::/0'}' ` +
          `-NextHop '${via}'`,
      ),
    ],
    lasting: 'Windows keeps these addresses over its boots. Run the lines in PowerShell as an administrator.',
  }
}
