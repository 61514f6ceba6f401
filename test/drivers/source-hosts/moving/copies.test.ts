// A node copies disks from real source hypervisors of both panels, whose domains run meanwhile.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { loggingTo } from '../../../../agent/controller-link/job-log.ts'
import type { SourceDisk } from '../../../../agent/protocol/values/source-hosts.ts'
import type { Volume } from '../../../../agent/protocol/wire.ts'
import { volumeOf } from '../../../agent/examples.ts'
import { bootDisk, cloudInitDrive, domainXml } from '../../../support/source-hypervisors/domains.ts'
import { noSourceLab } from '../../../support/source-hypervisors/lab.ts'
import { note } from '../../tools.ts'
import { copiesContract } from './copies-contract.ts'
import { type CopyLab, copyLab } from './copy-lab.ts'

const MiB = 1 << 20
const IMAGES = '/var/lib/libvirt/images'
const uuid = (n: number) => `6f9d3c4e-2f0b-4f0e-9a54-${String(n).padStart(12, '0')}`

describe.skipIf(note(await noSourceLab(), 'copies from source hypervisors'))('copies from a real source', () => {
  let lab: CopyLab
  beforeAll(async () => {
    lab = await copyLab()
  }, 60_000)
  afterAll(async () => lab?.end())

  /** A server of the first panel, with a qcow2 disk of so many MiB of data, and its drive for cloud-init. */
  async function solusServer(n: number, dataMiB: number, format: 'qcow2' | 'raw' = 'qcow2') {
    const { source } = lab
    const [name, folder] = [uuid(n), `${IMAGES}/${n}`]
    await bootDisk(source, `${folder}/0`, format, 64 * MiB)
    await lab.fill(`${folder}/0`, format, dataMiB)
    await cloudInitDrive(source, `${folder}/cloud-init.iso`)
    const drives = [
      { path: `${folder}/0`, format },
      { path: `${folder}/cloud-init.iso`, device: 'cdrom', bus: 'ide', isReadOnly: true } as const,
    ]
    await source.domain('create', domainXml({ name, uuid: name, drives }))
    const drive: SourceDisk = {
      ...{ path: `${folder}/0`, format, holder: 'file', virtualBytes: 64 * MiB, backing: null },
    }
    return { domain: name, drive }
  }

  test('a transient server with a qcow2 disk: what its guest wrote since comes with the second pass', async () => {
    const { servers, source } = lab
    const { domain, drive } = await solusServer(1, 24)
    const of = { host: source.host, domain }
    const volume = volumeOf(1)
    const copy = lab.copyOf({ ...of, drive, volume, sizeBytes: 96 * MiB })
    const first = await copy.pass('running')
    expect(first.copiedBytes).toBeGreaterThan(20 * MiB)
    expect(await lab.pool.sizeBytes(volume)).toBeUndefined()
    await servers.save(of)
    await servers.stop(of, 20)
    await lab.write(drive.path, 'qcow2', 5 * MiB, 'written by the guest')
    const before = await lab.hashAt(drive.path)
    const told: string[] = []
    const job = { line: (level: string, text: string) => told.push(`${level}: ${text}`), progress: () => {} }
    const second = await loggingTo(job, () => copy.pass('off'))
    expect(second.changedBlocks).toBeLessThan(10)
    expect(await lab.hashAt(drive.path)).toBe(before)
    expect(await lab.pool.sizeBytes(volume)).toBe(96 * MiB)
    expect(await lab.contentHere(volume, 64 * MiB)).toBe(await lab.contentThere(drive.path, 'qcow2'))
    expect(await copy.pass('off')).toEqual(second)
    expect(readdirSync(lab.poolDir)).toEqual([`${volume.workload}-0.qcow2`])
    expect(told.join('\n')).toMatch(/command: \$ python -c .*\ninfo: exit 0, \d/)
    await copy.discard()
    expect(readdirSync(lab.poolDir)).toEqual([])
    expect(readdirSync(lab.copiesDir)).toEqual([])
  })

  let contracted = 50
  copiesContract(() => ({
    copies: lab.copies,
    servers: lab.servers,
    pool: lab.pool,
    async server() {
      const n = ++contracted
      const server = await solusServer(n, 8)
      return { ...server, host: lab.source.host, volume: volumeOf(n), sizeBytes: 64 * MiB }
    },
    write: ({ drive }) => lab.write(drive.path, drive.format, 3 * MiB, 'guest'),
    isSame: async ({ drive, volume }) =>
      (await lab.contentHere(volume, 64 * MiB)) === (await lab.contentThere(drive.path, drive.format)),
  }))

  const same = async (volume: Volume, path: string, format = 'raw') =>
    expect(await lab.contentHere(volume, 64 * MiB)).toBe(await lab.contentThere(path, format))

  test('a running server with a raw disk, into either format: only changes come with the second pass', async () => {
    const { servers, source } = lab
    for (const [n, format] of [
      [2, 'qcow2'],
      [3, 'raw'],
    ] as const) {
      const { domain, drive } = await solusServer(n, 24, 'raw')
      const of = { host: source.host, domain }
      const volume = volumeOf(n, format)
      const copy = lab.copyOf({ ...of, drive, volume, sizeBytes: 80 * MiB })
      await copy.pass('running')
      await servers.save(of)
      await servers.stop(of, 20)
      await lab.write(drive.path, 'raw', 5 * MiB, 'guest')
      await lab.write(drive.path, 'raw', 60 * MiB, 'guest')
      await source.must('qemu-io', '-f', 'raw', '-c', `write -z ${8 * MiB} ${MiB}`, drive.path)
      const before = await lab.hashAt(drive.path)
      const { changedBlocks, copiedBytes } = await copy.pass('off')
      expect([changedBlocks, copiedBytes]).toEqual([18, 2 * 65_536])
      expect(await lab.hashAt(drive.path)).toBe(before)
      expect(await lab.pool.sizeBytes(volume)).toBe(80 * MiB)
      await same(volume, drive.path)
      await copy.discard()
    }
  })

  test('a persistent server on a block device that is off: the plain way, and its holes take no space', async () => {
    const { source } = lab
    const path = await lab.rawDisk('device.raw', 16)
    const device = (await source.must('losetup', '-f', '--show', path)).trim()
    try {
      const kind = { kind: 'block', xml: `<source dev='${device}'/>` }
      const { given, volume } = await lab.offServer({ path: device, holder: 'lvm' }, kind)
      const copy = lab.copyOf({ ...given, volume: volume('qcow2'), sizeBytes: 64 * MiB })
      const before = await lab.hashAt(device)
      const { copiedBytes, totalBytes } = await copy.pass('off')
      expect(totalBytes).toBe(64 * MiB)
      expect(copiedBytes).toBeLessThan(17 * MiB)
      expect(await lab.hashAt(device)).toBe(before)
      await same(volume('qcow2'), path)
      expect(await lab.pool.usedBytes(volume('qcow2'))).toBeLessThan(18 * MiB)
      await copy.discard()
    } finally {
      await source.must('losetup', '-d', device)
    }
  })
})
