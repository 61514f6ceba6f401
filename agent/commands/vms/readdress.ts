import { say } from '../../controller-link/job-log.ts'
import { type Keeper, keepers, READDRESS } from '../../drivers/guest-agent/readdress/linux-script.ts'
import { readdressInWindows } from '../../drivers/guest-agent/readdress/windows-script.ts'
import { Failure, wordsOf } from '../../failure.ts'
import type { Handlers, Host } from '../../host/host.ts'
import { announceAddresses } from '../../host/start-vm.ts'
import type { guestAgentCommands } from '../../protocol/commands/guest-agent.ts'
import { printable } from '../../protocol/text.ts'
import type { GuestNetwork } from '../../protocol/values/guests.ts'

const SCRIPT_SECONDS = 60
/** Windows looks for duplicates before an address is in force. */
const SEEN_WITHIN_MS = 6000
const LOOK_EVERY_MS = 500
const WINDOWS = 'mswindows'

type Result = ReturnType<Handlers<typeof guestAgentCommands>['guest.readdress']>
export const readdress = {
  /** The guest is looked at again afterwards; its rules on the node decide what it may use. */
  async 'guest.readdress'(input, host): Result {
    const { workload } = input
    if ((await host.hypervisor.power(workload)) !== 'running') return { guest: 'off', os: null }
    const system = await host.guestAgent.info(workload).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error
      say('info', `The guest agent does not answer: ${wordsOf(error)}`)
      return undefined
    })
    if (!system) return { guest: 'silent', os: null }
    const os = system.osId === WINDOWS ? 'windows' : 'linux'
    try {
      if (await isDone(host, input)) return await applied(host, input, os)
      if (os === 'windows') await inWindows(host, input)
      else await inLinux(host, input)
      const until = performance.now() + SEEN_WITHIN_MS
      while (!(await isDone(host, input))) {
        if (performance.now() >= until) throw new Error('its card does not have the addresses that it was given')
        await Bun.sleep(LOOK_EVERY_MS)
      }
      return await applied(host, input, os)
    } catch (error) {
      say('warning', `The guest did not change its addresses: ${wordsOf(error)}`)
      return { guest: 'refused', os }
    }
  },
} satisfies Partial<Handlers<typeof guestAgentCommands>>

/** Neighbours may know an address of it as that of another vm, which had it before. */
async function applied(host: Host, { workload, addresses }: Input, os: 'windows' | 'linux') {
  await announceAddresses(
    host,
    workload,
    addresses.map((one) => one.split('/')[0]!),
  )
  return { guest: 'applied' as const, os }
}

const DEVICE = /^[A-Za-z0-9_.-]{1,15}$/
type Input = GuestNetwork & { workload: string }
async function cardOf({ guestAgent }: Host, { workload, mac }: Input) {
  const card = (await guestAgent.interfaces(workload)).find((one) => one.mac.toLowerCase() === mac)
  if (!card) throw new Error(`it has no interface with the MAC address ${mac}`)
  return card
}

/** Has its card all that it is to have, and nothing that it gives up? */
async function isDone(host: Host, input: Input): Promise<boolean> {
  const inside = (await cardOf(host, input)).addresses.map((one) => one.toLowerCase())
  const left = new Set(input.leave.map((one) => one.toLowerCase()))
  return (
    input.addresses.every((one) => inside.includes(one.toLowerCase())) &&
    !inside.some((one) => left.has(one.split('/')[0]!))
  )
}

const inWindows = (host: Host, input: Input) =>
  host.guestAgent.powershell(input.workload, readdressInWindows(input), { limitSeconds: SCRIPT_SECONDS })

async function inLinux(host: Host, input: Input): Promise<void> {
  const { name } = await cardOf(host, input)
  // A name that Linux would not give.
  if (!DEVICE.test(name)) throw new Error('its interface has no usable name')
  const gateways = input.gateways.map(({ version, via, isOnLink }) => `${version},${via},${isOnLink ? 1 : 0}`)
  const lists = [input.addresses, gateways, input.resolvers, input.leave].map((list) => list.join(' '))
  const ran = await host.guestAgent
    .exec(input.workload, ['sh', '-s', '--', name, input.mac, ...lists], {
      stdin: READDRESS,
      limitSeconds: SCRIPT_SECONDS,
    })
    .catch((error: unknown) => {
      // Red Hat's systems let their agent run no programs.
      if (error instanceof Failure && error.code === 'guest_frozen') {
        say('warning', 'Its guest agent may not run programs. Run these lines inside, as root, such as in the console:')
        for (const line of linesByHand(name, input)) say('warning', line)
      }
      throw error
    })
  const said = ran.output.trim().split('\n').at(-1) ?? ''
  const by = keepers.find((keeper) => said === `by=${keeper}`)
  if (ran.code !== 0 || !by) throw new Error(`its script ended with ${ran.code}: ${printable(said).slice(0, 200)}`)
  if (by === 'until_boot') say('warning', 'Nobody is known who keeps its addresses: it has them until its next boot.')
  else say('info', `${keeperNames[by]} keeps its addresses.`)
}
/** The lines for a person inside a system with NetworkManager. */
function linesByHand(device: string, { addresses, gateways, resolvers }: Input): string[] {
  const connection = `"$(nmcli -g GENERAL.CONNECTION device show ${device})"`
  const settings = ([4, 6] as const).flatMap((version) => {
    const of = (list: readonly string[]) => list.filter((one) => one.includes(':') === (version === 6)).join(',')
    const via = gateways.find((one) => one.version === version)?.via ?? ''
    const method = of(addresses) ? 'manual' : version === 4 ? 'disabled' : 'link-local'
    const set = { method, addresses: of(addresses), gateway: via, dns: of(resolvers) }
    return Object.entries(set).map(([name, value]) => `ipv${version}.${name} '${value}'`)
  })
  return [`nmcli connection modify ${connection} ${settings.join(' ')}`, `nmcli connection up ${connection}`]
}
const keeperNames: Record<Exclude<Keeper, 'until_boot'>, string> = {
  network_manager: 'NetworkManager',
  networkd: 'systemd-networkd',
  ifupdown: 'ifupdown',
  sysconfig: 'Its file in /etc/sysconfig',
}
