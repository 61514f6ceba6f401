import { expect, test } from 'bun:test'
import type { Firewall } from '../../agent/drivers/firewall/firewall.ts'
import { portRulesOf } from '../agent/examples.ts'

/** What every firewall keeps. `spoil` is somebody else changing the rules. */
export function firewallContract(make: () => { firewall: Firewall; spoil: () => Promise<void> }) {
  test('rules that were never loaded are not in force', async () => {
    expect(await make().firewall.intact()).toBe(false)
  })
  test('loaded rules are in force, also when they are loaded again', async () => {
    const { firewall } = make()
    await firewall.load([portRulesOf(1)])
    await firewall.load([portRulesOf(1), portRulesOf(2)])
    expect(await firewall.intact()).toBe(true)
  })
  test('no guests at all is a state like any other', async () => {
    const { firewall } = make()
    await firewall.load([])
    expect(await firewall.intact()).toBe(true)
  })
  test('a change by somebody else is noticed, and loading puts it right', async () => {
    const { firewall, spoil } = make()
    await firewall.load([portRulesOf(1)])
    await spoil()
    expect(await firewall.intact()).toBe(false)
    await firewall.load([portRulesOf(1)])
    expect(await firewall.intact()).toBe(true)
  })
}
