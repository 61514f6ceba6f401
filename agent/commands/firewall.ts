import { say } from '../controller-link/job-log.ts'
import { wordsOf } from '../failure.ts'
import type { Handlers } from '../host/host.ts'
import type { Routing } from '../host/network/routing.ts'
import { announceAddresses } from '../host/start-vm.ts'
import { log } from '../log.ts'
import type { firewallCommands } from '../protocol/commands/firewall.ts'
import { guestAddressIn } from '../protocol/guest-address.ts'
import type { PortRules } from '../protocol/wire.ts'

export const firewall = {
  async 'firewall.allow'(rules, host) {
    const before = host.state.portRulesOf(rules.workload)
    await host.portSecurity.allow(rules)
    await routeOrWarn(host.routing)
    // Another vm may have had the address a moment ago, and neighbours send to its card until they are told.
    if (before) await announceAddresses(host, rules.workload, newIn(before, rules))
    return {}
  },
  async 'firewall.float'({ workload, addresses, on }, host) {
    await host.portSecurity.float(workload, addresses, on)
    if (on) await announceAddresses(host, workload, addresses)
    return {}
  },
  async 'firewall.set-policy'({ workload, policy }, { portSecurity }) {
    await portSecurity.setPolicy(workload, policy)
    return {}
  },
  'firewall.look': ({ workload }, { portSecurity }) => portSecurity.look(workload),
  async 'firewall.forget'({ workload }, { portSecurity, metering, routing }) {
    // Traffic that cannot be counted any more keeps no vm from going.
    await metering
      .forget(workload)
      .catch((error) => log('warning', 'the last traffic of a vm is not counted', { workload, error: wordsOf(error) }))
    await portSecurity.forget(workload)
    await routeOrWarn(routing)
    return {}
  },
} satisfies Handlers<typeof firewallCommands>

/** The addresses that a guest has by these rules and did not have by those before; of a prefix its own one. */
function newIn(before: PortRules, rules: PortRules): string[] {
  const ofGuest = ({ ipv4, ipv6 }: PortRules) => [...ipv4, ...ipv6.map((cidr) => guestAddressIn(cidr.split('/')[0]!))]
  const had = new Set(ofGuest(before))
  return ofGuest(rules).filter((address) => !had.has(address))
}

/** The first address of a prefix works without its route, and the routes are looked at again within a minute. */
async function routeOrWarn(routing: Routing) {
  try {
    await routing.ensure()
  } catch (error) {
    say('warning', `Its IPv6 prefix could not be routed yet: ${wordsOf(error)}`)
  }
}
