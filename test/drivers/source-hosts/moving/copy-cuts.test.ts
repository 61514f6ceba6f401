// Copies whose connection is cut, and which are ended meanwhile.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { loggingTo } from '../../../../agent/controller-link/job-log.ts'
import { noSourceLab } from '../../../support/source-hypervisors/lab.ts'
import { note } from '../../tools.ts'
import { type CopyLab, copyLab } from './copy-lab.ts'

const MiB = 1 << 20

describe.skipIf(note(await noSourceLab(), 'copies that are cut'))('a copy from a real source', () => {
  let lab: CopyLab
  beforeAll(async () => {
    lab = await copyLab()
  }, 60_000)
  afterAll(async () => lab?.end())

  const quiet = { line: () => {}, progress: () => {} }

  test('goes on after a cut at every 5 %, and sends nothing twice', async () => {
    const path = await lab.rawDisk('cuts.raw', 60)
    const { given, volume } = await lab.offServer({ path })
    const copy = lab.copyOf({ ...given, volume: volume('qcow2'), sizeBytes: 64 * MiB, maxMbps: 400 })
    let cuts = 0
    let next = 5
    const progress = (percent: number) => {
      if (percent < next || percent >= 100) return
      next = percent + 5
      for (const pid of lab.copies.sessionsOf(copy.copy)) process.kill(pid, 'SIGKILL')
      cuts++
    }
    const { copiedBytes } = await loggingTo({ ...quiet, progress }, () => copy.pass('off'))
    expect(cuts).toBeGreaterThan(12)
    // Of each session no more than a MiB is sent again.
    expect(copiedBytes).toBeLessThan(61 * MiB)
    expect(await lab.contentHere(volume('qcow2'), 64 * MiB)).toBe(await lab.contentThere(path, 'raw'))
    await copy.discard()
  })

  test('gives up when the source is gone for good, and is ended at once', async () => {
    const path = await lab.rawDisk('gone.raw', 40)
    const { given, volume } = await lab.offServer({ path })
    const copy = lab.copyOf({ ...given, volume: volume('raw'), sizeBytes: 64 * MiB, maxMbps: 100 })
    const ended = copy.pass('off').catch((error) => error)
    await Bun.sleep(1000)
    await copy.discard()
    expect(await ended).toMatchObject({ code: 'source_copy_ended' })
    expect(existsSync(join(lab.copiesDir, copy.copy))).toBeFalse()
    const other = lab.copyOf({ ...given, volume: volume('raw'), sizeBytes: 64 * MiB, maxMbps: 100 })
    const failed = other.pass('off').catch((error) => error)
    await Bun.sleep(1000)
    const daemon = (await lab.source.read('/run/sshd.pid')).trim()
    await lab.source.must('kill', '-STOP', daemon)
    for (const pid of lab.copies.sessionsOf(other.copy)) process.kill(pid, 'SIGKILL')
    await lab.source.must('kill', daemon)
    await lab.source.must('kill', '-CONT', daemon)
    expect(await failed).toMatchObject({ code: 'source_unreachable' })
    await lab.source.must('/usr/sbin/sshd', '-E', '/run/second.log')
    await other.discard()
    expect(readdirSync(lab.poolDir)).toEqual([])
  })
})
