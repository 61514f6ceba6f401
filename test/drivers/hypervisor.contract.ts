import { expect, test } from 'bun:test'
import type { Hypervisor, PowerEvent } from '../../agent/drivers/hypervisor/hypervisor.ts'
import type { Disk } from '../../agent/drivers/storage/storage.ts'
import type { Domain } from '../../agent/protocol/wire.ts'

/** A hypervisor, and a guest that could be defined on it: its disk exists. */
export type Rig = { hypervisor: Hypervisor; domain: Domain; disk: Disk; seedPath: string; dropSeed(): void }

/** What every hypervisor keeps. */
export function hypervisorContract(rig: () => Promise<Rig>) {
  const defined = async () => {
    const it = await rig()
    await it.hypervisor.define(it.domain, it.disk, it.seedPath)
    return { ...it, server: it.domain.server }
  }

  test('a guest nobody defined is absent, and removing it is fine', async () => {
    const { hypervisor, domain } = await rig()
    expect(await hypervisor.power(domain.server)).toBe('absent')
    await hypervisor.stop(domain.server, 0)
    await hypervisor.eject(domain.server)
    await hypervisor.remove(domain.server)
    expect(hypervisor.start(domain.server)).rejects.toMatchObject({ code: 'no_domain' })
  })
  test('defined twice, started twice, stopped twice, removed twice is the same as once', async () => {
    const { hypervisor, domain, disk, seedPath, server } = await defined()
    await hypervisor.define(domain, disk, seedPath)
    expect(await hypervisor.power(server)).toBe('stopped')
    await hypervisor.start(server)
    await hypervisor.start(server)
    expect(await hypervisor.power(server)).toBe('running')
    await hypervisor.stop(server, 0)
    await hypervisor.stop(server, 0)
    expect(await hypervisor.power(server)).toBe('stopped')
    await hypervisor.remove(server)
    await hypervisor.remove(server)
    expect(await hypervisor.power(server)).toBe('absent')
  })
  test('a running guest goes on when its definition is replaced', async () => {
    const { hypervisor, domain, disk, seedPath, server } = await defined()
    await hypervisor.start(server)
    await hypervisor.define({ ...domain, memoryMb: domain.memoryMb * 2 }, disk, seedPath)
    expect(await hypervisor.power(server)).toBe('running')
    await hypervisor.remove(server)
  })
  test('a guest whose seed was ejected starts without it', async () => {
    const { hypervisor, server, dropSeed } = await defined()
    await hypervisor.start(server)
    await hypervisor.eject(server)
    await hypervisor.eject(server)
    await hypervisor.stop(server, 0)
    dropSeed()
    await hypervisor.start(server)
    expect(await hypervisor.power(server)).toBe('running')
    await hypervisor.remove(server)
  })
  test('the seed of a guest that is off can be ejected, too', async () => {
    const { hypervisor, server, dropSeed } = await defined()
    await hypervisor.eject(server)
    dropSeed()
    await hypervisor.start(server)
    await hypervisor.remove(server)
  })
  test('one look shows every guest of ours with its figures', async () => {
    const { hypervisor, server } = await defined()
    await hypervisor.start(server)
    await Bun.sleep(50)
    const ours = (await hypervisor.look()).ours.find((it) => it.id === server)
    expect(ours).toMatchObject({ power: 'running' })
    expect(ours?.cpuNanoseconds).toBeGreaterThan(0)
    await hypervisor.remove(server)
    expect((await hypervisor.look()).ours.map(({ id }) => id)).not.toContain(server)
  })
  test('changes of power are told as they happen', async () => {
    const { hypervisor, server } = await defined()
    const stop = new AbortController()
    const seen: PowerEvent[] = []
    const watching = (async () => {
      for await (const event of hypervisor.events(stop.signal)) if (event.server === server) seen.push(event)
    })()
    await Bun.sleep(200)
    await hypervisor.start(server)
    await Bun.sleep(300)
    await hypervisor.stop(server, 0)
    await Bun.sleep(300)
    stop.abort()
    await watching
    expect(seen.map(({ power }) => power)).toContain('running')
    expect(seen.at(-1)).toMatchObject({ power: 'stopped' })
    await hypervisor.remove(server)
  })
  test('a guest that has no system answers nothing when it is off', async () => {
    const { hypervisor, server } = await defined()
    expect(await hypervisor.guestAnswers(server)).toBe(false)
    await hypervisor.remove(server)
  })
}
