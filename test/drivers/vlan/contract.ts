// The promises of `Vlans.apply`, for every driver: which bridges there are after it.
import { expect, test } from 'bun:test'
import type { Vlans } from '../../../agent/drivers/vlan/vlans.ts'

export const UPLINK = 'up0'
type Rig = {
  driver: Vlans
  /** The VLAN bridges that exist. */
  bridges(): Promise<string[]>
  /** A vm is on the bridge of this VLAN, or is not any more. */
  occupy(vlan: number, on: boolean): Promise<void>
}

/** `vlans`: three that the uplink can have; a kernel without VLANs can have one alone. */
export function vlansContract(make: () => Rig, vlans: readonly [number, ...number[]]) {
  const names = (of: readonly number[]) => of.map((vlan) => `bvb${vlan}`).toSorted()
  test('makes a bridge for each VLAN, and removes those of others', async () => {
    const { driver, bridges } = make()
    expect(await driver.apply(UPLINK, vlans)).toEqual(new Map())
    expect((await bridges()).toSorted()).toEqual(names(vlans))
    expect(await driver.apply(UPLINK, vlans)).toEqual(new Map())
    expect((await bridges()).toSorted()).toEqual(names(vlans))
    await driver.apply(UPLINK, vlans.slice(1))
    expect((await bridges()).toSorted()).toEqual(names(vlans.slice(1)))
    await driver.apply(UPLINK, [])
    expect(await bridges()).toEqual([])
  })

  test('a bridge with a vm on it stays until the vm is gone, also without an uplink', async () => {
    const { driver, bridges, occupy } = make()
    const [vlan] = vlans
    await driver.apply(UPLINK, [vlan])
    await occupy(vlan, true)
    await driver.apply(undefined, [])
    expect(await bridges()).toEqual(names([vlan]))
    await driver.apply(undefined, [vlan])
    expect(await bridges()).toEqual(names([vlan]))
    await occupy(vlan, false)
    await driver.apply(undefined, [])
    expect(await bridges()).toEqual([])
  })
}
