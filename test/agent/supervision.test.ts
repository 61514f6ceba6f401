import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseCommand } from '../../agent/commands/index.ts'
import type { FakeHypervisor } from '../../agent/drivers/hypervisor/fake.ts'
import type { OffReason } from '../../agent/drivers/hypervisor/hypervisor.ts'
import { openFakeHost } from '../../agent/host/fake-host.ts'
import type { Host } from '../../agent/host/host.ts'
import { startVms } from '../../agent/host/startup.ts'
import { Supervision } from '../../agent/host/supervision.ts'
import type { CommandName, Crash, Input, RestartPolicy } from '../../agent/protocol/wire.ts'
import { imageSource, portRulesOf, seedOf, vmOf, volumeOf, workloadId } from './examples.ts'
import { dataDir } from './run.ts'

/** The start of the agent, as far as vms are concerned. */
const start = (host: Host, at?: () => number) => {
  const supervision = supervisionOf(host, at)
  return startVms(host, supervision, new AbortController().signal).then(() => supervision)
}
const supervisionOf = (host: Host, at?: () => number) => new Supervision(host, (_, work) => work(), at)

const hypervisorOf = (host: Host) => host.hypervisor as FakeHypervisor

const obey = <N extends CommandName>(host: Host, name: N, input: Input<N>) => parseCommand(name, input).work(host)

/** A fake host with one running vm. */
async function hostWithVm(dir = dataDir()) {
  const host = openFakeHost(dir)
  await start(host)
  await obey(host, 'image.ensure', imageSource)
  await obey(host, 'volume.create', { volume: volumeOf(1), image: imageSource.id, sizeBytes: 1e10 })
  await obey(host, 'seed.write', seedOf(1))
  await obey(host, 'firewall.allow', portRulesOf(1))
  await obey(host, 'vm.define', vmOf(1))
  await obey(host, 'vm.start', { workload: workloadId(1) })
  return { dir, host }
}

describe('after a boot of the host', () => {
  test('the vms that ran are started, with their rules in force', async () => {
    const { dir, host } = await hostWithVm()
    host.close()
    const booted = openFakeHost(dir, { bootId: 'second-boot' })
    expect(await booted.hypervisor.power(workloadId(1))).toBe('stopped')
    await start(booted)
    expect(await booted.hypervisor.power(workloadId(1))).toBe('running')
    expect(await booted.portSecurity.ensure()).toBe(false)
  })
  test('a vm that was stopped by a command stays off', async () => {
    const { dir, host } = await hostWithVm()
    await obey(host, 'vm.stop', { workload: workloadId(1), graceSeconds: 0 })
    host.close()
    const booted = openFakeHost(dir, { bootId: 'second-boot' })
    await start(booted)
    expect(await booted.hypervisor.power(workloadId(1))).toBe('stopped')
  })
  test('a vm that cannot start does not prevent the others from starting', async () => {
    const { dir, host } = await hostWithVm()
    await obey(host, 'volume.create', { volume: volumeOf(2), image: imageSource.id, sizeBytes: 1e10 })
    await obey(host, 'firewall.allow', portRulesOf(2))
    await obey(host, 'vm.define', vmOf(2, { seeded: false }))
    await obey(host, 'vm.start', { workload: workloadId(2) })
    await obey(host, 'volume.remove', volumeOf(1))
    host.close()
    const booted = openFakeHost(dir, { bootId: 'second-boot' })
    await start(booted)
    expect(await booted.hypervisor.power(workloadId(1))).toBe('stopped')
    expect(await booted.hypervisor.power(workloadId(2))).toBe('running')
  })
  test('a vm whose storage hangs is no crash: the others start, and it does when its storage answers', async () => {
    const dir = dataDir()
    writeFileSync(
      join(dir, 'fake.json'),
      JSON.stringify({ pools: [{ name: 'fast', totalBytes: 1e12 }], silentAfterMs: 1000 }),
    )
    const { host } = await hostWithVm(dir)
    const volume = { ...volumeOf(2), pool: 'fast' }
    await obey(host, 'volume.create', { volume, image: imageSource.id, sizeBytes: 1e10 })
    await obey(host, 'firewall.allow', portRulesOf(2))
    await obey(host, 'vm.define', vmOf(2, { seeded: false, volume }))
    await obey(host, 'vm.start', { workload: workloadId(2) })
    host.close()
    writeFileSync(join(dir, 'faults.json'), JSON.stringify([{ hangs: 'pool', pool: 'local' }]))
    const booted = openFakeHost(dir, { bootId: 'second-boot' })
    let now = Date.now()
    const supervision = await start(booted, () => now)
    const powers = () => Promise.all([1, 2].map((n) => booted.hypervisor.power(workloadId(n))))
    expect([await powers(), supervision.recent()]).toEqual([['stopped', 'running'], []])
    writeFileSync(join(dir, 'faults.json'), '[]')
    while (booted.storage.isHanging(booted.storage.pool('local'))) await Bun.sleep(20)
    now += 16_000
    await supervision.check()
    expect([await powers(), supervision.recent()]).toEqual([['running', 'running'], []])
  }, 60_000)
})

