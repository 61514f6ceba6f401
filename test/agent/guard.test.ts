import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { watchFirewall } from '../../agent/host/startup.ts'
import { FakeFirewall } from '../../agent/drivers/firewall/fake.ts'
import { openFakeHost } from '../../agent/host/fake-host.ts'
import { Guard } from '../../agent/host/port-security.ts'
import type { Allowance } from '../../agent/protocol/wire.ts'
import { openState } from '../../agent/state.ts'
import { dataDir } from './run.ts'
import { allowanceOf, serverId } from './words.ts'

/** A kernel that refuses the rules of one guest. */
class Picky extends FakeFirewall {
  override async load(allowances: readonly Allowance[]) {
    if (allowances.some((it) => it.server === serverId(13))) throw new Error('the kernel does not take it')
    await super.load(allowances)
  }
}

function guarded() {
  const state = openState(':memory:')
  const firewall = new Picky(new Database(':memory:'))
  return { state, firewall, guard: new Guard(firewall, state) }
}

test('rules the kernel refuses are not remembered, and those of other guests stay', async () => {
  const { guard, state } = guarded()
  await guard.allow(allowanceOf(1))
  expect(guard.allow(allowanceOf(13))).rejects.toThrow('does not take it')
  await guard.allow(allowanceOf(2))
  expect(state.allowances()).toEqual([allowanceOf(1), allowanceOf(2)])
  expect(await guard.ensure()).toBe(false)
})
test('guests allowed at the same moment all stay allowed', async () => {
  const { guard, firewall, state } = guarded()
  await Promise.all([1, 2, 3].map((n) => guard.allow(allowanceOf(n))))
  await guard.forget(serverId(2))
  expect(state.allowances()).toEqual([allowanceOf(1), allowanceOf(3)])
  expect(await firewall.intact()).toBe(true)
})
test('rules that somebody else flushed are loaded again', async () => {
  const dir = dataDir()
  const host = openFakeHost(dir)
  await host.guard.allow(allowanceOf(1))
  new Database(join(dir, 'fake.db')).run('delete from rules')
  const stop = new AbortController()
  const watching = watchFirewall(host, stop.signal, 10)
  await Bun.sleep(100)
  stop.abort()
  await watching
  expect(await host.guard.ensure()).toBe(false)
})
