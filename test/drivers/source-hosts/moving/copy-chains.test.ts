// Copies of qcow2 disks with files behind them, or snapshots in them, from a real source hypervisor.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import type { Volume } from '../../../../agent/protocol/wire.ts'
import { noSourceLab } from '../../../support/source-hypervisors/lab.ts'
import { note } from '../../tools.ts'
import { type CopyLab, copyLab } from './copy-lab.ts'

const MiB = 1 << 20

describe.skipIf(note(await noSourceLab(), 'copies of chains'))('a copy from a real source', () => {
  let lab: CopyLab
  beforeAll(async () => {
    lab = await copyLab()
  }, 60_000)
  afterAll(async () => lab?.end())

  const same = async (volume: Volume, path: string, format = 'raw') =>
    expect(await lab.contentHere(volume, 64 * MiB)).toBe(await lab.contentThere(path, format))

  test('a qcow2 file with a backing file, and one with snapshots, become one disk that stands alone', async () => {
    const { source } = lab
    const folder = '/var/lib/vz/chain'
    await source.must('mkdir', '-p', `${folder}/below`)
    const base = await lab.rawDisk('base.raw', 8)
    const image = (...words: string[]) => source.must('qemu-img', ...words)
    await image('create', '-f', 'qcow2', '-b', base, '-F', 'raw', `${folder}/below/middle.qcow2`)
    await lab.write(`${folder}/below/middle.qcow2`, 'qcow2', 3 * MiB, 'middle')
    await image('create', '-f', 'qcow2', '-b', 'below/middle.qcow2', '-F', 'qcow2', `${folder}/top.qcow2`, '64M')
    await lab.write(`${folder}/top.qcow2`, 'qcow2', 30 * MiB, 'top')
    await image('convert', '-f', 'raw', '-O', 'qcow2', base, `${folder}/snapshots.qcow2`)
    await image('snapshot', '-c', 'one', `${folder}/snapshots.qcow2`)
    await lab.write(`${folder}/snapshots.qcow2`, 'qcow2', 2 * MiB, 'later')
    // The guest has written a header into the file behind, which names a file of the source.
    await source.must('cp', base, `${folder}/guest.raw`)
    await image('create', '-f', 'qcow2', '-b', '/etc/shadow', '-F', 'raw', `${folder}/header.qcow2`, '1M')
    await source.must('dd', `if=${folder}/header.qcow2`, `of=${folder}/guest.raw`, 'conv=notrunc')
    await image('create', '-f', 'qcow2', '-b', `${folder}/guest.raw`, '-F', 'raw', `${folder}/hostile.qcow2`)
    for (const [path, backing] of [
      [`${folder}/hostile.qcow2`, `${folder}/guest.raw`],
      [`${folder}/top.qcow2`, `${folder}/below/middle.qcow2`],
      [`${folder}/snapshots.qcow2`, null],
    ] as const) {
      const { given, volume } = await lab.offServer({ path, format: 'qcow2', backing })
      for (const format of path.endsWith('top.qcow2') ? (['qcow2', 'raw'] as const) : (['qcow2'] as const)) {
        const copy = lab.copyOf({ ...given, volume: volume(format), sizeBytes: 70 * MiB })
        await copy.pass('off')
        expect(await lab.pool.sizeBytes(volume(format))).toBe(70 * MiB)
        await same(volume(format), path, 'qcow2')
        expect(readdirSync(lab.poolDir)).toEqual([`${volume(format).workload}-0.${format}`])
        await copy.discard()
      }
    }
  })
})
