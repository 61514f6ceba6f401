// The restore drill on a node: a vm without network on a restored disk, and the proofs that its system works.
import { expect, test } from 'bun:test'
import { parseCommand } from '../../../agent/commands/index.ts'
import { domainXml } from '../../../agent/drivers/hypervisor/domain-xml.ts'
import { openFakeHost } from '../../../agent/host/fake-host.ts'
import type { CommandName, Input, Output } from '../../../agent/protocol/wire.ts'
import { imageSource, vmOf, volumeOf } from '../examples.ts'
import { dataDir } from '../run.ts'

const GiB = 1024 ** 3
const volume = { ...volumeOf(1), workload: `drl_${'1'.repeat(26)}` }
const { workload } = volume
const machine = { workload, vcpus: 1, memoryMb: 1024, volume, hardware: vmOf(1).hardware }

async function rig() {
  const host = openFakeHost(dataDir(), { bootMs: 0, imageBytes: GiB })
  const obey = async <N extends CommandName>(name: N, input: Input<N>) =>
    (await parseCommand(name, input).work(host)) as Output<N>
  await obey('image.ensure', imageSource)
  const create = () => obey('volume.create', { volume, image: imageSource.id, sizeBytes: 2 * GiB })
  const wait = () => obey('drill.await', { workload, limitSeconds: 1 })
  return { host, obey, create, wait }
}

test('a restored system is started twice with the same end, proves itself, and leaves nothing', async () => {
  const { host, obey, create, wait } = await rig()
  await expect(obey('drill.start', machine)).rejects.toMatchObject({ code: 'no_volume' })
  await create()
  for (const _ of [1, 2]) expect(await obey('drill.start', machine)).toEqual({})
  expect(host.state.wantedOne(workload)).toBeUndefined()
  expect(await wait()).toEqual({ proof: 'agent' })
  for (const _ of [1, 2]) {
    await obey('vm.remove', { workload })
    await obey('volume.remove', volume)
  }
  expect([(await host.hypervisor.look()).ours, await host.storage.list()]).toEqual([[], []])
})

test('without a guest agent its serial line proves it, and then what it reads', async () => {
  const { host, obey, create, wait } = await rig()
  await create()
  await obey('drill.start', machine)
  host.hypervisor.guestAnswers = async () => false
  let line = ''
  host.consoles.tail = async () => Buffer.from(line)
  let readBytes = 0
  host.hypervisor.usage = async () => [{ id: workload, readBytes, writtenBytes: 0, reads: 0, writes: 0 }]
  await expect(wait()).rejects.toMatchObject({ code: 'drill_no_answer' })
  readBytes = 64 << 20
  expect(await wait()).toEqual({ proof: 'disk' })
  for (line of ['Debian GNU/Linux 13 web1 ttyS0\r\n\r\nweb1 login: ', '[  OK  ] Reached target Multi-User System.\r\n'])
    expect(await wait()).toEqual({ proof: 'console' })
  line = 'Kernel panic - not syncing: VFS: Unable to mount root fs'
  await expect(wait()).rejects.toMatchObject({ code: 'drill_panic' })
  await obey('vm.stop', { workload, graceSeconds: 0 })
  await expect(wait()).rejects.toMatchObject({ code: 'drill_off' })
})

test('its definition has no network card', () => {
  const disk = { kind: 'file', path: '/disk.qcow2', format: 'qcow2' } as const
  for (const machine of ['q35', 'pc'] as const) {
    const vm = vmOf(1, { hardware: { machine, firmware: 'bios', tpm: false } })
    expect(domainXml(vm, disk, undefined, 'kvm')).toContain('<interface')
    expect(domainXml({ ...vm, network: null }, disk, undefined, 'kvm')).not.toMatch(/<interface|br0|bth1/)
  }
})
