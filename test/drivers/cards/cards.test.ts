// Cards: the contract on both drivers, and the calls into NVIDIA's libraries. There is no card where these tests run: a
// library made for the test stands in for NVIDIA's, and its card is a file, so that the calls, their arguments and the
// structures are tried, and what is left in the memory of the card can be read.
import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { namedIn } from '../../../agent/drivers/gpu/cdi.ts'
import { hostFindings } from '../../../agent/drivers/gpu/nvidia-host.ts'
import { openFakeHost } from '../../../agent/host/fake-host.ts'
import { containerOf } from '../../agent/instances/examples.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { givenWithout } from '../containers/podman-rig.ts'
import { note } from '../tools.ts'
import { cardsContract } from './contract.ts'
import { OTHER_UUID, UUID } from './report.ts'
import { fakeRig, MEMORY_MB, type NvidiaRig, nvidiaRig, stubLibrary } from './rig.ts'

setDefaultTimeout(60_000)
const library = stubLibrary()
const leftOut = note(library ? undefined : 'no gcc', 'calls into the libraries of NVIDIA')
afterAll(() => library && rmSync(dirname(library), { recursive: true }))

describe('a fake host’s cards', () => {
  cardsContract(fakeRig)
  test('get hot when a test says so', async () => {
    const rig = fakeRig()
    rig.set({ hot: 95 })
    expect((await rig.gpus.samples())[0]).toMatchObject({ uuid: UUID, temperatureC: 95 })
    rig.set({ slow: true })
    expect((await rig.gpus.check([UUID]))[0]).toMatchObject({
      sellable: false,
      problems: [expect.stringContaining('GB/s')],
    })
    rig.set({ busy: true })
    expect((await rig.gpus.check([UUID]))[0]).toMatchObject({ sellable: false, clearedMb: 0 })
    rig.remove()
  })
})

test('a card of a fake host is used by the instance that runs with it, and has its data until a check', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-fake-cards-'))
  const host = openFakeHost(dir, { cards: [{ uuid: UUID, model: 'NVIDIA L4', memoryMb: 23_034 }] })
  const instance = containerOf(1, { cards: [UUID] })
  const { workload, image } = instance
  await host.gpus.cards()
  const reference = `registry.example/one@sha256:${'1'.repeat(64)}`
  await host.containers.ensureImage({ id: image, reference, mostBytes: 2 ** 40 }, undefined)
  await host.containers.create(instance, givenWithout(1, '/nowhere'))
  await host.containers.start(workload)
  expect((await host.gpus.samples())[0]).toMatchObject({ usePercent: 87, memoryUsedMb: 13_820 })
  expect(await host.gpus.check([UUID])).toMatchObject([
    { sellable: false, problems: [`Programs run on it: ${workload}`] },
  ])
  await host.containers.stop(workload, 0)
  await host.containers.remove(workload)
  expect(host.gpus.memory(UUID)).toBe(`data of ${workload}`)
  expect(await host.gpus.check([UUID])).toMatchObject([{ sellable: true, clearedMb: 23_034 }])
  expect([host.gpus.memory(UUID), (await host.gpus.samples())[0]!.usePercent]).toEqual(['', 0])
  host.close()
  rmSync(dir, { recursive: true })
})

