import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { FakeFirewall } from '../../agent/drivers/firewall/fake.ts'
import { openFakeHost } from '../../agent/host/fake-host.ts'
import type { Host } from '../../agent/host/host.ts'
import { PortSecurity } from '../../agent/host/port-security.ts'
import { watchFirewall } from '../../agent/host/startup.ts'
import type { PortPolicy } from '../../agent/protocol/firewall.ts'
import type { PortRules } from '../../agent/protocol/wire.ts'
import { openState } from '../../agent/state.ts'
import { portRulesOf, workloadId } from './examples.ts'
import { dataDir } from './run.ts'

/** A kernel that refuses the rules of one vm. */
class Picky extends FakeFirewall {
  override async load(rules: readonly PortRules[]) {
    if (rules.some(({ workload }) => workload === workloadId(13))) throw new Error('the kernel does not take it')
    await super.load(rules)
  }
  override async change(old: PortRules | undefined, next: PortRules | undefined) {
    if (next?.workload === workloadId(13)) throw new Error('the kernel does not take it')
    await super.change(old, next)
  }
}

function rig() {
  const state = openState(':memory:')
  const firewall = new Picky(new Database(':memory:'))
  return { state, firewall, portSecurity: new PortSecurity(firewall, state) }
}

test('rules that the kernel refuses are not stored, and those of other vms stay', async () => {
  const { portSecurity, state } = rig()
  await portSecurity.allow(portRulesOf(1))
  expect(portSecurity.allow(portRulesOf(13))).rejects.toThrow('does not take it')
  await portSecurity.allow(portRulesOf(2))
  expect(state.portRules()).toEqual([portRulesOf(1), portRulesOf(2)])
  expect(await portSecurity.ensure()).toBe(false)
})
test('rules set at the same time are all kept', async () => {
  const { portSecurity, firewall, state } = rig()
  await Promise.all([1, 2, 3].map((n) => portSecurity.allow(portRulesOf(n))))
  await portSecurity.forget(workloadId(2))
  expect(state.portRules()).toEqual([portRulesOf(1), portRulesOf(3)])
  expect(await firewall.intact([portRulesOf(1), portRulesOf(3)])).toBe(true)
})
const policyOf = (revision: number): PortPolicy => ({
  revision,
  closedPorts: [25],
  newConnectionsPerSecond: 500,
  packetsPerSecond: null,
  firewall: { in: 'drop', out: 'accept', rules: [] },
})
test('a policy stays with the vm, and an older one that comes late changes nothing', async () => {
  const { portSecurity, firewall, state } = rig()
  const revision = () => state.portRules()[0]?.policy?.revision
  // Changed while it is installed: before its rules, which come with the policy of an earlier plan.
  await portSecurity.setPolicy(workloadId(1), policyOf(2))
  await portSecurity.setPolicy(workloadId(1), policyOf(1))
  expect([state.portRules(), firewall.loadedRules()]).toEqual([[], []])
  await portSecurity.allow({ ...portRulesOf(1), policy: policyOf(0) })
  expect([revision(), state.earlyPolicy(workloadId(1))]).toEqual([2, undefined])
  await portSecurity.setPolicy(workloadId(1), policyOf(3))
  await portSecurity.setPolicy(workloadId(1), policyOf(1))
  expect(revision()).toBe(3)
  // New addresses do not open the firewall, also when they come with the policy of a plan made before.
  await portSecurity.allow({ ...portRulesOf(1), ipv4: ['10.77.0.99'] })
  await portSecurity.allow({ ...portRulesOf(1), policy: policyOf(2) })
  expect(revision()).toBe(3)
  expect(firewall.loadedRules()).toEqual(state.portRules())
  await portSecurity.forget(workloadId(1))
  expect([state.portRules(), firewall.loadedRules()]).toEqual([[], []])
  // Nothing of an installation that was undone is left for the next one.
  await portSecurity.setPolicy(workloadId(1), policyOf(9))
  await portSecurity.forget(workloadId(1))
  await portSecurity.allow({ ...portRulesOf(1), policy: policyOf(4) })
  expect(revision()).toBe(4)
})
test('one vm’s rules are not loaded again before it starts unless they are gone', async () => {
  const { portSecurity, firewall } = rig()
  for (const n of [1, 2]) await portSecurity.allow(portRulesOf(n))
  expect(await portSecurity.ensureFor(workloadId(1))).toBe(false)
  await firewall.change(portRulesOf(1), undefined)
  expect(await portSecurity.ensureFor(workloadId(1))).toBe(true)
  expect(await firewall.holds(portRulesOf(1))).toBe(true)
})
test('rules that another program flushed are loaded again', async () => {
  const dir = dataDir()
  const host = openFakeHost(dir)
  await host.portSecurity.allow(portRulesOf(1))
  new Database(join(dir, 'fake.db')).run('delete from rules')
  const stop = new AbortController()
  const watching = watchFirewall(host, stop.signal, 10)
  await Bun.sleep(100)
  stop.abort()
  await watching
  expect(await host.portSecurity.ensure()).toBe(false)
})

test.each([
  ['were changed', async () => true],
  ['cannot be checked', () => Promise.reject(new Error('the kernel does not answer'))],
])('the rules of instances are checked also where those of vms %s', async (_, ensure) => {
  const checked: string[] = []
  const stop = new AbortController()
  const host = {
    routing: { ensure: async () => {} },
    vlans: { ensure: async () => {} },
    portSecurity: {
      ensure() {
        checked.push('vms')
        return ensure()
      },
    },
    access: {
      async ensure() {
        checked.push('instances')
        stop.abort()
        return false
      },
    },
  } as unknown as Host
  await watchFirewall(host, stop.signal, 1)
  expect(checked).toEqual(['vms', 'instances'])
})

test('a floating address is allowed to one vm of the node at a time, until it is taken away', async () => {
  const { portSecurity, firewall, state } = rig()
  const [a, b] = [workloadId(1), workloadId(2)]
  for (const n of [1, 2]) await portSecurity.allow(portRulesOf(n))
  await portSecurity.float(a, ['198.51.100.7', '2001:db8:f::7'], true)
  const allowed = (workload: string) => {
    const { ipv4, ipv6 } = state.portRules().find((rules) => rules.workload === workload)!
    return [...ipv4, ...ipv6, ...state.floating(workload)]
  }
  expect(allowed(a)).toEqual(['10.77.0.11', '2001:db8:77:1::/64', '198.51.100.7', '2001:db8:f::7'])
  expect(firewall.loadedRules().find((rules) => rules.workload === a)).toMatchObject({
    ipv4: ['10.77.0.11', '198.51.100.7'],
    ipv6: ['2001:db8:77:1::/64', '2001:db8:f::7/128'],
  })
  await portSecurity.float(b, ['198.51.100.7'], true)
  expect([allowed(a).length, allowed(b).includes('198.51.100.7')]).toEqual([3, true])
  // Its rules come and go with reinstallations.
  await portSecurity.forget(b)
  await portSecurity.allow(portRulesOf(2))
  expect(allowed(b)).toContain('198.51.100.7')
  // The vm that lost it cannot take it from the one that has it now.
  await portSecurity.float(a, ['198.51.100.7'], false)
  expect(allowed(b)).toContain('198.51.100.7')
  await portSecurity.float(b, ['198.51.100.7'], false)
  expect(allowed(b)).not.toContain('198.51.100.7')
  expect(await portSecurity.ensure()).toBe(false)
  await expect(portSecurity.float(workloadId(9), ['198.51.100.7'], true)).rejects.toMatchObject({
    code: 'no_port_rules',
  })
})
