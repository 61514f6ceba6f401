import { expect, test } from 'bun:test'
import type { Firewall } from '../../agent/drivers/firewall/firewall.ts'
import { portRulesOf } from '../agent/examples.ts'

/** The tests that every firewall passes. `spoil` changes the rules as another program would. */
export function firewallContract(make: () => { firewall: Firewall; spoil: () => Promise<void> }) {
  test('rules are not in force before they are loaded', async () => {
    expect(await make().firewall.intact()).toBe(false)
  })
  test('rules are in force after they are loaded, and after they are loaded again', async () => {
    const { firewall } = make()
    await firewall.load([portRulesOf(1)])
    await firewall.load([portRulesOf(1), portRulesOf(2)])
    expect(await firewall.intact()).toBe(true)
  })
  test('an empty set of rules is in force too', async () => {
    const { firewall } = make()
    await firewall.load([])
    expect(await firewall.intact()).toBe(true)
  })
  test('a change by another program is detected, and loading repairs it', async () => {
    const { firewall, spoil } = make()
    await firewall.load([portRulesOf(1)])
    await spoil()
    expect(await firewall.intact()).toBe(false)
    await firewall.load([portRulesOf(1)])
    expect(await firewall.intact()).toBe(true)
  })
}
