import { expect, test } from 'bun:test'
import type { Hypervisor, PowerEvent } from '../../agent/drivers/hypervisor/hypervisor.ts'
import type { Disk } from '../../agent/drivers/storage/storage.ts'
import type { Vm } from '../../agent/protocol/wire.ts'

/** A hypervisor, and a vm that can be defined on it: its disk, its seed, a rescue disk and an ISO exist. */
export type Rig = {
  hypervisor: Hypervisor
  vm: Vm
  disk: Disk
  seedPath: string
  dropSeed(): void
  rescue: Disk
  isoPath: string
  dropIso(): void
}

/** The tests that every hypervisor passes. */
export function hypervisorContract(rig: () => Promise<Rig>) {
  const defined = async () => {
    const made = await rig()
    await made.hypervisor.define(made.vm, made.disk, made.seedPath)
    return { ...made, workload: made.vm.workload }
  }

  test('a vm that is not defined is absent, and removing it succeeds', async () => {
    const { hypervisor, vm } = await rig()
    expect(await hypervisor.power(vm.workload)).toBe('absent')
    await hypervisor.stop(vm.workload, 0)
    await hypervisor.eject(vm.workload)
    await hypervisor.remove(vm.workload)
    expect(hypervisor.start(vm.workload)).rejects.toMatchObject({ code: 'no_vm' })
  })
  test('defining, starting, stopping and removing twice is the same as once', async () => {
    const { hypervisor, vm, disk, seedPath, workload } = await defined()
    await hypervisor.define(vm, disk, seedPath)
    expect(await hypervisor.power(workload)).toBe('stopped')
    await hypervisor.start(workload)
    await hypervisor.start(workload)
    expect(await hypervisor.power(workload)).toBe('running')
    await hypervisor.stop(workload, 0)
    await hypervisor.stop(workload, 0)
    expect(await hypervisor.power(workload)).toBe('stopped')
    await hypervisor.remove(workload)
    await hypervisor.remove(workload)
    expect(await hypervisor.power(workload)).toBe('absent')
  })
  test('the use of disks and memory is told of vms that run', async () => {
    const { hypervisor, workload } = await defined()
    const used = async () => (await hypervisor.usage()).find(({ id }) => id === workload)
    expect(await used()).toBeUndefined()
    await hypervisor.start(workload)
    const { memoryUsedMb: _, ...first } = (await used())!
    expect(Object.keys(first).sort()).toEqual(['id', 'readBytes', 'reads', 'writes', 'writtenBytes'])
    await hypervisor.remove(workload)
    expect(await used()).toBeUndefined()
  })
  test('a card on a private network comes to a running vm, is there once, and goes with its definition', async () => {
    const { hypervisor, vm, workload } = await defined()
    const nic = { tap: `btp${process.pid}`, mac: '02:62:74:00:00:01', bridge: vm.network.bridge, mtu: 1450 }
    await hypervisor.start(workload)
    expect(await hypervisor.setNics(workload, [nic])).toBe(true)
    expect(await hypervisor.setNics(workload, [nic])).toBe(true)
    await hypervisor.stop(workload, 0)
    await hypervisor.start(workload)
    await hypervisor.stop(workload, 0)
    expect(await hypervisor.setNics(workload, [])).toBe(true)
    await hypervisor.remove(workload)
    expect(await hypervisor.setNics(workload, [nic])).toBe(true)
    expect(await hypervisor.power(workload)).toBe('absent')
  })
  test('an extra volume comes to a running vm, is there once, stays over a start, and goes', async () => {
    const { hypervisor, rescue, workload } = await defined()
    const volume = { disk: rescue, serial: `vol_${'7'.repeat(16)}` }
    const limits = { reads: 100, writes: null, readBytes: null, writtenBytes: 1 << 20 }
    await hypervisor.start(workload)
    for (const _ of [1, 2]) await hypervisor.attachVolume(workload, volume, limits)
    // Beside it a running vm still gets layers on its own disk.
    expect((await hypervisor.layers(workload)).length).toBe(1)
    await hypervisor.stop(workload, 0)
    await hypervisor.start(workload)
    await hypervisor.stop(workload, 0)
    for (const _ of [1, 2]) await hypervisor.detachVolume(workload, volume.serial)
    await hypervisor.attachVolume(
      workload,
      { ...volume, disk: { ...rescue, path: `${rescue.path}.missing` } },
      undefined,
    )
    expect(hypervisor.start(workload)).rejects.toMatchObject({ code: 'tool_failed' })
    await hypervisor.start(workload).catch(() => {})
    await hypervisor.detachVolume(workload, volume.serial)
    await hypervisor.start(workload)
    expect(await hypervisor.power(workload)).toBe('running')
    await hypervisor.remove(workload)
    await hypervisor.detachVolume(workload, volume.serial)
    await hypervisor.attachVolume(workload, volume, limits)
    expect(await hypervisor.power(workload)).toBe('absent')
  })
  test('the processor time of a running vm is limited and let go, and of one that is off it is refused', async () => {
    const { hypervisor, workload } = await defined()
    expect(hypervisor.limitCpu(workload, 50)).rejects.toMatchObject({ code: 'tool_failed' })
    await hypervisor.start(workload)
    await hypervisor.limitCpu(workload, 50)
    await hypervisor.limitCpu(workload, 50)
    await hypervisor.limitCpu(workload, null)
    expect(await hypervisor.power(workload)).toBe('running')
    await hypervisor.remove(workload)
  })
  test('the disks of a running vm are limited and let go, and of one that is off it is refused', async () => {
    const { hypervisor, workload } = await defined()
    const limits = { reads: 100, writes: null, readBytes: null, writtenBytes: 1 << 20 }
    expect(hypervisor.limitDisks(workload, limits)).rejects.toMatchObject({ code: 'tool_failed' })
    await hypervisor.start(workload)
    for (const given of [limits, limits, undefined]) await hypervisor.limitDisks(workload, given)
    expect(await hypervisor.power(workload)).toBe('running')
    await hypervisor.remove(workload)
  })
  test('a running vm runs on when its definition is replaced', async () => {
    const { hypervisor, vm, disk, seedPath, workload } = await defined()
    await hypervisor.start(workload)
    await hypervisor.define({ ...vm, memoryMb: vm.memoryMb * 2 }, disk, seedPath)
    expect(await hypervisor.power(workload)).toBe('running')
    await hypervisor.remove(workload)
  })
  test('a stopped vm starts from the disk of its last definition, also after a change back', async () => {
    const { hypervisor, vm, disk, workload } = await defined()
    await hypervisor.define(vm, { ...disk, path: `${disk.path}.missing` }, undefined)
    expect(hypervisor.start(workload)).rejects.toMatchObject({ code: 'tool_failed' })
    await hypervisor.start(workload).catch(() => {})
    expect(await hypervisor.power(workload)).not.toBe('running')
    await hypervisor.define(vm, disk, undefined)
    await hypervisor.start(workload)
    expect(await hypervisor.power(workload)).toBe('running')
    await hypervisor.remove(workload)
  })
  test('a running vm gets layers on its disk, writes them into those below, and starts from there', async () => {
    const { hypervisor, vm, disk, seedPath, workload } = await defined()
    await hypervisor.start(workload)
    expect(await hypervisor.layers(workload)).toEqual([disk.path])
    const [first, second] = ['1', '2'].map((n): Disk => ({ ...disk, path: disk.path.replace('qcow2', `${n}.qcow2`) }))
    await hypervisor.addLayer(workload, first!)
    await hypervisor.addLayer(workload, second!)
    expect(await hypervisor.layers(workload)).toEqual([second!.path, first!.path, disk.path])
    // The middle, then the top.
    await hypervisor.commitLayer(workload, first!.path, disk.path)
    expect(await hypervisor.layers(workload)).toEqual([second!.path, disk.path])
    expect(hypervisor.commitLayer(workload, first!.path, disk.path)).rejects.toMatchObject({ code: 'tool_failed' })
    await hypervisor.stop(workload, 0)
    await hypervisor.start(workload)
    expect(await hypervisor.layers(workload)).toEqual([second!.path, disk.path])
    await hypervisor.commitLayer(workload, second!.path, disk.path)
    expect(await hypervisor.layers(workload)).toEqual([disk.path])
    await hypervisor.define(vm, disk, seedPath)
    await hypervisor.stop(workload, 0)
    await hypervisor.start(workload)
    expect(await hypervisor.power(workload)).toBe('running')
    await hypervisor.remove(workload)
  })
  test('a vm whose seed was ejected while it ran starts without it', async () => {
    const { hypervisor, workload, dropSeed } = await defined()
    await hypervisor.start(workload)
    await hypervisor.eject(workload)
    await hypervisor.eject(workload)
    await hypervisor.stop(workload, 0)
    dropSeed()
    await hypervisor.start(workload)
    expect(await hypervisor.power(workload)).toBe('running')
    await hypervisor.remove(workload)
  })
  test('a vm whose seed was ejected while it was off starts without it', async () => {
    const { hypervisor, workload, dropSeed } = await defined()
    await hypervisor.eject(workload)
    dropSeed()
    await hypervisor.start(workload)
    await hypervisor.remove(workload)
  })
  test('a vm in rescue needs its rescue disk and its own, and defined back it starts from its own alone', async () => {
    const { hypervisor, vm, disk, rescue, workload } = await defined()
    const inRescue = { ...vm, rescue: { ...vm.volume, generation: 1 } }
    const missing = { ...rescue, path: `${rescue.path}.missing` }
    await hypervisor.define(inRescue, disk, undefined, { rescue: missing })
    expect(hypervisor.start(workload)).rejects.toMatchObject({ code: 'tool_failed' })
    await hypervisor.define(inRescue, { ...disk, path: `${disk.path}.missing` }, undefined, { rescue })
    expect(hypervisor.start(workload)).rejects.toMatchObject({ code: 'tool_failed' })
    await hypervisor.define(inRescue, disk, undefined, { rescue })
    await hypervisor.start(workload)
    expect(await hypervisor.power(workload)).toBe('running')
    await hypervisor.stop(workload, 0)
    await hypervisor.define(vm, disk, undefined)
    await hypervisor.start(workload)
    expect(await hypervisor.power(workload)).toBe('running')
    await hypervisor.remove(workload)
  })
  test('an ISO goes in and out, while the vm runs and while it is off, also twice', async () => {
    const { hypervisor, vm, disk, seedPath, isoPath, dropIso, workload } = await defined()
    expect(hypervisor.insert('srv_nobody00000000000000000000', isoPath)).rejects.toMatchObject({ code: 'no_vm' })
    await hypervisor.define(vm, disk, seedPath, { iso: isoPath })
    await hypervisor.start(workload)
    for (const path of [undefined, undefined, isoPath, isoPath, undefined]) await hypervisor.insert(workload, path)
    await hypervisor.stop(workload, 0)
    await hypervisor.insert(workload, isoPath)
    await hypervisor.insert(workload, isoPath)
    dropIso()
    expect(hypervisor.start(workload)).rejects.toMatchObject({ code: 'tool_failed' })
    await hypervisor.insert(workload, undefined)
    await hypervisor.start(workload)
    expect(await hypervisor.power(workload)).toBe('running')
    await hypervisor.remove(workload)
  })
  test('what the firmware stored for a disk is forgotten, also where there is nothing', async () => {
    const { hypervisor, vm } = await rig()
    await hypervisor.forgetFirmware(vm.volume)
    await hypervisor.forgetFirmware(vm.volume)
  })
  test('one query returns every vm of ours with its counters', async () => {
    const { hypervisor, workload } = await defined()
    await hypervisor.start(workload)
    await Bun.sleep(50)
    const ours = (await hypervisor.look()).ours.find(({ id }) => id === workload)
    expect(ours).toMatchObject({ power: 'running' })
    expect(ours?.cpuMs).toBeGreaterThan(0)
    await hypervisor.remove(workload)
    expect((await hypervisor.look()).ours.map(({ id }) => id)).not.toContain(workload)
  })
  test('changes of power are reported as they happen', async () => {
    const { hypervisor, workload } = await defined()
    const stop = new AbortController()
    const seen: PowerEvent[] = []
    const watching = (async () => {
      for await (const event of hypervisor.events(stop.signal)) if (event.workload === workload) seen.push(event)
    })()
    await Bun.sleep(200)
    await hypervisor.start(workload)
    await Bun.sleep(300)
    await hypervisor.stop(workload, 0)
    await Bun.sleep(300)
    stop.abort()
    await watching
    expect(seen.map(({ power }) => power)).toContain('running')
    expect(seen.at(-1)).toMatchObject({ power: 'stopped' })
    await hypervisor.remove(workload)
  })
  test('the guest of a vm that is off does not answer', async () => {
    const { hypervisor, workload } = await defined()
    expect(await hypervisor.guestAnswers(workload)).toBe(false)
    await hypervisor.remove(workload)
  })
}
