// Copies whose agent is killed, and which have limits.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { SshSourceCopies } from '../../../../agent/drivers/source-host/ssh-source-copies.ts'
import { noSourceLab } from '../../../support/source-hypervisors/lab.ts'
import { note } from '../../tools.ts'
import { type CopyLab, copyLab } from './copy-lab.ts'

const MiB = 1 << 20
const PYTHON_2 = '/root/.pyenv/versions/2.7.18/bin/python2.7'

describe.skipIf(note(await noSourceLab(), 'copies of agents that are killed'))('a copy from a real source', () => {
  let lab: CopyLab
  beforeAll(async () => {
    lab = await copyLab()
  }, 60_000)
  afterAll(async () => lab?.end())

  test('goes on after a kill of the agent, in either pass, and leaves no reader at the source', async () => {
    const path = await lab.rawDisk('killed.raw', 230, 256 * MiB)
    const { given, volume } = await lab.offServer({ path, virtualBytes: 256 * MiB })
    const copy = lab.copyOf({ ...given, volume: volume('raw'), sizeBytes: 256 * MiB, maxMbps: 800 })
    for (const [pass, atPercent] of [
      ['running', 30],
      ['running', 65],
      ['off', 40],
    ] as const) {
      await killedAt(copy, pass, atPercent)
      if (pass === 'running' && atPercent === 65) {
        const { copiedBytes } = await copy.pass('running')
        expect(copiedBytes).toBeLessThan(130 * MiB)
        for (const at of [100, 200]) await lab.write(path, 'raw', at * MiB, 'guest')
      }
    }
    for (let tries = 0; tries < 50 && (await readers()) > 0; tries++) await Bun.sleep(100)
    expect(await readers()).toBe(0)
    // Another one takes its place.
    const other = new SshSourceCopies(lab.servers, lab.copiesDir)
    await copy.pass('off', other)
    expect(await lab.contentHere(volume('raw'), 256 * MiB)).toBe(await lab.contentThere(path, 'raw'))
    await copy.discard(other)
    expect([readdirSync(lab.poolDir), readdirSync(lab.copiesDir)]).toEqual([[], []])
  })

  const readers = async () => Number((await lab.source.run('pgrep', '-fc', 'import errno, hashlib')).out)

  async function killedAt({ copy, given }: ReturnType<CopyLab['copyOf']>, pass: string, atPercent: number) {
    const input = JSON.stringify({ copy, maxMbps: 800, ...given, pass })
    const words = [process.execPath, join(import.meta.dir, 'copying-agent.ts'), lab.dir, lab.poolDir, input]
    const child = Bun.spawn(words, { stdout: 'pipe', stderr: 'inherit' })
    let said = ''
    for await (const part of child.stdout as unknown as AsyncIterable<Uint8Array>) {
      said += new TextDecoder().decode(part)
      if (
        said
          .trim()
          .split('\n')
          .some((percent) => Number(percent) >= atPercent)
      )
        break
    }
    child.kill('SIGKILL')
    await child.exited
  }

  test('takes another limit at once, and keeps it for the later pass', async () => {
    const path = await lab.rawDisk('limit.raw', 30)
    const { given, volume } = await lab.offServer({ path })
    const copy = lab.copyOf({ ...given, volume: volume('raw'), sizeBytes: 64 * MiB, maxMbps: 8 })
    const began = performance.now()
    const copied = copy.pass('running')
    await Bun.sleep(1500)
    lab.copies.limit(copy.copy, null)
    await copied
    expect(performance.now() - began).toBeLessThan(10_000)
    lab.copies.limit(copy.copy, 80)
    for (let at = 2; at < 22; at++) await lab.write(path, 'raw', at * MiB, 'guest')
    await lab.source.must('dd', 'if=/dev/urandom', `of=${path}`, 'bs=1M', 'seek=2', 'count=20', 'conv=notrunc')
    const second = performance.now()
    await copy.pass('off')
    // 20 MiB with 10 MB each second.
    expect(performance.now() - second).toBeGreaterThan(1500)
    await copy.discard()
  })

  test.skipIf(!existsSync(PYTHON_2))('an old source has Python 2.7', async () => {
    const script = `#!/bin/sh\nexec ${PYTHON_2} "$@"\n`
    await lab.source.write('/usr/local/bin/python3', script, '755')
    try {
      const path = await lab.rawDisk('python-2.raw', 20)
      const { given, volume } = await lab.offServer({ path })
      const copy = lab.copyOf({ ...given, volume: volume('raw'), sizeBytes: 64 * MiB })
      await copy.pass('running')
      await lab.write(path, 'raw', 9 * MiB, 'guest')
      const { changedBlocks } = await copy.pass('off')
      expect(changedBlocks).toBe(1)
      expect(await lab.contentHere(volume('raw'), 64 * MiB)).toBe(await lab.contentThere(path, 'raw'))
      await copy.discard()
    } finally {
      await lab.source.must('rm', '/usr/local/bin/python3')
    }
  })
})
