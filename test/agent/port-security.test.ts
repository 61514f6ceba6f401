import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { FakeFirewall } from '../../agent/drivers/firewall/fake.ts'
import { openFakeHost } from '../../agent/host/fake-host.ts'
import { PortSecurity } from '../../agent/host/port-security.ts'
import { watchFirewall } from '../../agent/host/startup.ts'
import type { PortRules } from '../../agent/protocol/wire.ts'
import { openState } from '../../agent/state.ts'
import { portRulesOf, workloadId } from './examples.ts'
import { dataDir } from './run.ts'

/** A kernel that refuses the rules of one vm. */
class Picky extends FakeFirewall {
  override async load(rules: readonly PortRules[]) {
    if (rules.some((it) => it.workload === workloadId(13))) throw new Error('the kernel does not take it')
    await super.load(rules)
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
  expect(await firewall.intact()).toBe(true)
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
