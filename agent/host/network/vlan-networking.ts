// The VLANs that vms of this node are in. Each is noted before its bridge is made and forgotten when its last vm is
// gone, so that the bridges are there again after a boot, before vms start.
import { type UplinkSettings, type Vlans, vlanBridgeOf } from '../../drivers/vlan/vlans.ts'
import { Failure } from '../../failure.ts'
import { hasVlan, type Uplink, type Vm } from '../../protocol/wire.ts'
import { serialQueue } from '../../serial-queue.ts'
import type { State } from '../../state.ts'

export class VlanNetworking {
  private readonly inTurn = serialQueue()

  /** `settings`: as the operator says them now; undefined: no uplink was named, and no VLAN is carried. */
  constructor(
    private driver: Vlans,
    private state: State,
    private settings: () => UplinkSettings | undefined,
  ) {}

  /**
   * The bridge on which the card of a vm hangs: that of the node, or that of its VLAN, which is made where it is
   * missing. Throws `no_bridge`.
   */
  attach({ workload, network: { bridge, vlan } }: Pick<Vm, 'workload' | 'network'>): Promise<string> {
    return this.inTurn(async () => {
      if (vlan === undefined) {
        if (this.state.vlanOf(workload) !== undefined) await this.forget(workload)
        return bridge
      }
      const settings = this.settings()
      // A vm that is in it already stays, whatever the operator says of new ones.
      const isThere = this.state.vlanOf(workload) === vlan
      if (!settings || !(isThere || hasVlan(settings.vlans, vlan)))
        throw new Failure(
          'no_bridge',
          `this node does not carry VLAN ${vlan}; say so with: berth agent uplink --uplink NAME --vlans ${vlan}`,
        )
      this.state.keepVlan(workload, vlan)
      const problem = (await this.apply()).get(vlan)
      if (problem !== undefined) throw new Failure('no_bridge', problem)
      return vlanBridgeOf(vlan)
    })
  }

  /** The vm is not here any more; without it nothing happens. */
  release(workload: string): Promise<void> {
    return this.inTurn(async () => {
      if (this.state.vlanOf(workload) !== undefined) await this.forget(workload)
    })
  }

  /** Makes the bridges exist, and removes those that nothing uses. Throws where one cannot be made. */
  ensure(): Promise<void> {
    return this.inTurn(async () => {
      if (!this.state.vlans().length && this.settings() === undefined) return
      const problems = [...(await this.apply()).values()]
      if (problems.length) throw new Error(problems.join('; '))
    })
  }

  /** The uplink as the controller learns of it; undefined where none was named. */
  async uplink(): Promise<Uplink | undefined> {
    const settings = this.settings()
    return settings && (await this.driver.look(settings))
  }

  private async forget(workload: string) {
    this.state.forgetVlan(workload)
    await this.apply()
  }

  /** A VLAN that is not carried any more keeps its bridge while vms are on it. */
  private apply() {
    return this.driver.apply(this.settings()?.name, this.state.vlans())
  }
}
