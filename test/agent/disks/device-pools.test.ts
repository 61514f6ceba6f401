// Commands for disks in a pool whose storage takes the snapshots itself, under a vm that runs.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { parseCommand } from '../../../agent/commands/index.ts'
import type { FakeGuestAgent } from '../../../agent/drivers/guest-agent/fake.ts'
import { BlockPool } from '../../../agent/drivers/storage/block-pool.ts'
import { atLayer, Storage } from '../../../agent/drivers/storage/storage.ts'
import { openFakeHost } from '../../../agent/host/fake-host.ts'
import type { CommandName, Input, Output } from '../../../agent/protocol/wire.ts'
import { FakeBlocks } from '../../drivers/blocks/fake-blocks.ts'
import { imageSource, portRulesOf, seedOf, vmOf, volumeOf } from '../examples.ts'
import { dataDir } from '../run.ts'

const GiB = 1024 ** 3
const volume = volumeOf(1, 'raw')
const { workload } = volume
const vmAt = (layer: number) => vmOf(1, { volume: atLayer(volume, layer), seeded: false })

async function rig() {
  const dir = dataDir()
  const driver = new FakeBlocks('promote')
  const pool = new BlockPool('local', driver)
  const host = { ...openFakeHost(dir, { bootMs: 0, imageBytes: GiB }), storage: new Storage([pool]) }
  const obey = async <N extends CommandName>(name: N, input: Input<N>) =>
    (await parseCommand(name, input).work(host)) as Output<N>
  await obey('image.ensure', imageSource)
  await obey('volume.create', { volume, image: imageSource.id, sizeBytes: 2 * GiB })
  const device = (await pool.disk(volume)).path
  // The fake hypervisor starts a vm whose disk it finds there.
  new Database(`${dir}/fake.db`).run(
    `insert into volumes (path, workload, generation, pool, format, sizeBytes, image)
     values (?, '', 0, 'x', 'raw', 0, '')`,
    [device],
  )
  await obey('seed.write', seedOf(1))
  await obey('firewall.allow', portRulesOf(1))
  await obey('vm.define', vmOf(1, { volume }))
  await obey('vm.start', { workload })
  const at = async (layer: number) => driver.read((await pool.disk(atLayer(volume, layer))).path)
  return { host, obey, driver, pool, device, at, guest: host.guestAgent as FakeGuestAgent }
}

test('a snapshot of a running vm on a device is taken and merged away, and the vm keeps its device', async () => {
  const { host, obey, driver, device, at } = await rig()
  driver.write(device, 'a')
  expect(await obey('volume.snapshot', { vm: vmAt(1), from: 0 })).toEqual({ consistent: true, usedBytes: 2 * GiB })
  // The answer to a command that comes again is careful: a crash may have been between.
  expect(await obey('volume.snapshot', { vm: vmAt(1), from: 0 })).toMatchObject({ consistent: false })
  driver.write(device, 'b')
  expect([await at(0), await at(1), await host.hypervisor.layers(workload)]).toEqual(['a', 'b', [device]])
  await expect(obey('volume.remove-layer', { volume, layer: 1 })).rejects.toMatchObject({ code: 'layer_in_use' })
  for (const _ of [1, 2]) await obey('volume.merge', { vm: vmAt(0), from: 1, into: 0 })
  expect([await at(0), await driver.names(), await host.hypervisor.layers(workload)]).toEqual([
    'b',
    [expect.any(String)],
    [device],
  ])
})

test('a snapshot on a device whose guest does not freeze is not consistent', async () => {
  const { obey, guest } = await rig()
  guest.behave(workload, 'silent')
  expect(await obey('volume.snapshot', { vm: vmAt(1), from: 0 })).toMatchObject({ consistent: false })
})

test('a device grows under a running vm, which learns of it also from a call that comes again', async () => {
  const { host, obey, pool } = await rig()
  const told: number[] = []
  host.hypervisor.growDisk = async (_, __, sizeBytes) => void told.push(sizeBytes)
  for (const _ of [1, 2]) await obey('volume.grow', { volume, sizeBytes: 3 * GiB })
  await obey('volume.grow', { volume, sizeBytes: 2 * GiB })
  expect([told, await pool.sizeBytes(volume)]).toEqual([[3 * GiB, 3 * GiB, 3 * GiB], 3 * GiB])
})
