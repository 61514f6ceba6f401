// Snapshots on a node: commands on the fake host, whose disks have a text as their content.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { parseCommand } from '../../../agent/commands/index.ts'
import type { FakeGuestAgent } from '../../../agent/drivers/guest-agent/fake.ts'
import { whileFrozen } from '../../../agent/drivers/guest-agent/freezing.ts'
import type { FakeHypervisor } from '../../../agent/drivers/hypervisor/fake.ts'
import { FakeLayers } from '../../../agent/drivers/storage/fake-layers.ts'
import { atLayer } from '../../../agent/drivers/storage/storage.ts'
import { openFakeHost } from '../../../agent/host/fake-host.ts'
import { Supervision } from '../../../agent/host/supervision.ts'
import type { CommandName, Input, Output } from '../../../agent/protocol/wire.ts'
import { imageSource, portRulesOf, seedOf, vmOf, volumeOf } from '../examples.ts'
import { dataDir } from '../run.ts'

const GiB = 1024 ** 3
const { workload } = vmOf(1)
const vmAt = (layer: number) => vmOf(1, { volume: atLayer(volumeOf(1), layer), seeded: false })

/** A running vm whose disk has the content `a`. */
async function rig() {
  const dir = dataDir()
  const host = openFakeHost(dir, { bootMs: 0, imageBytes: GiB })
  const obey = async <N extends CommandName>(name: N, input: Input<N>) =>
    (await parseCommand(name, input).work(host)) as Output<N>
  await obey('image.ensure', imageSource)
  await obey('volume.create', { volume: volumeOf(1), image: imageSource.id, sizeBytes: 2 * GiB })
  await obey('seed.write', seedOf(1))
  await obey('firewall.allow', portRulesOf(1))
  await obey('vm.define', vmOf(1))
  await obey('vm.start', { workload })
  const layers = new FakeLayers(new Database(`${dir}/fake.db`))
  const pool = host.storage.pool('local')
  const paths = await Promise.all([...Array(5).keys()].map((layer) => pool.disk(atLayer(volumeOf(1), layer))))
  const pathOf = (layer: number) => paths[layer]!.path
  const write = (layer: number, content: string) => layers.write(pathOf(layer), content)
  const read = (layer: number) => layers.read(pathOf(layer))
  write(0, 'a')
  return { host, obey, guest: host.guestAgent as FakeGuestAgent, pathOf, write, read }
}

for (const power of ['running', 'stopped'] as const)
  test(`a snapshot of a ${power} vm is taken, restored and merged away, each twice with the same end`, async () => {
    const { host, obey, pathOf, write, read } = await rig()
    if (power === 'stopped') await obey('vm.stop', { workload, graceSeconds: 5 })
    const taken = await obey('volume.snapshot', { vm: vmAt(1), from: 0 })
    expect(taken).toEqual({ consistent: true, usedBytes: 2 * GiB })
    await obey('volume.snapshot', { vm: vmAt(1), from: 0 })
    write(1, 'b')
    expect([read(0), read(1)]).toEqual(['a', 'b'])
    expect(await host.hypervisor.layers(workload)).toEqual(power === 'running' ? [pathOf(1), pathOf(0)] : [])

    // A layer that is in use stays, and so does one under another.
    if (power === 'running')
      expect(obey('volume.remove-layer', { volume: volumeOf(1), layer: 1 })).rejects.toMatchObject({
        code: 'layer_in_use',
      })
    await obey('volume.snapshot', { vm: vmAt(2), from: 1 })
    expect(obey('volume.remove-layer', { volume: volumeOf(1), layer: 1 })).rejects.toMatchObject({
      code: 'layer_in_use',
    })
    // The middle layer goes into the first, and the vm keeps the newest.
    write(2, 'c')
    for (const _ of [1, 2]) await obey('volume.merge', { vm: vmAt(2), from: 1, into: 0 })
    expect([read(0), read(1), read(2)]).toEqual(['b', undefined, 'c'])
    // The way back to the snapshot, beside what was written since.
    await obey('vm.stop', { workload, graceSeconds: 0 })
    for (const _ of [1, 2]) await obey('volume.fork', { volume: atLayer(volumeOf(1), 3), from: 0, sizeBytes: 3 * GiB })
    await obey('vm.define', vmAt(3))
    for (const _ of [1, 2]) await obey('volume.remove-layer', { volume: volumeOf(1), layer: 2 })
    if (power === 'running') await obey('vm.start', { workload })
    expect(read(3)).toBe('b')
    expect(await obey('volume.look', atLayer(volumeOf(1), 3))).toEqual({ sizeBytes: 3 * GiB })
    for (const _ of [1, 2]) await obey('volume.merge', { vm: vmAt(0), from: 3, into: 0 })
    expect([read(0), (await host.storage.list()).length]).toEqual(['b', 1])
    expect(await obey('volume.look', volumeOf(1))).toEqual({ sizeBytes: 3 * GiB })
    await obey('vm.stop', { workload, graceSeconds: 0 })
    await obey('vm.start', { workload })
    expect(await obey('vm.look', { workload })).toEqual({ power: 'running' })
  })

