// Errors of cards in the kernel's log, and what they mean for a card.
import { afterEach, describe, expect, test } from 'bun:test'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CardErrors } from '../../../agent/drivers/gpu/card-errors.ts'
import { problemsOf } from '../../../agent/drivers/gpu/health.ts'
import { cardsIn } from '../../../agent/drivers/gpu/smi-xml.ts'
import { actionOf, isOf, wordsOf, xidIn } from '../../../agent/drivers/gpu/xid.ts'
import { report, UUID } from './report.ts'

const dirs: string[] = []
const dir = () => {
  const made = mkdtempSync(join(tmpdir(), 'berth-xid-'))
  dirs.push(made)
  return made
}
afterEach(() => {
  for (const made of dirs.splice(0)) rmSync(made, { recursive: true })
})

const xid = (line: string) => xidIn(line, 1000)!
const BUS = '0000:3b:00.0'
const card = (recovery?: string) => cardsIn(report({ uuid: UUID, ...(recovery && { recovery }) }))[0]!

describe('a line of the kernel’s log', () => {
  test('names the card, the error and more about it', () => {
    expect(xid('NVRM: Xid (PCI:0000:3B:00): 79, pid=1122, GPU has fallen off the bus.')).toEqual({
      bus: '0000:3b:00',
      code: 79,
      at: 1000,
      text: 'pid=1122, GPU has fallen off the bus.',
    })
    // With MIG the part of the card follows; old drivers leave out the word PCI.
    expect(xid('NVRM: Xid (PCI:0000:b4:00 GPU-I:05): 31, Ch 1').code).toBe(31)
    expect(xid('NVRM: Xid (0000:01:00): 13, Graphics')).toMatchObject({ bus: '0000:01:00', code: 13 })
    expect(isOf(xid('NVRM: Xid (PCI:0000:3b:00): 13'), BUS)).toBe(true)
    expect(isOf(xid('NVRM: Xid (PCI:0000:3c:00): 13'), BUS)).toBe(false)
  })
  test('is passed over when it is another', () => {
    expect(xidIn('NVRM: GPU at PCI:0000:3b:00: GPU-3b3b', 0)).toBeUndefined()
    expect(xidIn('nvidia-nvswitch0: SXid (PCI:0000:c4:00.0): 20034, Fatal', 0)).toBeUndefined()
    expect(xidIn('NVRM: Xid (PCI:0000:3b:00): abc, pid=1', 0)).toBeUndefined()
  })
})

describe('an error', () => {
  test.each([
    [13, 'tenant'],
    [31, 'tenant'],
    [94, 'tenant'],
    [130, 'tenant'],
    [63, 'watch'],
    [92, 'watch'],
    [48, 'reset'],
    [119, 'reset'],
    [79, 'reboot'],
    [64, 'replace'],
    [9999, 'watch'],
  ] as const)('%i is for: %s', (code, action) => {
    expect(actionOf({ code, text: '' })).toBe(action)
    expect(wordsOf({ code, text: '' })).toMatch(new RegExp(`^Xid ${code}: \\w`))
  })
  test('154 is what the driver names itself', () => {
    const text = (to: string) => `GPU recovery action changed from 0x0 (None) to ${to}`
    expect(actionOf({ code: 154, text: text('0x1 (GPU Reset Required)') })).toBe('reset')
    expect(actionOf({ code: 154, text: text('0x2 (Node Reboot Required)') })).toBe('reboot')
    expect(actionOf({ code: 154, text: text('0x0 (None)') })).toBe('mended')
  })

  const line = (code: number, text = '') => xid(`NVRM: Xid (PCI:0000:3b:00): ${code}, ${text}`)
  test('keeps a card from sale when the card is at fault, and not when a program is', () => {
    expect(problemsOf(card(), [line(31), line(13), line(92)])).toEqual([])
    expect(problemsOf(card(), [line(48), line(48)])).toEqual([
      'Xid 48: an error in the memory of the card could not be corrected: reset it (nvidia-smi --gpu-reset) or start ' +
        'the host again',
    ])
    expect(problemsOf(card(), [line(79)]).join()).toContain('fell off the bus')
  })
  test('is mended by a reset, as the driver or the log says; a loss of the card is not', () => {
    const mended = line(154, 'GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)')
    expect(problemsOf(card(), [line(48), mended])).toEqual([])
    expect(problemsOf(card(), [mended, line(48)])).toHaveLength(1)
    expect(problemsOf(card('None'), [line(48)])).toEqual([])
    expect(problemsOf(card('None'), [line(79)])).toHaveLength(1)
    expect(problemsOf(card('None'), [line(79), mended])).toHaveLength(1)
  })
})

describe('errors since the boot', () => {
  let number = 0
  const record = (text: string, seconds = 5) => `4,${++number},${seconds * 1e6},-;${text}\n SUBSYSTEM=pci\n`
  test('are read once, in words, and are there after a restart of the agent, until the host boots', () => {
    const at = dir()
    const [log, file] = [join(at, 'kmsg'), join(at, 'errors.json')]
    writeFileSync(log, record('Linux version 6.12') + record('NVRM: Xid (PCI:0000:3b:00): 48, DBE', 60))
    const errors = new CardErrors(file, 'boot-1', log)
    expect(errors.take().map(({ code }) => code)).toEqual([48])
    expect(errors.take()).toEqual([])
    appendFileSync(log, record('NVRM: Xid (PCI:0000:5e:00): 31, pid=7', 70) + record('eth0: link up'))
    expect(errors.take().map(({ code }) => code)).toEqual([31])
    expect(errors.wordsSince([BUS], 0)).toEqual(['Xid 48: an error in the memory of the card could not be corrected'])
    const { at: when } = errors.of(BUS)[0]!
    expect([errors.wordsSince([BUS], when), errors.wordsSince([BUS], when + 1)]).toEqual([[expect.anything()], []])
    errors.close()

    // The log of the kernel is a ring: the line is gone meanwhile, or read again.
    writeFileSync(log, record('NVRM: Xid (PCI:0000:5e:00): 31, pid=7', 70))
    const again = new CardErrors(file, 'boot-1', log)
    expect(again.take()).toEqual([])
    expect(again.of(BUS).map(({ code }) => code)).toEqual([48])
    again.close()
    const rebooted = new CardErrors(file, 'boot-2', join(at, 'none'))
    expect([rebooted.areSeen, rebooted.take(), rebooted.of(BUS)]).toEqual([false, [], []])
  })
  test('of a program that fails in a loop leave those that keep a card from sale', () => {
    const at = dir()
    const log = join(at, 'kmsg')
    const fault = (i: number) => record(`NVRM: Xid (PCI:0000:3b:00): 31, pid=${i}`, 100 + i)
    writeFileSync(
      log,
      record('NVRM: Xid (PCI:0000:3b:00): 79, lost') + Array.from({ length: 900 }, (_, i) => fault(i)).join(''),
    )
    const errors = new CardErrors(join(at, 'errors.json'), 'boot-1', log)
    errors.take()
    expect(errors.of(BUS)).toHaveLength(501)
    expect(errors.of(BUS)[0]).toMatchObject({ code: 79 })
    expect(errors.of(BUS).at(-1)).toMatchObject({ text: 'pid=899' })
    errors.close()
  })
})
