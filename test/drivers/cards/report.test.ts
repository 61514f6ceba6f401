// The report of the driver: what is read from it, and what makes a card one that is not sold.
import { describe, expect, test } from 'bun:test'
import { problemsCleared, problemsOf, problemsProved } from '../../../agent/drivers/gpu/health.ts'
import { busOf, cardsIn, nvlinksIn, sampleIn } from '../../../agent/drivers/gpu/smi-xml.ts'
import { OTHER_UUID, type ReportedCard, report, UUID } from './report.ts'

const one = (card: Partial<ReportedCard> = {}) => cardsIn(report({ uuid: UUID, ...card }))[0]!
const problems = (card: Partial<ReportedCard>) => problemsOf(one(card), [])

describe('the report of the driver', () => {
  test('names each card with its memory, its place and its driver, without units', () => {
    const cards = cardsIn(
      report(
        { uuid: UUID, processes: [{ pid: 4711, name: '/usr/bin/python3 -m &lt;train&gt;' }] },
        { uuid: OTHER_UUID, bus: '00000001:5E:00.0', model: 'NVIDIA L4', memoryMb: 23_034, mig: 'N/A', usedMb: 17 },
      ),
    )
    expect(cards).toMatchObject([
      {
        uuid: UUID,
        model: 'NVIDIA H100 80GB HBM3',
        bus: '0000:3b:00.0',
        driver: '570.133.20',
        serial: '1650000000001',
        memoryMb: 81_559,
        mig: 'off',
        persistent: true,
        link: { width: 16, mostWidth: 16 },
        processes: [{ pid: 4711, name: '/usr/bin/python3 -m <train>' }],
      },
      { uuid: OTHER_UUID, model: 'NVIDIA L4', bus: '0001:5e:00.0', memoryMb: 23_034, mig: 'none', memoryUsedMb: 17 },
    ])
    expect(cards.flatMap((card) => problemsOf(card, []))).toEqual([])
  })
  test('has the use of a card, with the errors since the driver was loaded alone', () => {
    expect(sampleIn(one({ usedMb: 40_000, uncorrected: 7 }))).toEqual({
      uuid: UUID,
      usePercent: 37,
      memoryUsedMb: 40_000,
      temperatureC: 58,
      powerW: 312,
      correctedErrors: 5,
      uncorrectedErrors: 7,
    })
  })
  test('may lack every field but the UUID, under all words for that', () => {
    const bare = `<nvidia_smi_log><gpu id="00000000:01:00.0"><uuid>${UUID}</uuid><serial>N/A</serial>
      <fb_memory_usage><total>[N/A]</total></fb_memory_usage><ecc_errors/><utilization>
      <gpu_util>Requested functionality has been deprecated</gpu_util></utilization></gpu></nvidia_smi_log>`
    const [card] = cardsIn(bare)
    expect(card).toMatchObject({ model: 'unknown', bus: '0000:01:00.0', serial: '', mig: 'none', processes: [] })
    expect([card!.memoryMb, card!.usePercent, card!.powerW, card!.link, card!.recoveryAction]).toEqual([
      ...[undefined, undefined, undefined, undefined, null],
    ])
    expect([sampleIn(card!), problemsOf(card!, [])]).toEqual([undefined, []])
  })
  test('counts errors also in the forms of older cards', () => {
    const older = `<nvidia_smi_log><gpu id="a"><uuid>${UUID}</uuid><ecc_errors><volatile>
      <single_bit><device_memory>4</device_memory><total>6</total></single_bit>
      <double_bit><device_memory>1</device_memory><total>1</total></double_bit></volatile></ecc_errors>
      <power_readings><power_draw>61.20 W</power_draw></power_readings></gpu></nvidia_smi_log>`
    expect(cardsIn(older)[0]).toMatchObject({ correctedErrors: 6, uncorrectedErrors: 1, powerW: 61.2 })
  })
  test('is refused where it is none', () => {
    expect(() => cardsIn('No devices were found')).toThrow('did not write its report')
    expect(cardsIn('<nvidia_smi_log></nvidia_smi_log>')).toEqual([])
  })
  test('has buses in the form of the kernel, and the links that are up', () => {
    expect([busOf('00000000:0F:00.0'), busOf('0008:01:00.0'), busOf('odd')]).toEqual([
      ...['0000:0f:00.0', '0008:01:00.0', 'odd'],
    ])
    const text = `GPU 0: NVIDIA H100 80GB HBM3 (UUID: ${UUID})
	 Link 0: 26.562 GB/s
	 Link 1: <inactive>
	 Link 2: 26.562 GB/s
GPU 1: NVIDIA L4 (UUID: ${OTHER_UUID})`
    expect([...nvlinksIn(text)]).toEqual([[UUID, 2]])
  })
})

