// Looks how a vm is reached from its node: the checks of a server that was imported.
import { say } from '../../controller-link/job-log.ts'
import { Failure, wordsOf } from '../../failure.ts'
import type { Handlers, Host } from '../../host/host.ts'
import type { hypervisorCommands } from '../../protocol/commands/hypervisor.ts'

const WINDOWS = 'mswindows'
const MOST_INSIDE = 100

export const reachGuest = {
  async 'reach.look'({ workload, tap, mac, addresses, ports }, host) {
    const power = await host.hypervisor.power(workload)
    const none = addresses.map((address) => ({ address, pinged: false, answering: false, ports: [] }))
    // Another machine may have its address while it is off.
    if (power !== 'running') return { power, addresses: none, inside: null, os: null }
    const [pinged, answering, open, said] = await Promise.all([
      host.network.pinged(addresses),
      answeringAtTap(host, { tap, mac }, addresses),
      Promise.all(addresses.map((address) => openPorts(host, address, ports))),
      wordsOfAgent(host, workload, mac),
    ])
    return {
      power,
      addresses: addresses.map((address, n) => ({
        address,
        pinged: pinged.includes(address),
        answering: answering.includes(address),
        ports: open[n]!,
      })),
      ...said,
    }
  },
} satisfies Partial<Handlers<typeof hypervisorCommands>>

async function openPorts({ network }: Host, address: string, ports: readonly number[]): Promise<number[]> {
  const open = await Promise.all(ports.map((port) => network.accepts(address, port)))
  return ports.filter((_, n) => open[n])
}

/** None where the host cannot ask: what the ping says still counts. */
async function answeringAtTap({ network }: Host, vm: { tap: string; mac: string }, addresses: readonly string[]) {
  try {
    return await network.answering(vm, addresses)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    say('warning', `The host cannot ask the guest for its addresses: ${wordsOf(error)}`)
    return []
  }
}

async function wordsOfAgent({ guestAgent }: Host, workload: string, mac: string) {
  const silent = { inside: null, os: null }
  if (!(await guestAgent.ping(workload))) return silent
  try {
    const { osId } = await guestAgent.info(workload)
    const card = (await guestAgent.interfaces(workload)).find((one) => one.mac.toLowerCase() === mac.toLowerCase())
    const inside = card?.addresses.map((cidr) => cidr.split('/')[0]!).slice(0, MOST_INSIDE) ?? []
    return { inside, os: osId === WINDOWS ? ('windows' as const) : ('linux' as const) }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return silent
  }
}
