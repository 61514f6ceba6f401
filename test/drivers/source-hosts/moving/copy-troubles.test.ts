// Copies from real source hypervisors that do not go well: each ends with a code of its own, and leaves nothing here.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { loggingTo } from '../../../../agent/controller-link/job-log.ts'
import type { Volume } from '../../../../agent/protocol/wire.ts'
import { noSourceLab } from '../../../support/source-hypervisors/lab.ts'
import { eventually } from '../../../support/waiting/eventually.ts'
import { note } from '../../tools.ts'
import { type CopyLab, copyLab } from './copy-lab.ts'

const MiB = 1 << 20

describe.skipIf(note(await noSourceLab(), 'copies that do not go well'))('a copy from a real source', () => {
  let lab: CopyLab
  beforeAll(async () => {
    lab = await copyLab()
  }, 60_000)
  afterAll(async () => lab?.end())

  const same = async (volume: Volume, path: string, format = 'raw') =>
    expect(await lab.contentHere(volume, 64 * MiB)).toBe(await lab.contentThere(path, format))

  test('a source that the other panel starts meanwhile is told, and so is one whose disk was written', async () => {
    const { source } = lab
    const path = await lab.rawDisk('started.raw')
    const { domain, given, volume } = await lab.offServer({ path })
    const copy = lab.copyOf({ ...given, volume: volume('qcow2'), sizeBytes: 64 * MiB, maxMbps: 100 })
    const copied = copy.pass('off').catch((error) => error)
    await Bun.sleep(1200)
    await source.virsh('start', domain)
    expect(await copied).toMatchObject({ code: 'source_started' })
    expect(await copy.pass('off').catch((error) => error)).toMatchObject({ code: 'source_started' })
    await source.virsh('destroy', domain)
    await copy.discard()
    const again = lab.copyOf({ ...given, volume: volume('qcow2'), sizeBytes: 64 * MiB, maxMbps: 100 })
    const second = again.pass('off').catch((error) => error)
    await Bun.sleep(1200)
    await lab.write(path, 'raw', MiB, 'meanwhile')
    expect(await second).toMatchObject({ code: 'source_started' })
    await again.discard()
    expect(readdirSync(lab.poolDir)).toEqual([])
  })

  test('a disk that cannot be read, is gone, has another size or another backing file', async () => {
    const { source } = lab
    const path = await lab.rawDisk('broken.raw', 60)
    const device = (await source.must('losetup', '-f', '--show', path)).trim()
    try {
      // The device is as large as before, and cannot read behind the end of its file.
      await source.must('truncate', '-s', String(40 * MiB), path)
      const { given, volume } = await lab.offServer({ path: device, holder: 'device' })
      const copy = lab.copyOf({ ...given, volume: volume('raw'), sizeBytes: 64 * MiB })
      const error = await copy.pass('off').catch((cause) => cause)
      expect(error).toMatchObject({ code: 'source_read_error' })
      const at = Number(/at byte (\d+)/.exec(error.message)?.[1])
      expect(Math.abs(at - 40 * MiB)).toBeLessThanOrEqual(MiB)
      await copy.discard()
    } finally {
      await source.must('losetup', '-d', device)
    }
    const shorter = await lab.offServer({ path })
    const cases = [
      [shorter, {}, 'source_disk_changed'],
      [await lab.offServer({ path: '/var/lib/vz/gone.raw' }), {}, 'source_read_error'],
    ] as const
    for (const [{ given, volume }, , code] of cases) {
      const copy = lab.copyOf({ ...given, volume: volume('raw'), sizeBytes: 64 * MiB })
      expect(await copy.pass('off').catch((cause) => cause)).toMatchObject({ code })
      await copy.discard()
    }
    await source.must('qemu-img', 'create', '-f', 'qcow2', '-b', path, '-F', 'raw', '/var/lib/vz/hidden.qcow2', '64M')
    const { given, volume } = await lab.offServer({ path: '/var/lib/vz/hidden.qcow2', format: 'qcow2' })
    const copy = lab.copyOf({ ...given, volume: volume('qcow2'), sizeBytes: 64 * MiB })
    expect(await copy.pass('off').catch((cause) => cause)).toMatchObject({ code: 'source_disk_changed' })
    await copy.discard()
    expect(readdirSync(lab.poolDir)).toEqual([])
  })

  test('a source without Python, with a name that a shell could take for more', async () => {
    const { source } = lab
    await source.must('mkdir', '-p', '/var/lib/vz')
    const path = await lab.rawDisk(`it's "odd"; $(touch hacked) \`x\` y.raw`)
    const found = (
      await source.must('sh', '-c', 'ls /usr/bin/python* /usr/local/bin/python* 2>/dev/null || true')
    ).trim()
    for (const file of found.split('\n').filter(Boolean)) await source.must('mv', file, `${file}.away`)
    try {
      const { given, volume } = await lab.offServer({ path })
      const copy = lab.copyOf({ ...given, volume: volume('qcow2'), sizeBytes: 64 * MiB })
      const told: string[] = []
      const job = { line: (_: string, text: string) => told.push(text), progress: () => {} }
      const first = await loggingTo(job, () => copy.pass('running'))
      expect(first.blocks).toBe(16)
      expect(told.some((text) => text.startsWith('$ dd if='))).toBeTrue()
      await lab.write(path, 'raw', 33 * MiB, 'guest')
      const { changedBlocks } = await copy.pass('off')
      expect(changedBlocks).toBe(1)
      await same(volume('qcow2'), path)
      await copy.discard()
      const plain = lab.copyOf({ ...given, volume: volume('raw'), sizeBytes: 64 * MiB })
      await plain.pass('off')
      await same(volume('raw'), path)
      await plain.discard()
      await source.must('truncate', '-s', String(40 * MiB + 100), path)
      const short = lab.copyOf({
        ...given,
        drive: { ...given.drive, virtualBytes: 40 * MiB + 100 },
        volume: volume('raw'),
        sizeBytes: 64 * MiB,
      })
      await short.pass('off')
      await short.discard()
    } finally {
      for (const file of found.split('\n').filter(Boolean)) await source.must('mv', `${file}.away`, file)
    }
    expect((await source.run('find', '/root', '/', '-maxdepth', '1', '-name', 'hacked')).out).toBe('')
  })

  test('a pool that is full, and a disk that is there already', async () => {
    const path = await lab.rawDisk('large.raw', 40)
    const { given, volume } = await lab.offServer({ path })
    const small = await lab.smallPool(24)
    const copy = lab.copyOf({ ...given, volume: volume('raw'), sizeBytes: 64 * MiB }, small)
    expect(await copy.pass('off').catch((cause) => cause)).toMatchObject({ code: 'pool_full' })
    await copy.discard()
    expect(await small.list()).toEqual([])
    // It is large enough at first.
    const filled = await lab.smallPool(48)
    const late = lab.copyOf({ ...given, volume: volume('raw'), sizeBytes: 64 * MiB, maxMbps: 80 }, filled)
    const ended = late.pass('off').catch((cause) => cause)
    await eventually(async () => (await filled.sizeBytes(volume('raw'))) !== undefined)
    await lab.fillPool(filled)
    expect(await ended).toMatchObject({ code: 'pool_full' })
    await late.discard()
    expect(await filled.list()).toEqual([])
    await lab.pool.receive(volume('raw'), MiB, async () => {})
    const other = lab.copyOf({ ...given, volume: volume('raw'), sizeBytes: 64 * MiB })
    expect(await other.pass('off').catch((cause) => cause)).toMatchObject({ code: 'volume_differs' })
    await other.discard()
    expect(await lab.pool.sizeBytes(volume('raw'))).toBe(MiB)
    await lab.pool.remove(volume('raw'))
  })

  test('a node that is the source itself reads with its own shell, and signs in nowhere', async () => {
    const reader = await lab.servers.read({
      ...{ host: null, path: '/etc/hostname', blockBytes: 65_536, isOff: false, signal: new AbortController().signal },
    })
    const parts: Buffer[] = []
    for await (const { data } of reader.read([{ first: 0, count: reader.blocks }])) parts.push(data!)
    expect(await reader.close()).toMatchObject({ code: 0 })
    expect(Buffer.concat(parts)).toEqual(Buffer.from(await Bun.file('/etc/hostname').arrayBuffer()))
  })
})