test('a snapshot that is taken back leaves the disk as it was, also where nothing had begun', async () => {
  const { host, obey, pathOf, write, read } = await rig()
  await obey('volume.merge', { vm: vmAt(0), from: 1, into: 0 })
  await obey('volume.snapshot', { vm: vmAt(1), from: 0 })
  write(1, 'b')
  await obey('volume.merge', { vm: vmAt(0), from: 1, into: 0 })
  expect([read(0), await host.hypervisor.layers(workload)]).toEqual(['b', [pathOf(0)]])
})

test('a disk that is not there has no snapshot', async () => {
  const { obey } = await rig()
  expect(obey('volume.snapshot', { vm: vmAt(5), from: 4 })).rejects.toMatchObject({ code: 'no_volume' })
  expect(obey('volume.fork', { volume: atLayer(volumeOf(1), 5), from: 4, sizeBytes: 1 })).rejects.toMatchObject({
    code: 'no_volume',
  })
})

test('a snapshot of a guest whose agent is silent, frozen or broken is taken and not consistent', async () => {
  for (const mode of ['silent', 'broken', 'frozen'] as const) {
    const { host, obey, guest } = await rig()
    guest.behave(workload, mode)
    expect(await obey('volume.snapshot', { vm: vmAt(1), from: 0 })).toMatchObject({ consistent: false })
    expect(await host.hypervisor.layers(workload)).toHaveLength(2)
  }
})

test('a vm that crashed has a snapshot that is not consistent', async () => {
  const { host, obey } = await rig()
  ;(host.hypervisor as FakeHypervisor).end(workload, 'crashed')
  expect(await obey('volume.snapshot', { vm: vmAt(1), from: 0 })).toMatchObject({ consistent: false })
})

test('a vm that was switched off has a snapshot that is not consistent; one whose guest shut down has', async () => {
  const { host, obey } = await rig()
  await obey('vm.stop', { workload, graceSeconds: 0 })
  expect(await obey('volume.snapshot', { vm: vmAt(1), from: 0 })).toMatchObject({ consistent: false })
  await host.hypervisor.start(workload)
  await obey('vm.stop', { workload, graceSeconds: 5 })
  expect(await obey('volume.snapshot', { vm: vmAt(2), from: 1 })).toMatchObject({ consistent: true })
})

test('a guest writes again after work that fails, and where thawing fails the supervision thaws it later', async () => {
  const { host, guest } = await rig()
  const writes = async () => (await guest.thaw(workload)) === 0
  const failing = async () => {
    throw new Error('no overlay')
  }
  expect(whileFrozen(host, workload, failing)).rejects.toThrow('no overlay')
  await whileFrozen(host, workload, failing).catch(() => {})
  expect([await writes(), host.state.frozen()]).toEqual([true, []])
  // Its agent hangs while it is frozen, and answers after a while.
  expect(await whileFrozen(host, workload, async () => guest.behave(workload, 'silent'))).toBe(false)
  expect(host.state.frozen()).toEqual([workload])
  const supervision = new Supervision(host, (_, work) => work())
  await supervision.check()
  expect(host.state.frozen()).toEqual([workload])
  guest.behave(workload, 'frozen')
  await supervision.check()
  expect([await writes(), host.state.frozen()]).toEqual([true, []])
})
