// Disks as images of a pool of Ceph, which QEMU reaches by itself. A snapshot stays while a clone of it has not all of
// its content. The label of an image is in its metadata, that of a snapshot is part of its name.
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { find, type Options, type Program, run } from '../../host/exec.ts'
import type { Image } from '../images/images.ts'
import type { DiskEntry, Entries, Found, Point } from './block-layers.ts'
import { type BlockDriver, diskName, FULL_PERCENT, startIn, WARN_PERCENT } from './block-pool.ts'
import { CEPH_WAITS, type Disk, qemuPath, type RbdAccess } from './storage.ts'

/** More than `CEPH_WAITS`, so that Ceph itself says that the cluster does not answer. */
const ASK_SECONDS = 60
const CHANGE_SECONDS = 300
const COPY_SECONDS = 3600
const LABEL = 'berth.layer'
/** A client that was killed keeps its images open until Ceph misses it, 30 s later (`osd client watch timeout`). */
const WATCHED_LIMIT_MS = 60_000
const WATCHED_PAUSE_MS = 2000
const FORGETS_MS = 45_000

type Snapshot = { name: string; size: number; protected: string }
type Info = { size: number; parent?: { image: string; snapshot: string } }

export class Rbd implements BlockDriver {
  readonly kind = 'rbd'
  readonly bond = 'flatten'
  readonly forgetsMs = FORGETS_MS
  #known: string | undefined

  /** `scratchDir`: where images are unpacked on their way into the cluster. */
  constructor(
    readonly path: string,
    private access: RbdAccess,
    private scratchDir: string,
  ) {
    // A crash may have left an image there.
    rmSync(scratchDir, { recursive: true, force: true })
  }

  names = async () => (await this.images()).filter((image) => !image.endsWith('.part'))

  async entries(name: string): Promise<Entries> {
    const all = await this.images()
    const found = await Promise.all(all.map((image) => this.entriesOf(name, image)))
    return { disks: found.flatMap(({ disks }) => disks), points: found.flatMap(({ points }) => points) }
  }

  private async entriesOf(name: string, image: string): Promise<Entries> {
    const start = startIn(name, image)
    if (start === undefined) return { disks: [], points: [] }
    const [info, snapshots, label] = await Promise.all([
      this.json<Info>(['info', this.named(image)]),
      this.json<Snapshot[]>(['snap', 'ls', this.named(image)]),
      this.labelOf(image, start),
    ])
    const layer = label === undefined ? start : label === 'none' ? null : Number(label)
    const clonedFrom = info.parent && takenIn(info.parent.snapshot)?.taken
    return {
      disks: [{ start, layer, sizeBytes: info.size, clonedFrom }],
      points: snapshots.flatMap(({ name: snapshot, size }) => {
        const of = takenIn(snapshot)
        return of ? [{ disk: start, ...of, sizeBytes: size }] : []
      }),
    }
  }

  async create(name: string, sizeBytes: number, fill: (disk: Disk) => Promise<void>) {
    const part = `${name}.part`
    await this.removeRest(name)
    await this.rbd(['create', '--size', `${sizeBytes}B`, this.named(part)])
    await fill(this.at(part))
    await this.rbd(['mv', this.named(part), this.named(name)])
  }