describe.skipIf(leftOut)('NVIDIA’s cards', () => {
  cardsContract(() => nvidiaRig(library!))

  let rig: NvidiaRig
  beforeEach(() => {
    rig = nvidiaRig(library!)
  })
  afterEach(() => rig.remove())
  const check = async () => (await rig.gpus.check([UUID]))[0]!

  test('have links, and are named for containers while they are well', async () => {
    expect((await rig.gpus.cards()).map(({ nvlinks }) => nvlinks)).toEqual([1, 0])
    expect(namedIn(rig.cdiDir)).toEqual([UUID, OTHER_UUID])
    rig.log('NVRM: Xid (PCI:0000:3b:00): 48, DBE')
    await rig.gpus.cards()
    expect(namedIn(rig.cdiDir)).toEqual([OTHER_UUID])
    // The toolkit was asked once: the cards and the driver are the same.
    expect(rig.runs.filter((run) => run.startsWith('cdi generate'))).toHaveLength(1)
  })
  test('of which one does not answer leave the others as they are', async () => {
    await rig.gpus.cards()
    rig.before = ([, , , bus]) => {
      if (!bus || bus === '0000:3b:00.0') throw new Error('Unable to determine the device handle: GPU is lost')
    }
    const cards = await rig.gpus.cards()
    expect(cards).toMatchObject([
      { uuid: UUID, memoryMb: MEMORY_MB, problems: [expect.stringContaining('gets no answer')] },
      { uuid: OTHER_UUID, problems: [] },
    ])
    expect(namedIn(rig.cdiDir)).toEqual([OTHER_UUID])
    expect((await rig.gpus.findings()).join()).toContain('GPU is lost')
  })
  test('on which a program runs are not touched', async () => {
    rig.write()
    rig.set({ busy: true })
    const cards = await Promise.all([check(), check()])
    expect(cards[0]).toEqual(cards[1]!)
    expect(cards[0]).toMatchObject({ sellable: false, problems: ['Programs run on it: python3 (4711)'], clearedMb: 0 })
    expect(rig.hasData()).toBe(true)
    // Two checks of a card are one, and its program got some time to go.
    expect(rig.runs.filter((run) => run === '-q -x')).toHaveLength(5)
  })
  test('from which the last program goes a moment after its instance was stopped are cleared then', async () => {
    rig.write()
    rig.set({ busy: true })
    rig.before = () => {
      if (rig.runs.filter((run) => run === '-q -x').length === 3) rig.set({})
    }
    expect(await check()).toMatchObject({ sellable: true, clearedMb: MEMORY_MB })
    expect(rig.hasData()).toBe(false)
  })
  test('are not sold when the driver refuses, or another card is in their place', async () => {
    rig.card({ init: 999 })
    expect(await check()).toMatchObject({
      sellable: false,
      problems: [expect.stringContaining('cuInit failed: CUDA_ERROR_UNKNOWN')],
    })
    rig.card({ other: 1 })
    rig.write()
    expect((await check()).problems.join()).toContain('0000:5e:00.0 was found where 0000:3b:00.0 should be')
    expect(rig.hasData()).toBe(true)
  })
  test('that are much slower than their clock allows are not sold', async () => {
    rig.card({ clock: 2e9 })
    expect(await check()).toMatchObject({
      sellable: false,
      problems: [expect.stringMatching(/^Its memory reached \d+ of/)],
    })
  })
  test('that hold up the driver for ever hold up their own check alone', async () => {
    const stuck = nvidiaRig(library!, { clearSeconds: 1 })
    stuck.card({ hang: 1 })
    const [checked] = await stuck.gpus.check([UUID])
    expect(checked).toMatchObject({ sellable: false, problems: [expect.stringContaining('did not end within 1 s')] })
    stuck.remove()
  })
  test('are cleared as far as they can be, and a rest that something holds is told', async () => {
    rig.card({ held: 3 << 20 })
    expect(await check()).toMatchObject({ sellable: true, clearedMb: MEMORY_MB - 4 })
  })
  // Ends of the memory, of what is read at a time, and a place between.
  test.each([0, (4 << 20) - 1, 38_123_457, (MEMORY_MB << 20) - 1])(
    'S44: are not sold with one byte left anywhere in their memory: %i',
    async (late) => {
      rig.card({ late })
      expect(await check()).toMatchObject({
        sellable: false,
        problems: ['64 KiB of its memory were not clear after it was cleared: replace the card'],
        clearedMb: MEMORY_MB - 1,
      })
    },
  )
  test('that throw an error under the load are not sold', async () => {
    rig.before = () => {
      if (rig.runs.filter((run) => run === '-q -x').length === 2) rig.log('NVRM: Xid (PCI:0000:3b:00): 95, uncontained')
    }
    expect(await check()).toMatchObject({ sellable: false, clearedMb: MEMORY_MB })
  })
  test('are sampled by the library, in a process that ends with the watch; a lost card has no sample', async () => {
    const work = new AbortController()
    let changes = 0
    rig.gpus.onChange = () => {
      changes++
    }
    rig.card({ errors: 2 })
    const stayed = rig.gpus.stay(work.signal)
    await eventually(async () => (await rig.gpus.samples()).length === 1)
    expect(await rig.gpus.samples()).toEqual([
      {
        ...{ uuid: UUID, usePercent: 73, memoryUsedMb: 81_559 - 551 - 80_000, temperatureC: 61, powerW: 413 },
        ...{ correctedErrors: 5, uncorrectedErrors: 2 },
      },
    ])
    // The samples name the cards for the first time: whoever knows the cards is told.
    await eventually(() => changes > 0)
    expect(changes).toBe(1)
    work.abort()
    await stayed
  })
  test('are asked by nvidia-smi where the library is not there', async () => {
    rmSync(join(rig.dir, 'libnvidia.so.1'))
    expect((await rig.gpus.samples()).map(({ uuid, usePercent }) => [uuid, usePercent])).toEqual([
      [UUID, 37],
      [OTHER_UUID, 37],
    ])
    expect((await check()).problems.join()).toContain('could not be cleared')
  })
  test('are none without a driver, and nothing is written then', async () => {
    rmSync(join(rig.dir, 'driver'), { recursive: true })
    expect([await rig.gpus.cards(), await rig.gpus.samples(), rig.runs]).toEqual([[], [], []])
    expect(namedIn(rig.cdiDir)).toEqual([])
  })
  test('whose toolkit fails are not given to containers, and the host says so', async () => {
    const broken = nvidiaRig(library!, { ctk: () => Promise.reject(new Error('nvidia-ctk: no such driver')) })
    expect((await broken.gpus.cards()).map(({ problems }) => problems)).toEqual([[], []])
    expect((await broken.gpus.findings()).join()).toContain('no such driver')
    expect(namedIn(broken.cdiDir)).toEqual([])
    broken.remove()
  })
})

describe('a host', () => {
  const good = { cardsOnBus: 2, driver: '570.133.20', toolkit: '1.17.8', hasSmi: true, hasUvm: true }
  test('without cards lacks nothing', () => {
    expect(
      hostFindings({ cardsOnBus: 0, driver: undefined, toolkit: undefined, hasSmi: false, hasUvm: false }),
    ).toEqual([])
    expect(hostFindings(good)).toEqual([])
  })
  test('says what it lacks, with the remedy', () => {
    expect(hostFindings({ ...good, driver: undefined })).toEqual([expect.stringMatching(/not loaded: install/)])
    expect(hostFindings({ ...good, hasUvm: false, hasSmi: false })).toHaveLength(2)
    expect(hostFindings({ ...good, toolkit: undefined })).toEqual([
      expect.stringMatching(/nvidia-ctk is not installed/),
    ])
    expect(hostFindings({ ...good, toolkit: '1.18.0-rc.1' })).toEqual([])
    expect(hostFindings({ ...good, toolkit: 'unknown' })).toHaveLength(1)
    expect(hostFindings({ ...good, toolkit: '1.17.7' })).toEqual([expect.stringMatching(/install 1\.17\.8 or newer/)])
  })
})
