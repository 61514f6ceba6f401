// The private networks of this node, kept for the next boot: their devices, and the network cards of the vms on them.
import type { GuestAgent } from '../drivers/guest-agent/guest-agent.ts'
import type { Hypervisor, Nic } from '../drivers/hypervisor/hypervisor.ts'
import { bridgeOf, mtuOf, type PrivateNetworks } from '../drivers/private-network/private-network.ts'
import { wordsOf } from '../failure.ts'
import { log } from '../log.ts'
import type { PrivateNetwork } from '../protocol/wire.ts'
import { serialQueue } from '../serial-queue.ts'
import { sleep } from '../sleep.ts'
import type { State } from '../state.ts'

/** A guest that starts, or restarts by itself, is given its addresses after this long at most. */
const EVERY_MS = 20_000
const DEVICE = /^[A-Za-z0-9_.:-]{1,15}$/

export class PrivateNetworking {
  private readonly inTurn = serialQueue()

  constructor(
    private driver: PrivateNetworks,
    private state: State,
    /** Absent in a test of the devices alone. */
    private vms?: { hypervisor: Hypervisor; guestAgent: GuestAgent },
  ) {}

  /** Sets or replaces a network. Returns the vms that get or lose their card at their next start only. */
  set(network: PrivateNetwork): Promise<string[]> {
    return this.inTurn(async () => {
      const before = this.state.privateNetworks().find(({ network: id }) => id === network.network)
      this.state.keepPrivateNetwork(network)
      await this.driver.apply(this.state.privateNetworks())
      const workloads = new Set([...(before?.ports ?? []), ...network.ports].map(({ workload }) => workload))
      return this.plug([...workloads])
    })
  }

  /** Removes a network and the cards of its vms; without it nothing happens. */
  remove(id: string): Promise<void> {
    return this.inTurn(async () => {
      const before = this.state.privateNetworks().find(({ network }) => network === id)
      this.state.forgetPrivateNetwork(id)
      if (before) await this.plug(before.ports.map(({ workload }) => workload))
      await this.driver.apply(this.state.privateNetworks())
    })
  }

  /** Makes the devices exist, after a boot of the host or when another program removed them. */
  ensure(): Promise<void> {
    return this.inTurn(async () => {
      const networks = this.state.privateNetworks()
      if (networks.length) await this.driver.apply(networks)
    })
  }

  /** The cards that a vm has beside its public one. */
  nicsOf = (workload: string): Nic[] => nicsIn(this.state.privateNetworks(), workload)

  /** Keeps devices and guests as they should be until `signal` aborts. */
  async stay(signal: AbortSignal) {
    while (!signal.aborted) {
      await sleep(EVERY_MS, signal)
      if (signal.aborted) return
      await this.ensure().catch((error) =>
        log('error', 'the private networks cannot be set up; trying again', { error: wordsOf(error) }),
      )
      await this.configureGuests()
    }
  }

  /** Gives running guests with a guest agent their private addresses, until their next boot. */
  async configureGuests() {
    // Without a guest agent it has them from its seed.
    for (const { ports, local } of this.state.privateNetworks())
      for (const port of ports) await this.configure(port, mtuOf(local)).catch(() => {})
  }

  /** The guest controls its answers: names are checked, and its rules on the node decide what it may use. */
  private async configure({ workload, mac, addresses }: PrivateNetwork['ports'][number], mtu: number) {
    const { hypervisor, guestAgent } = this.vms ?? {}
    if (!hypervisor || !guestAgent || (await hypervisor.power(workload)) !== 'running') return
    const card = (await guestAgent.interfaces(workload)).find((guestCard) => guestCard.mac.toLowerCase() === mac)
    if (!card || !DEVICE.test(card.name)) return
    const lacking = addresses.filter((cidr) => !card.addresses.includes(cidr))
    if (!lacking.length) return
    await guestAgent.exec(workload, ['ip', 'link', 'set', 'dev', card.name, 'mtu', `${mtu}`, 'up'])
    for (const cidr of lacking) await guestAgent.exec(workload, ['ip', 'address', 'add', cidr, 'dev', card.name])
  }

  private async plug(workloads: readonly string[]): Promise<string[]> {
    const waiting: string[] = []
    for (const workload of workloads) {
      const isPlugged = await this.vms?.hypervisor.setNics(workload, this.nicsOf(workload))
      if (isPlugged === false) waiting.push(workload)
    }
    void this.configureGuests()
    return waiting
  }
}

const nicsIn = (networks: readonly PrivateNetwork[], workload: string): Nic[] =>
  networks.flatMap(({ vni, local, ports }) =>
    ports
      .filter((port) => port.workload === workload)
      .map(({ tap, mac }) => ({ tap, mac, bridge: bridgeOf(vni), mtu: mtuOf(local) })),
  )