  /** By a file, because the reader of a stranger's image has no network. */
  async fill(disk: Disk, image: Image) {
    mkdirSync(this.scratchDir, { recursive: true, mode: 0o711 })
    const dir = mkdtempSync(join(this.scratchDir, 'fill-'))
    const file = join(dir, 'disk.raw')
    writeFileSync(file, '', { mode: 0o600 })
    try {
      await run('qemu-img', ['convert', '-f', image.format, '-O', 'raw', '--', image.path, file], {
        limitSeconds: COPY_SECONDS,
        confined: { reads: image.path, writes: file, mostFileBytes: image.virtualSizeBytes + (64 << 20) },
      })
      const how = ['-n', '--target-is-zero', '-W', '-f', 'raw', '-O', 'raw']
      await run('qemu-img', ['convert', ...how, '--', file, qemuPath(disk)], { limitSeconds: COPY_SECONDS })
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  }

  grow = (name: string, disk: DiskEntry, sizeBytes: number) =>
    this.rbd(['resize', '--no-progress', '--size', `${sizeBytes}B`, this.entryOf(name, { disk })])

  take = (name: string, disk: DiskEntry, { taken, layer }: Pick<Point, 'taken' | 'layer'>) =>
    this.rbd(['snap', 'create', '--no-progress', `${this.entryOf(name, { disk })}@s${taken}.${layer}`])

  async clone(name: string, point: Point, start: number) {
    const from = this.entryOf(name, { point })
    await this.protect(from, true)
    await this.rbd(['clone', from, this.named(diskName(name, start))])
  }

  async label(name: string, found: Found, layer: number | null) {
    const entry = this.entryOf(name, found)
    if (found.disk) return this.rbd(['image-meta', 'set', entry, LABEL, `${found.disk.start}:${layer ?? 'none'}`])
    const { disk, taken } = found.point
    await this.rbd(['snap', 'rename', entry, `${this.named(diskName(name, disk))}@s${taken}.${layer}`])
  }

  detach = (name: string, disk: DiskEntry) =>
    this.rbd(['flatten', '--no-progress', this.entryOf(name, { disk })], COPY_SECONDS)

  /** The snapshots keep what they have when the image above them is cut to nothing. */
  async revert(name: string, disk: DiskEntry) {
    if (disk.sizeBytes > 0)
      await this.rbd(
        ['resize', '--no-progress', '--allow-shrink', '--size', '0B', this.entryOf(name, { disk })],
        COPY_SECONDS,
      )
  }

  async remove(name: string, found: Found) {
    const entry = this.entryOf(name, found)
    if (found.disk) return this.removeImage(entry)
    await this.protect(entry, false)
    await this.rbd(['snap', 'rm', '--no-progress', entry], COPY_SECONDS)
  }

  async removeRest(name: string) {
    const part = `${name}.part`
    if ((await this.images()).includes(part)) await this.removeImage(this.named(part))
  }

  private async removeImage(image: string) {
    const args = ['rm', '--no-progress', image]
    for (const until = performance.now() + WATCHED_LIMIT_MS; performance.now() < until; ) {
      const { code, err } = await this.run('rbd', args, { limitSeconds: COPY_SECONDS, mayFail: true })
      if (code === 0) return
      if (!/watchers/.test(err)) break
      await Bun.sleep(WATCHED_PAUSE_MS)
    }
    await this.rbd(args, COPY_SECONDS)
  }

  async usedBytes(name: string, found: Found) {
    const image = this.named(diskName(name, found.disk?.start ?? found.point!.disk))
    const { images } = await this.json<{ images: { snapshot?: string; used_size: number }[] }>(['du', image])
    // Each has what changed since the one before it, so all up to this one are its content.
    const last = found.point && `s${found.point.taken}.${found.point.layer}`
    const end = last === undefined ? images.length : images.findIndex(({ snapshot }) => snapshot === last) + 1
    return images.slice(0, end).reduce((sum, { used_size }) => sum + used_size, 0)
  }

  disk = (name: string, found: { start: number } | Point): Disk =>
    this.at(
      'start' in found ? diskName(name, found.start) : `${diskName(name, found.disk)}@s${found.taken}.${found.layer}`,
    )

  async capacity() {
    const { pools } = JSON.parse(await this.ceph(['df'])) as {
      pools: { name: string; stats: { stored: number; max_avail: number } }[]
    }
    const stats = pools.find(({ name }) => name === this.path)?.stats
    if (!stats) throw new Error(`the cluster has no pool ${this.path}`)
    const totalBytes = stats.stored + stats.max_avail
    const fullPercent = totalBytes ? (stats.stored / totalBytes) * 100 : 100
    const warnings =
      fullPercent >= WARN_PERCENT
        ? [`It is full to ${Math.floor(fullPercent)} %; from ${FULL_PERCENT} % on it takes no new disks. Add an OSD.`]
        : []
    // Told at every heartbeat. What is moved by it asks the cluster again.
    const storage = (this.#known ??= await this.storage())
    return { totalBytes, freeBytes: stats.max_avail, fullPercent, storage, ...(warnings.length && { warnings }) }
  }

  /** Clusters of the same configuration and pools of the same name may be others, so the cluster names itself. */
  async storage() {
    const { fsid } = JSON.parse(await this.ceph(['fsid'])) as { fsid: string }
    return (this.#known = `rbd ${fsid}/${this.path}`)
  }

  /** QEMU watches an image as long as it has it open for writing, also while another has the lock. */
  async openedBy(image: string) {
    const { watchers = [] } = await this.json<{ watchers?: { address: string }[] }>(['status', this.named(image)])
    const own = new Set(Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address)))
    const hosts = watchers.map(({ address }) => address.replace(/:\d+\/\d+$/, '').replace(/^\[(.*)\]$/, '$1'))
    return hosts.filter((host) => !own.has(host))
  }

  async problems() {
    const { auth } = this.access
    if (!auth) return []
    const { user, keyringFile, secretUuid } = auth
    const keyring = keyringFile && statSync(keyringFile, { throwIfNoEntry: false })
    const asked = { quietly: true, mayFail: true, limitSeconds: 10 }
    const look = ['-c', 'qemu:///system', 'secret-dumpxml', secretUuid]
    const hasSecret = find('virsh') === undefined || (await run('virsh', look, asked)).code === 0
    return [
      ...(keyringFile && !keyring ? [`There is no ${keyringFile}.`] : []),
      ...(keyring && keyring.mode & 0o077 ? [`Others may read its key: chmod 600 ${keyringFile}`] : []),
      ...(!hasSecret
        ? [`No vm can open a disk: libvirt has no secret ${secretUuid} with the key of client.${user}.`]
        : []),
    ]
  }

  private at = (image: string): Disk => ({
    kind: 'network',
    protocol: 'rbd',
    path: this.named(image),
    format: 'raw',
    access: this.access,
  })
  private named = (image: string) => `${this.path}/${image}`
  private entryOf = (name: string, { disk, point }: Found) =>
    disk
      ? this.named(diskName(name, disk.start))
      : `${this.named(diskName(name, point.disk))}@s${point.taken}.${point.layer}`

  private images = () => this.json<string[]>(['ls', this.path])

  /** A clone gets the metadata of its parent, so a label names the start of the image that it is for. */
  private async labelOf(image: string, start: number): Promise<string | undefined> {
    const { [LABEL]: label = '' } = await this.json<Record<string, string>>(['image-meta', 'ls', this.named(image)])
    const [of, layer] = label.split(':')
    return of === String(start) ? layer : undefined
  }

  /** Only a snapshot that is protected can be cloned, and only one that is not can be removed. */
  private async protect(snapshot: string, on: boolean) {
    const [image = '', name] = snapshot.split('@')
    const there = (await this.json<Snapshot[]>(['snap', 'ls', image])).find((listed) => listed.name === name)
    if (there && (there.protected === 'true') !== on) await this.rbd(['snap', on ? 'protect' : 'unprotect', snapshot])
  }

  private login() {
    const { configFile, auth } = this.access
    const keyring = auth?.keyringFile ? ['--keyring', auth.keyringFile] : []
    const waits = Object.entries(CEPH_WAITS).map(([option, seconds]) => `--${option}=${seconds}`)
    // Its own log would stand before what it says of a failure.
    return ['--conf', configFile, ...(auth ? ['--id', auth.user] : []), ...keyring, ...waits, '--log_to_stderr=false']
  }

  private async json<T>(args: string[]): Promise<T> {
    const asked = { quietly: true, limitSeconds: ASK_SECONDS }
    const { out } = await this.run('rbd', [...args, '--format', 'json'], asked)
    // An image without metadata has an empty answer.
    return JSON.parse(out.trim() || '{}') as T
  }
  private async ceph(args: string[]): Promise<string> {
    const keyring = this.access.auth?.keyringFile
    // `ceph` looks for a keyring before it reads its arguments, and complains.
    const asked = { quietly: true, limitSeconds: ASK_SECONDS, ...(keyring && { env: { CEPH_KEYRING: keyring } }) }
    return (await this.run('ceph', [...args, '--format', 'json'], asked)).out
  }
  private rbd = async (args: string[], limitSeconds = CHANGE_SECONDS): Promise<void> =>
    void (await this.run('rbd', args, { limitSeconds }))
  /** The login last: a failure is told with the first word. */
  private run = (program: Program, args: string[], options: Options) =>
    run(program, [...args, ...this.login()], options)
}

function takenIn(snapshot: string): { taken: number; layer: number } | undefined {
  const [, taken, layer] = /^s([1-9][0-9]{0,5})\.([0-9]{1,6})$/.exec(snapshot) ?? []
  return taken === undefined ? undefined : { taken: Number(taken), layer: Number(layer) }
}
