import type { Uplink } from '../../protocol/wire.ts'
import { type UplinkSettings, type Vlans, vlanBridgeOf } from './vlans.ts'

/** VLANs by name only. `state`: what a test says of the uplink, such as a bond with a port that is down. */
export class FakeVlans implements Vlans {
  /** The VLAN of each bridge, and its uplink. */
  readonly bridges = new Map<string, { vlan: number; uplink: string }>()
  /** Names of bridges on which a test has put something: they are not removed. */
  readonly used = new Set<string>()

  constructor(private state: () => Partial<Uplink> = () => ({})) {}

  async look({ name, vlans }: UplinkSettings): Promise<Uplink> {
    return { name, up: true, vlans: [...vlans], ...this.state() }
  }

  async apply(uplink: string | undefined, vlans: readonly number[]): Promise<ReadonlyMap<number, string>> {
    for (const [name, { vlan }] of this.bridges)
      if (!vlans.includes(vlan) && !this.used.has(name)) this.bridges.delete(name)
    if (uplink !== undefined) for (const vlan of vlans) this.bridges.set(vlanBridgeOf(vlan), { vlan, uplink })
    return new Map()
  }
}
