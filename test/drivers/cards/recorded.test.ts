// Answers of a real driver (580.159.04, open kernel module), of its kernel's log and of NVIDIA's toolkit (1.20.0), on
// hosts with an H100 and an H200, as they were but for UUIDs, serial numbers and most of the list of clocks.
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CardErrors } from '../../../agent/drivers/gpu/card-errors.ts'
import { type CdiSpec, ownSpec } from '../../../agent/drivers/gpu/cdi.ts'
import { problemsCleared, problemsOf, problemsProved } from '../../../agent/drivers/gpu/health.ts'
import { cardsIn, nvlinksIn, sampleIn } from '../../../agent/drivers/gpu/smi-xml.ts'
import { H100, UUID } from './report.ts'
import { type NvidiaRig, nvidiaRig } from './rig.ts'

const recorded = (name: string) => readFileSync(join(import.meta.dir, 'recorded', name), 'utf8')
const cardIn = (name: string) => cardsIn(recorded(name))[0]!
const BUS = '0000:00:06.0'

describe('a real report', () => {
  test('of an H100 has every field that is read, and no reason not to sell the card', () => {
    const card = cardIn('h100.xml')
    expect(card).toEqual({
      ...{ uuid: UUID, model: H100, bus: BUS, driver: '580.159.04', serial: '1650000000001' },
      ...{ memoryMb: 81_559, memoryUsedMb: 0, mig: 'off', persistent: true, computeProhibited: false },
      ...{ usePercent: 0, temperatureC: 34, powerW: 72.76, correctedErrors: 0, uncorrectedErrors: 0 },
      ...{ remapPending: false, remapFailed: false, flags: [], recoveryAction: undefined },
      ...{ link: { width: 16, mostWidth: 16 }, processes: [] },
    })
    expect(problemsOf(card, [])).toEqual([])
    expect(sampleIn(card)).toMatchObject({ memoryUsedMb: 0, temperatureC: 34, powerW: 73 })
  })
  test('of an H200 has them too', () => {
    const card = cardIn('h200.xml')
    expect(card).toMatchObject({
      model: 'NVIDIA H200',
      memoryMb: 143_771,
      mig: 'off',
      link: { width: 16, mostWidth: 16 },
    })
    expect(problemsOf(card, [])).toEqual([])
  })
  test('names the program on a card, and the memory that it has', () => {
    const card = cardIn('h100-with-program.xml')
    expect(card).toMatchObject({ processes: [{ pid: 1187, name: 'python3' }], memoryUsedMb: 61_967 })
  })
  test.each([
    ['<dram_uncorrectable>0<', '<dram_uncorrectable>2<', '2 errors of its memory could not be corrected'],
    ['<sram_uncorrectable_secded>0<', '<sram_uncorrectable_secded>1<', '1 errors of its memory could not be corrected'],
    ['<remapped_row_pending>No<', '<remapped_row_pending>Yes<', 'waits to be replaced'],
    ['<remapped_row_failure>No<', '<remapped_row_failure>Yes<', 'replace the card'],
    ['<sram_threshold_exceeded>No<', '<sram_threshold_exceeded>Yes<', 'more errors than NVIDIA allows'],
    ['<channel_repair_pending>No<', '<channel_repair_pending>Yes<', 'A repair of its memory waits'],
    ['<unrepairable_memory>No<', '<unrepairable_memory>Yes<', 'cannot be repaired'],
    ['<gpu_recovery_action>None<', '<gpu_recovery_action>GPU Reset<', 'GPU Reset'],
    ['<current_link_width>16x<', '<current_link_width>8x<', '8 of 16 lanes'],
    ['<current_mig>Disabled<', '<current_mig>Enabled<', 'MIG is on'],
    ['<compute_mode>Default<', '<compute_mode>Prohibited<', 'Prohibited'],
  ])('that said %s otherwise would keep the card from sale', (as, other, words) => {
    const xml = recorded('h100.xml')
    expect(xml).toContain(as)
    const found = problemsOf(cardsIn(xml.replace(as, other))[0]!, [])
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(words)
  })
  test('of links is empty where a card has none', () => {
    expect([...nvlinksIn('')]).toEqual([])
  })
})

