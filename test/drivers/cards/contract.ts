// The contract of both drivers of cards.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { OTHER_UUID, UUID } from './report.ts'
import { MEMORY_MB, type Rig } from './rig.ts'

/** The sentences that hold for a driver; `make` sets up a host with two cards. */
export function cardsContract(make: () => Rig) {
  let rig: Rig
  beforeEach(() => {
    rig = make()
  })
  afterEach(() => rig.remove())
  const card = async () => (await rig.gpus.cards()).find(({ uuid }) => uuid === UUID)
  const check = async () => (await rig.gpus.check([UUID]))[0]!

  test('reports the cards of the host, in the order of their places', async () => {
    expect(await rig.gpus.cards()).toMatchObject([
      {
        uuid: UUID,
        model: 'NVIDIA H100 80GB HBM3',
        memoryMb: MEMORY_MB,
        bus: '0000:3b:00.0',
        mig: 'off',
        problems: [],
      },
      { uuid: OTHER_UUID, model: 'NVIDIA L4', bus: '0000:5e:00.0', problems: [] },
    ])
  })
  test('leaves out a card that vanished', async () => {
    await rig.gpus.cards()
    rig.set({ gone: true })
    expect((await rig.gpus.cards()).map(({ uuid }) => uuid)).toEqual([OTHER_UUID])
    expect(await check()).toEqual({
      ...{ uuid: UUID, sellable: false, problems: ['This host does not have the card'], clearedMb: 0 },
    })
  })
  test.each([
    [{ mig: true }, 'MIG is on'],
    [{ uncorrected: 3 }, '3 errors of its memory'],
    [{ pendingRemap: true }, 'waits to be replaced'],
    [{ xid: 79 }, 'Xid 79: the card fell off the bus'],
  ])('says why a card cannot be sold: %j', async (fault, words) => {
    rig.set(fault)
    expect((await card())!.problems.join()).toContain(words)
    expect((await rig.gpus.cards())[1]!.problems).toEqual([])
    rig.write()
    expect(await check()).toMatchObject({ sellable: false, problems: [expect.stringContaining(words)], clearedMb: 0 })
  })
  test('tells what a card reported while an instance had it, and not what was before', async () => {
    rig.set({ xid: 31 })
    await rig.gpus.cards()
    expect((await card())!.problems).toEqual([])
    expect(rig.gpus.troublesSince([UUID], 0)).toEqual([
      'Xid 31: a program used memory of the card that it does not have',
    ])
    expect(rig.gpus.troublesSince([OTHER_UUID], 0)).toEqual([])
    expect(rig.gpus.troublesSince([UUID], Number.MAX_SAFE_INTEGER)).toEqual([])
  })
  test('S44: clears a card and proves it clear before it is sold again', async () => {
    rig.write()
    expect(rig.hasData()).toBe(true)
    const checked = await check()
    expect(checked).toMatchObject({ uuid: UUID, sellable: true, problems: [], clearedMb: MEMORY_MB })
    expect(checked.memoryGBps).toBeGreaterThan(0)
    expect(rig.isClear()).toBe(true)
  })
  test('does not sell a card whose memory keeps what was in it', async () => {
    rig.write()
    rig.set({ stuck: true })
    const checked = await check()
    expect(checked.sellable).toBe(false)
    expect(checked.problems.join()).toContain('were not clear')
    expect(rig.hasData()).toBe(true)
  })
  test('has samples of the cards that answer', async () => {
    for (const sample of await rig.gpus.samples()) {
      expect([UUID, OTHER_UUID]).toContain(sample.uuid)
      expect(sample.temperatureC).toBeGreaterThan(20)
    }
    expect(await rig.gpus.samples()).toHaveLength(2)
  })
}
