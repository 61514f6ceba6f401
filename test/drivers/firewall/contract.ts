import { expect, test } from 'bun:test'
import type { Firewall } from '../../../agent/drivers/firewall/firewall.ts'
import type { PortPolicy } from '../../../agent/protocol/firewall.ts'
import { portRulesOf } from '../../agent/examples.ts'

/** A firewall that lets SSH in, and everything out. */
export const sshOnly: PortPolicy = {
  revision: 1,
  closedPorts: [25],
  newConnectionsPerSecond: 500,
  packetsPerSecond: 100_000,
  firewall: {
    in: 'drop',
    out: 'accept',
    rules: [{ id: 'ssh', direction: 'in', action: 'accept', protocol: 'tcp', ports: [[22, 22]], remotes: [] }],
  },
}

/** The tests that every firewall passes. `spoil` changes the rules as another program would. */
export function firewallContract(make: () => { firewall: Firewall; spoil: () => Promise<void> }) {
  const [one, two] = [portRulesOf(1), portRulesOf(2)]
  test('rules are not in force before they are loaded', async () => {
    expect(await make().firewall.intact([])).toBe(false)
  })
  test('rules are in force after they are loaded, and after they are loaded again', async () => {
    const { firewall } = make()
    await firewall.load([one])
    await firewall.load([one, two])
    expect(await firewall.intact([one, two])).toBe(true)
    expect(await firewall.intact([one])).toBe(false)
  })
  test('an empty set of rules is in force too', async () => {
    const { firewall } = make()
    await firewall.load([])
    expect(await firewall.intact([])).toBe(true)
  })
  test('a change by another program is detected, and loading repairs it', async () => {
    const { firewall, spoil } = make()
    await firewall.load([one])
    await spoil()
    expect(await firewall.intact([one])).toBe(false)
    expect(await firewall.holds(one)).toBe(false)
    await firewall.load([one])
    expect(await firewall.intact([one])).toBe(true)
  })
  test('the rules of one vm come, change, get a firewall, lose it and go, and those of the others stay', async () => {
    const { firewall } = make()
    await firewall.load([two])
    const filtered = { ...one, policy: sshOnly }
    const moved = { ...filtered, ipv4: ['10.77.0.99'], ipv6: [] }
    const states = [one, filtered, moved, { ...moved, policy: { ...sshOnly, firewall: null } }, one]
    let before: (typeof states)[number] | undefined
    for (const next of states) {
      await firewall.change(before, next)
      expect(await firewall.intact([next, two])).toBe(true)
      expect(await firewall.holds(next)).toBe(true)
      before = next
    }
    await firewall.change(before, undefined)
    expect(await firewall.intact([two])).toBe(true)
    expect(await firewall.holds(one)).toBe(false)
  })
  test('a firewall reports a counter for each of its rules', async () => {
    const { firewall } = make()
    const filtered = { ...one, policy: sshOnly }
    await firewall.load([filtered])
    const { rules, drops } = await firewall.look(filtered)
    expect(rules).toContainEqual({ id: 'ssh', packets: 0, bytes: 0 })
    expect(drops).toEqual([])
    await expect(firewall.look({ ...two, policy: sshOnly })).rejects.toMatchObject({ code: 'firewall_failed' })
  })
}