describe('the figures of a real check', () => {
  const h100 = { totalBytes: 85_017_493_504, bytes: 84_462_796_800, leftBytes: 2_293_760, samples: 1548 }
  const h200 = { totalBytes: 150_109_880_320, bytes: 149_554_200_576, leftBytes: 3_276_800, samples: 2574 }
  test.each([
    ['H100', { ...h100, memoryGBps: 2983.7, peakGBps: 3352.3 }],
    ['H200', { ...h200, memoryGBps: 4204.7, peakGBps: 4814.3 }],
  ])('of an %s pass', (_name, { bytes, ...measured }) => {
    expect(problemsCleared({ ...measured, clearedBytes: bytes, badSamples: 0 })).toEqual([])
    expect(problemsProved({ ...measured, readBytes: bytes, unclearBytes: 0 })).toEqual([])
  })
  test('that were measured while another check had most of the card do not', () => {
    const shared = {
      totalBytes: h100.totalBytes,
      clearedBytes: 30_083_645_440,
      leftBytes: 0,
      samples: 600,
      badSamples: 0,
    }
    expect(problemsCleared({ ...shared, memoryGBps: 1569, peakGBps: 3352.3 })).toEqual([
      expect.stringContaining('52,389 MiB of its memory are held by something'),
      expect.stringContaining('1569 of 3352 GB/s'),
    ])
  })
})

describe('a real kernel’s log', () => {
  test('has the errors of programs among lines that are none, and they keep no card from sale', () => {
    const errors = new CardErrors(undefined, 'boot', join(import.meta.dir, 'recorded/kernel-log.txt'))
    expect(errors.take().map(({ bus, code }) => [bus, code])).toEqual(
      [31, 13, 13, 13, 43, 43].map((code) => ['0000:00:06', code]),
    )
    expect(problemsOf(cardIn('h100.xml'), errors.of(BUS))).toEqual([])
    expect(errors.wordsSince([BUS], 0)).toEqual([
      'Xid 31: a program used memory of the card that it does not have',
      'Xid 13: a program did something illegal on the card, such as an access outside of an array',
      'Xid 43: a program on the card was ended after a fault of its own',
    ])
    errors.close()
  })
})

describe('a real list of NVIDIA’s toolkit', () => {
  const own = ownSpec(JSON.parse(recorded('nvidia-ctk.json')) as CdiSpec, [UUID])
  const { deviceNodes = [], mounts = [], hooks = [] } = own.containerEdits ?? {}
  test('becomes one of the card and the devices with which programs compute', () => {
    expect(own.devices).toEqual([
      { name: UUID, containerEdits: { deviceNodes: [{ path: '/dev/nvidia0', fileMode: 0o666, permissions: 'rw' }] } },
    ])
    expect(deviceNodes.map(({ path }) => path).toSorted()).toEqual([
      ...['/dev/nvidia-uvm', '/dev/nvidia-uvm-tools', '/dev/nvidiactl'],
    ])
  })
  test('keeps the libraries, read-only, and the tasks that make programs find them', () => {
    for (const library of ['libcuda', 'libnvidia-ml', 'libnvidia-ptxjitcompiler', 'libnvidia-nvvm'])
      expect(mounts.map(({ hostPath }) => hostPath)).toContain(`/usr/local/nvidia/lib64/${library}.so.580.159.04`)
    expect(mounts.every(({ options = [] }) => options.includes('ro') && !options.includes('rw'))).toBe(true)
    expect(hooks.map(({ args = [] }) => args[1])).toEqual([
      ...[
        'create-symlinks',
        'create-symlinks',
        'enable-cuda-compat',
        'update-ldcache',
        'disable-device-node-modification',
      ],
    ])
  })
})

describe('an agent over these answers', () => {
  let rig: NvidiaRig | undefined
  const dirs: string[] = []
  afterEach(() => {
    rig?.gpus.close()
    for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true })
  })
  test('has one card without links, and no finding about it', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'berth-recorded-'))
    dirs.push(dir)
    rig = nvidiaRig(import.meta.path, {
      cdiDir: join(dir, 'cdi'),
      kernelLog: join(import.meta.dir, 'recorded/kernel-log.txt'),
      smi: async ([first]) => (first === 'nvlink' ? '' : recorded('h100.xml')),
      ctk: async () => recorded('nvidia-ctk.json'),
    })
    dirs.push(rig.dir)
    expect(await rig.gpus.cards()).toEqual([
      {
        ...{ uuid: UUID, model: H100, memoryMb: 81_559, bus: BUS, driver: '580.159.04', serial: '1650000000001' },
        ...{ nvlinks: 0, mig: 'off', problems: [] },
      },
    ])
    expect(JSON.parse(readFileSync(join(dir, 'cdi/berth-gpu.json'), 'utf8'))).toMatchObject({
      devices: [{ name: UUID }],
    })
  })
})
