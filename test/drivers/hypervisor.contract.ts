import { expect, test } from 'bun:test'
import type { Hypervisor, PowerEvent } from '../../agent/drivers/hypervisor/hypervisor.ts'
import type { Disk } from '../../agent/drivers/storage/storage.ts'
import type { Vm } from '../../agent/protocol/wire.ts'

/** A hypervisor, and a vm that can be defined on it: its disk and its seed exist. */
export type Rig = { hypervisor: Hypervisor; vm: Vm; disk: Disk; seedPath: string; dropSeed(): void }

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
