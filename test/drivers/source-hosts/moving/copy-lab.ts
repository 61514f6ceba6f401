// A source hypervisor, and a node with a pool of files that copies from it.
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { SshSourceCopies } from '../../../../agent/drivers/source-host/ssh-source-copies.ts'
import { SshSourceHosts } from '../../../../agent/drivers/source-host/ssh-source-hosts.ts'
import { SshSourceServers } from '../../../../agent/drivers/source-host/ssh-source-servers.ts'
import { FilePool } from '../../../../agent/drivers/storage/file.ts'
import type { Pool } from '../../../../agent/drivers/storage/storage.ts'
import type { SourceDisk } from '../../../../agent/protocol/values/source-hosts.ts'
import type { Input, Volume } from '../../../../agent/protocol/wire.ts'
import { volumeOf } from '../../../agent/examples.ts'
import { temporary } from '../../../agent/temporary.ts'
import { runs } from '../../../support/nodes/transfer-lab.ts'
import { bootDisk, type DriveOf, domainXml } from '../../../support/source-hypervisors/domains.ts'
import { ROOT_PASSWORD, sourceLab } from '../../../support/source-hypervisors/lab.ts'
import { enterNetwork, smallFileSystem } from '../../namespace.ts'

export type CopyLab = Awaited<ReturnType<typeof copyLab>>
type Given = Pick<Input<'source-host.copy'>, 'host' | 'domain' | 'drive' | 'volume' | 'sizeBytes'> &
  Partial<Pick<Input<'source-host.copy'>, 'maxMbps'>>

const GIVE_UP_MS = 5000
const MiB = 1 << 20

export async function copyLab() {
  const lab = await sourceLab(['a'], 'cp')
  const source = lab.hypervisors[0]!
  const leave = enterNetwork(lab.nodes)
  const dir = temporary('copy-node')
  const poolDir = join(dir, 'pool')
  mkdirSync(poolDir, { mode: 0o711 })
  const hosts = new SshSourceHosts(join(dir, 'source-hosts'))
  const servers = new SshSourceServers(hosts)
  const copiesDir = join(dir, 'source-copies')
  const copies = new SshSourceCopies(servers, copiesDir, GIVE_UP_MS)
  const pool: Pool = new FilePool('local', poolDir)
  const keys = [{ nodeId: `nod_${'1'.repeat(26)}`, publicKey: await hosts.key(), from: [] }]
  await hosts.addKeys({ host: source.host, password: ROOT_PASSWORD, keys }).catch(async (error) => {
    // The next file makes a lab of the same name.
    leave()
    await lab.end()
    throw error
  })
  let made = 0
  let serversMade = 1000
  const spaces: Awaited<ReturnType<typeof smallFileSystem>>[] = []

  /** Writes random bytes into a disk at the source, behind its first MiB. */
  async function fill(path: string, format: string, mib: number) {
    await source.must('sh', '-c', `head -c ${mib << 20} /dev/urandom >/var/tmp/random`)
    const raw = format === 'raw' ? path : `${path}.raw`
    if (format !== 'raw') await source.must('qemu-img', 'convert', '-f', format, '-O', 'raw', path, raw)
    await source.must('dd', 'if=/var/tmp/random', `of=${raw}`, 'bs=1M', 'seek=1', 'conv=notrunc')
    if (format === 'raw') return
    await source.must('qemu-img', 'convert', '-f', 'raw', '-O', format, raw, path)
    await source.must('rm', raw)
  }

  return {
    ...{ copies, copiesDir, dir, hosts, pool, poolDir, servers, source, volumeOf },
    /** The passes of a copy, by this node or by one that takes its place after a kill. */
    copyOf(given: Given, into = pool) {
      const copy = `ims_${String(++made).padStart(26, '0')}`
      return {
        copy,
        given,
        pass: (pass: 'running' | 'off', by = copies) => by.copy({ copy, maxMbps: null, ...given, pass, pool: into }),
        discard: (by = copies) => by.discard(copy, given.volume, into),
      }
    },
    fill,
    /** Writes as a guest would, with its server off. */
    async write(path: string, format: string, offset: number, words: string) {
      const pattern = createHash('sha1').update(words).digest()[0]!
      await source.must('qemu-io', '-f', format, '-c', `write -P ${pattern} ${offset} 65536`, path)
    },
    /** A server of the second panel that is off. Its volume has the number of the server. */
    async offServer(drive: Pick<SourceDisk, 'path'> & Partial<SourceDisk>, other?: DriveOf['source']) {
      const n = ++serversMade
      const domain = `v${n}`
      const { path, format = 'raw', holder = 'file', virtualBytes = 64 * MiB, backing = null } = drive
      const inXml = path.replaceAll("'", '&apos;')
      await source.domain(
        'define',
        domainXml({ name: domain, drives: [{ path: inXml, format, ...(other && { source: other }) }] }),
      )
      const volume = (as: Volume['format']) => volumeOf(n, as)
      const given = { host: source.host, domain, drive: { path, format, holder, virtualBytes, backing } }
      return { domain, given, volume }
    },
    /** A raw disk of 64 MiB with so much data. */
    async rawDisk(name: string, mib = 24, bytes = 64 * MiB) {
      const path = `/var/lib/vz/${name}`
      await bootDisk(source, path, 'raw', bytes)
      await fill(path, 'raw', mib)
      return path
    },
    hashAt: async (path: string) => (await source.must('sha256sum', path)).split(' ')[0]!,
    /** The content as the guest sees it. */
    async contentThere(path: string, format: string) {
      const raw = '/var/tmp/content.raw'
      await source.must('qemu-img', 'convert', '-f', format, '-O', 'raw', path, raw)
      const found = (await source.must('sha256sum', raw)).split(' ')[0]!
      await source.must('rm', raw)
      return found
    },
    async contentHere(volume: Volume, bytes: number, of = pool) {
      const disk = await of.disk(volume)
      const raw = join(dir, 'content.raw')
      const converted = await runs(['qemu-img', 'convert', '-f', disk.format, '-O', 'raw', disk.path, raw])
      if (converted.code !== 0) throw new Error(converted.err)
      const found = createHash('sha256')
        .update(Buffer.from(await Bun.file(raw).slice(0, bytes).arrayBuffer()))
        .digest('hex')
      await runs(['rm', raw])
      return found
    },
    /** A pool of files that has so much space. */
    async smallPool(mib: number): Promise<Pool> {
      const space = await smallFileSystem(mib)
      spaces.push(space)
      return new FilePool('local', space.path)
    },
    /** Somebody else writes there until nothing is left. */
    fillPool: ({ described }: Pool) => runs(['dd', 'if=/dev/zero', `of=${described.path}/other`, 'bs=1M']),
    async end() {
      for (const space of spaces) await space.end()
      leave()
      await lab.end()
    },
  }
}