test('the vms that ran are started after a container restarts, in which the kernel keeps its boot id', async () => {
  const { dir, host } = await hostWithVm()
  await hypervisorOf(host).powerOff()
  host.close()
  const again = openFakeHost(dir)
  await start(again)
  expect(await again.hypervisor.power(workloadId(1))).toBe('running')
})

describe('a vm whose process was killed', () => {
  const MINUTE = 60_000
  /** A supervised host on a clock of its own, with one running vm. */
  async function supervised(policy: RestartPolicy = 'on_failure') {
    const { dir, host } = await hostWithVm()
    await obey(host, 'vm.define', vmOf(1, { restartPolicy: policy }))
    let now = 1_800_000_000_000
    const supervision = supervisionOf(host, () => now)
    const told: Crash[] = []
    supervision.onCrash = (crash) => told.push(crash)
    return {
      dir,
      host,
      supervision,
      told,
      end: (off: OffReason) => hypervisorOf(host).end(workloadId(1), off),
      /** Its power after a check, `ms` later. */
      async after(ms: number) {
        now += ms
        await supervision.check()
        return host.hypervisor.power(workloadId(1))
      },
    }
  }

  test('is started again at once, after 15 s and 60 s, and then stays off until a command starts it', async () => {
    const vm = await supervised()
    vm.end('crashed')
    expect(await vm.after(0)).toBe('running')
    vm.end('crashed')
    expect(await vm.after(MINUTE)).toBe('crashed')
    expect(await vm.after(14_000)).toBe('crashed')
    expect(await vm.after(1000)).toBe('running')
    vm.end('crashed')
    expect(await vm.after(MINUTE)).toBe('crashed')
    expect(await vm.after(MINUTE)).toBe('running')
    vm.end('crashed')
    expect(await vm.after(MINUTE)).toBe('crashed')
    expect(await vm.after(20 * MINUTE)).toBe('crashed')
    expect(vm.told.map(({ outcome }) => outcome)).toEqual(['restarts', 'restarts', 'restarts', 'left_off'])
    expect(vm.supervision.recent()).toEqual(vm.told)

    await obey(vm.host, 'vm.start', { workload: workloadId(1) })
    vm.end('crashed')
    expect(await vm.after(20 * MINUTE)).toBe('running')
  })
  test('counts anew after ten minutes', async () => {
    const vm = await supervised()
    for (let i = 0; i < 6; i++) {
      vm.end('crashed')
      expect(await vm.after(11 * MINUTE)).toBe('running')
    }
  })
  test('is waited for over a restart of the agent', async () => {
    const vm = await supervised()
    for (const _ of [1, 2]) {
      vm.end('crashed')
      await vm.after(1000)
    }
    expect(await vm.host.hypervisor.power(workloadId(1))).toBe('crashed')
    vm.host.close()
    const again = openFakeHost(vm.dir)
    const later = supervisionOf(again, () => 1_800_000_000_000 + MINUTE)
    await later.check()
    expect(await again.hypervisor.power(workloadId(1))).toBe('running')
    expect(later.recent()).toHaveLength(2)
  })
  test('stays off under the policy never, and is reported once', async () => {
    const vm = await supervised('never')
    vm.end('crashed')
    expect(await vm.after(0)).toBe('crashed')
    expect(await vm.after(MINUTE)).toBe('crashed')
    expect(vm.told).toMatchObject([{ workload: workloadId(1), outcome: 'left_off', cause: 'ended' }])
  })
  test('is not started behind a command that stopped it', async () => {
    const vm = await supervised()
    vm.end('crashed')
    await obey(vm.host, 'vm.stop', { workload: workloadId(1), graceSeconds: 0 })
    expect(await vm.after(MINUTE)).not.toBe('running')
    expect(vm.told).toEqual([])
  })
  test('whose guest shut it down stays off, also after the host boots; under always it starts again', async () => {
    const vm = await supervised()
    vm.end('shutdown')
    expect(await vm.after(0)).toBe('stopped')
    expect(await vm.after(3 * MINUTE)).toBe('stopped')
    await hypervisorOf(vm.host).powerOff()
    expect(await vm.after(MINUTE)).toBe('stopped')
    expect(vm.told).toEqual([])

    const always = await supervised('always')
    always.end('shutdown')
    expect(await always.after(0)).toBe('running')
    expect(always.told).toMatchObject([{ cause: 'shutdown', outcome: 'restarts' }])
  })
  test('that went down with its host comes back with it', async () => {
    const vm = await supervised()
    vm.end('shutdown')
    expect(await vm.after(30_000)).toBe('stopped')
    await hypervisorOf(vm.host).powerOff()
    expect(await vm.after(30_000)).toBe('running')
  })
})

test('a vm that its owner shut down stays off when only the agent restarts', async () => {
  const { dir, host } = await hostWithVm()
  await host.hypervisor.stop(workloadId(1), 0)
  host.close()
  const again = openFakeHost(dir)
  await start(again)
  expect(await again.hypervisor.power(workloadId(1))).toBe('stopped')
})
