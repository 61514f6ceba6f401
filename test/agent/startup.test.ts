import { describe, expect, test } from 'bun:test'
import { parseCommand } from '../../agent/commands/index.ts'
import { openFakeHost } from '../../agent/host/fake-host.ts'
import type { Host } from '../../agent/host/host.ts'
import { startVms } from '../../agent/host/startup.ts'
import type { CommandName, Input } from '../../agent/protocol/wire.ts'
import { imageSource, portRulesOf, seedOf, vmOf, volumeOf, workloadId } from './examples.ts'
import { dataDir } from './run.ts'

const now = () => new AbortController().signal

const obey = <N extends CommandName>(host: Host, name: N, input: Input<N>) => parseCommand(name, input).work(host)

/** A fake host with one running vm. */
async function hostWithVm(dir = dataDir()) {
  const host = openFakeHost(dir)
  await startVms(host, now())
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
    await startVms(booted, now())
    expect(await booted.hypervisor.power(workloadId(1))).toBe('running')
    expect(await booted.portSecurity.ensure()).toBe(false)
  })
  test('a vm that was stopped by a command stays off', async () => {
    const { dir, host } = await hostWithVm()
    await obey(host, 'vm.stop', { workload: workloadId(1), graceSeconds: 0 })
    host.close()
    const booted = openFakeHost(dir, { bootId: 'second-boot' })
    await startVms(booted, now())
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
    await startVms(booted, now())
    expect(await booted.hypervisor.power(workloadId(1))).toBe('stopped')
    expect(await booted.hypervisor.power(workloadId(2))).toBe('running')
  })
})

test('a vm that its owner shut down stays off when only the agent restarts', async () => {
  const { dir, host } = await hostWithVm()
  await host.hypervisor.stop(workloadId(1), 0)
  host.close()
  const again = openFakeHost(dir)
  await startVms(again, now())
  expect(await again.hypervisor.power(workloadId(1))).toBe('stopped')
})
