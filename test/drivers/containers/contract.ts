import { expect, test } from 'bun:test'
import type { ContainerEvent, Containers, Given } from '../../../agent/drivers/container/container.ts'
import type { Container, ContainerImage } from '../../../agent/protocol/gpu.ts'
import { LOG_CURSOR } from '../../../agent/protocol/gpu.ts'

/** An engine, and what it needs for instance `n` of its image, whose command sleeps. */
export type Rig = {
  containers: Containers
  image: ContainerImage
  container(n: number, more?: Partial<Container>): Container
  given(n: number): Promise<Given>
  /** Ends the command of a running container as nobody asked for. */
  kill(workload: string): Promise<void>
}

/** The tests that every container engine passes. */
export function containersContract(rig: () => Promise<Rig>) {
  const ready = async () => {
    const made = await rig()
    await made.containers.ensureImage(made.image, undefined)
    const container = made.container(1)
    return { ...made, one: container, workload: container.workload, its: await made.given(1) }
  }

  test('a container that was not made is absent, and removing it succeeds', async () => {
    const { containers, workload } = await ready()
    expect(await containers.power(workload)).toBe('absent')
    expect(await containers.look()).toEqual([])
    await containers.stop(workload, 0)
    await containers.remove(workload)
    expect(containers.start(workload)).rejects.toMatchObject({ code: 'no_container' })
    expect(containers.logs(workload, 1)).rejects.toMatchObject({ code: 'no_container' })
  })
  test('making, starting, stopping and removing twice is the same as once', async () => {
    const { containers, one, its, workload } = await ready()
    await containers.create(one, its)
    await containers.create(one, its)
    expect(await containers.power(workload)).toBe('stopped')
    await containers.start(workload)
    await containers.start(workload)
    expect(await containers.power(workload)).toBe('running')
    expect(await containers.runInside(workload, ['true'])).toBe(0)
    const { text, cursor } = await containers.logs(workload, 5)
    expect([typeof text, cursor]).toEqual(['string', expect.stringMatching(new RegExp(LOG_CURSOR))])
    expect(await containers.logs(workload, 5, cursor)).toMatchObject({ text: '', skipped: false })
    await containers.create(one, its)
    expect(await containers.power(workload)).toBe('running')
    expect((await containers.usage()).map(({ id }) => id)).toEqual([workload])
    await containers.stop(workload, 0)
    await containers.stop(workload, 0)
    expect(await containers.look()).toMatchObject([{ id: workload, power: 'stopped', off: 'destroyed' }])
    await containers.remove(workload)
    await containers.remove(workload)
    expect(await containers.look()).toEqual([])
  })
  test('one that differs is stopped and made anew', async () => {
    const { containers, container, one, its, workload } = await ready()
    await containers.create(one, its)
    await containers.start(workload)
    await containers.create(container(1, { memoryMb: 96 }), its)
    expect(await containers.power(workload)).toBe('stopped')
    await containers.start(workload)
    await containers.remove(workload)
  })
  test('one that ends by itself is told with its end, and runs again after a start', async () => {
    const { containers, one, its, workload, kill } = await ready()
    await containers.create(one, its)
    const over = new AbortController()
    const events: ContainerEvent[] = []
    const watching = (async () => {
      for await (const event of containers.events(over.signal)) events.push(event)
    })()
    await containers.start(workload)
    const until = performance.now() + 10_000
    while (!events.some(({ power }) => power === 'running') && performance.now() < until) await Bun.sleep(20)
    await kill(workload)
    while (!events.some(({ power }) => power === 'stopped') && performance.now() < until) await Bun.sleep(20)
    over.abort()
    await watching
    expect(events.map(({ power }) => power)).toEqual(['running', 'stopped'])
    const [seen] = await containers.look()
    expect(seen).toMatchObject({
      id: workload,
      power: 'stopped',
      off: 'crashed',
      end: { exitCode: 137, oomKilled: false },
    })
    expect(events[1]?.end).toEqual(seen!.end!)
    await containers.start(workload)
    expect((await containers.look())[0]?.end).toBeUndefined()
    await containers.stop(workload, 0)
    expect((await containers.look())[0]?.end).toBeUndefined()
    await containers.remove(workload)
  })
  test('without its image none is made, and an image that is larger than allowed is not stored', async () => {
    const { containers, container, given, image } = await ready()
    const other = { ...image, id: 'gim_00000000000000000000000002' }
    expect(containers.ensureImage({ ...other, mostBytes: 10 }, undefined)).rejects.toMatchObject({
      code: 'image_too_large',
    })
    expect(await containers.hasImage(other.id)).toBe(false)
    const its = await given(2)
    expect(containers.create(container(2, { image: other.id }), its)).rejects.toMatchObject({
      code: 'no_container_image',
    })
    const nowhere = { ...other, reference: `registry.invalid/a@sha256:${'0'.repeat(64)}` }
    expect(containers.ensureImage(nowhere, undefined)).rejects.toMatchObject({ code: 'registry_unreachable' })
    expect(await containers.ensureImage(image, undefined)).toEqual(await containers.ensureImage(image, undefined))
  })
  test('an image can be removed under a container, which goes on', async () => {
    const { containers, one, its, workload, image } = await ready()
    await containers.create(one, its)
    await containers.start(workload)
    await containers.removeImage(image.id)
    await containers.removeImage(image.id)
    expect(await containers.hasImage(image.id)).toBe(false)
    expect(await containers.power(workload)).toBe('running')
    await containers.remove(workload)
  })
  test('two instances never have the same user ids', async () => {
    const { containers, container, one, its, workload } = await ready()
    await containers.create(one, its)
    const clash = container(2, { number: one.number + 60_000 })
    expect(containers.create(clash, its)).rejects.toMatchObject({ code: 'slot_taken' })
    await containers.remove(workload)
  })
}
