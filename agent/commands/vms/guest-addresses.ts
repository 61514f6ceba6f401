import { isIP } from 'node:net'
import { say } from '../../controller-link/job-log.ts'
import { wordsOf } from '../../failure.ts'
import type { Handlers, Host } from '../../host/host.ts'
import type { guestAgentCommands } from '../../protocol/commands/guest-agent.ts'

export const guestAddresses = {
  /** The guest is not trusted to have done it: its rules on the node decide what it may use. */
  async 'guest.addresses'({ workload, mac, add, remove, os }, host) {
    if ((await host.hypervisor.power(workload)) !== 'running') return { guest: 'off' as const }
    try {
      if (os === 'windows') {
        await host.guestAgent.powershell(workload, addressScript(mac, add, remove))
        return { guest: 'applied' as const }
      }
      const device = await deviceWith(host, workload, mac)
      for (const cidr of remove) await change(host, workload, 'del', cidr, device)
      for (const cidr of add) await change(host, workload, 'add', cidr, device)
      return { guest: 'applied' as const }
    } catch (error) {
      say('warning', `The guest could not be told its addresses: ${wordsOf(error)}`)
      return { guest: 'silent' as const }
    }
  },
} satisfies Partial<Handlers<typeof guestAgentCommands>>

/**
 * For Windows, which keeps what it says. The protocol allows hexadecimal digits, dots and colons in an address, so none
 * can end its quotes. An address that is there already, or already gone, is as it should be.
 */
export function addressScript(mac: string, add: readonly string[], remove: readonly string[]): string {
  const each = (cidr: string) => cidr.split('/') as [string, string]
  return [
    "$ErrorActionPreference = 'Stop'",
    `$card = Get-NetAdapter | Where-Object MacAddress -eq '${mac.replaceAll(':', '-').toUpperCase()}'`,
    "if (-not $card) { throw 'no such card' }",
    ...remove.map(
      (cidr) =>
        `Get-NetIPAddress -InterfaceIndex $card.ifIndex | Where-Object IPAddress -eq '${each(cidr)[0]}' | ` +
        'Remove-NetIPAddress -Confirm:$false',
    ),
    ...add.map(
      (cidr) =>
        `if (-not (Get-NetIPAddress -InterfaceIndex $card.ifIndex | Where-Object IPAddress -eq '${each(cidr)[0]}')) ` +
        `{ New-NetIPAddress -InterfaceIndex $card.ifIndex -IPAddress '${each(cidr)[0]}' ` +
        `-PrefixLength ${each(cidr)[1]} | Out-Null }`,
    ),
  ].join('\n')
}

const DEVICE = /^[A-Za-z0-9_.:-]{1,15}$/

/** The guest's name of the interface with this MAC address; a name that Linux would not give is refused. */
async function deviceWith({ guestAgent }: Host, workload: string, mac: string): Promise<string> {
  const found = (await guestAgent.interfaces(workload)).find((card) => card.mac.toLowerCase() === mac)
  if (!found || !DEVICE.test(found.name)) throw new Error(`it has no interface with the MAC address ${mac}`)
  return found.name
}

/** An address that is there already, or already gone, is as it should be. */
async function change({ guestAgent }: Host, workload: string, what: 'add' | 'del', cidr: string, device: string) {
  // Duplicate address detection would find nobody: the node drops what it asks before the address is in force.
  const flags = what === 'add' && isIP(cidr.split('/')[0] ?? '') === 6 ? ['nodad'] : []
  const command = ['ip', 'address', what, cidr, 'dev', device]
  let ran = await guestAgent.exec(workload, [...command, ...flags])
  // BusyBox has no such flag.
  if (ran.code !== 0 && flags.length) ran = await guestAgent.exec(workload, command)
  if (ran.code !== 0 && !/exists|Cannot assign|not found/i.test(ran.output))
    throw new Error(`ip address ${what} ended with ${ran.code}`)
}