describe('a card is not sold', () => {
  const why: [string, Partial<ReportedCard>, string][] = [
    ['with MIG on', { mig: 'Enabled' }, 'MIG is on'],
    ['after an error that could not be corrected', { uncorrected: 3 }, '3 errors of its memory could not be corrected'],
    ['while rows wait to be replaced', { pending: 'Yes' }, 'waits to be replaced'],
    ['when a row could not be replaced', { failure: 'Yes' }, 'replace the card'],
    ['when its driver wants a reset', { recovery: 'Drain and Reset' }, 'Drain and Reset'],
    ['with a part of its lanes', { width: 8 }, '8 of 16 lanes'],
    [
      'when older memory waits for a reset',
      { more: '<retired_pages_too/><tpc_repair_pending>Yes</tpc_repair_pending>' },
      'A repair of its processors waits for a reset',
    ],
  ]
  test.each(why)('%s', (_when, card, words) => {
    expect(problems(card).join()).toContain(words)
    expect(problems(card)).toHaveLength(1)
  })
  test('unless its driver says that it wants nothing', () => {
    expect(problems({ recovery: 'None' })).toEqual([])
  })

  const well = {
    ...{ totalBytes: 80e9, clearedBytes: 79e9, leftBytes: 1e6, samples: 900, badSamples: 0 },
    ...{ memoryGBps: 2900, peakGBps: 3350 },
  }
  test('when its memory is not clear, is held by something or is slow', () => {
    expect(problemsCleared(well)).toEqual([])
    expect(problemsCleared({ ...well, peakGBps: 0, memoryGBps: 3 })).toEqual([])
    expect(problemsCleared({ ...well, badSamples: 1 }).join()).toContain('1 of 900 samples')
    expect(problemsCleared({ ...well, samples: 0 })).toHaveLength(1)
    expect(problemsCleared({ ...well, leftBytes: 2e9 }).join()).toContain('could not be cleared')
    expect(problemsCleared({ ...well, clearedBytes: 60e9 }).join()).toContain('19,073 MiB')
    expect(problemsCleared({ ...well, memoryGBps: 1000 }).join()).toContain('1000 of 3350 GB/s')
  })
  test('S44: when not all its memory was seen to be clear, but for the 2 percent that its driver needs', () => {
    const proved = { totalBytes: 80e9, readBytes: 78.4e9, unclearBytes: 0 }
    expect(problemsProved(proved)).toEqual([])
    expect(problemsProved({ ...proved, unclearBytes: 65_536 }).join()).toContain('64 KiB of its memory were not clear')
    expect(problemsProved({ ...proved, readBytes: 78.3e9 }).join()).toContain('1,621 MiB')
    expect(problemsProved({ ...proved, readBytes: 0 })).toHaveLength(1)
    // A small card: its driver needs no less of it.
    expect(problemsProved({ ...proved, totalBytes: 16e9, readBytes: 15.5e9 })).toEqual([])
    expect(problemsProved({ ...proved, totalBytes: 16e9, readBytes: 15.4e9 })).toHaveLength(1)
  })
})
