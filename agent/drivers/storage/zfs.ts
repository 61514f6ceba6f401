// Disks as volumes of ZFS (zvol) below one data set. A snapshot stays while a clone of it is there; a clone can take it
// over. Labels are user properties.
import { Failure } from '../../failure.ts'
import { run } from '../../host/exec.ts'
import type { Image } from '../images/images.ts'
import type { DiskEntry, Entries, Found, Point } from './block-layers.ts'
import { type BlockDriver, diskName, FULL_PERCENT, startIn, type TakesIn, WARN_PERCENT } from './block-pool.ts'
import { appears, fillDevice, isGone } from './device.ts'
import { zvolOfPath } from './device-paths.ts'
import type { Disk } from './storage.ts'

const LIMIT_SECONDS = 120
const LABEL = 'berth:layer'
/** ZFS 2.2's default; smaller blocks take more space on RAID-Z, larger ones make small writes slow. */
const BLOCK_BYTES = 16_384
/**
 * The host neither looks for partitions in a guest's disk nor snapshots it: a volume group of the guest's that the host
 * takes up, and a snapshot of a tool for all of a pool's data sets, keep a disk from being deleted.
 */
const OWN = ['volmode=dev', 'com.sun:auto-snapshot=false']
const WITH_OWN = OWN.flatMap((property) => ['-o', property])
/** udev looks at a new device and keeps it open for a moment. */
const BUSY_TRIES = 20
const BUSY_PAUSE_MS = 250

type Row = { entry: string; snapshot: string | undefined; origin: string; sizeBytes: number; label: string }

export class Zfs implements BlockDriver {
  readonly kind = 'zfs'
  readonly bond = 'promote'

  constructor(readonly path: string) {}

  names = async () =>
    (await this.rows()).filter(({ snapshot, entry }) => !snapshot && !entry.endsWith('.part')).map((row) => row.entry)

  async entries(name: string): Promise<Entries> {
    const disks: DiskEntry[] = []
    const points: Point[] = []
    for (const { entry, snapshot, origin, sizeBytes, label } of await this.rows()) {
      const start = startIn(name, entry)
      if (start === undefined) continue
      const taken = takenIn(snapshot)
      if (taken !== undefined) points.push({ disk: start, taken, layer: Number(label), sizeBytes })
      else if (!snapshot) {
        const layer = label === 'none' ? null : label === '-' ? start : Number(label)
        disks.push({ start, layer, sizeBytes, clonedFrom: takenIn(origin.split('@')[1]) })
      }
    }
    return { disks, points }
  }

  async create(name: string, sizeBytes: number, fill: (disk: Disk) => Promise<void>) {
    const part = `${name}.part`
    await this.removeRest(name)
    for (const entry of [part, name]) await isGone(this.device(entry))
    const how = ['-s', '-V', rounded(sizeBytes), '-o', `volblocksize=${BLOCK_BYTES}`, ...WITH_OWN]
    await this.zfs(['create', ...how, this.named(part)])
    await appears(this.device(part))
    await fill(this.at(part))
    await this.whenFree(['rename', this.named(part), this.named(name)])
    await appears(this.device(name))
  }

  fill = ({ path }: Disk, image: Image, sizeBytes: number) => fillDevice(path, image, sizeBytes)

  readonly outside: TakesIn = {
    isAt: async (path) => {
      const zvol = this.zvolAt(path)
      const ran = await run('zfs', ['list', '-H', '-r', '-t', 'volume,snapshot', '-o', 'name', zvol], {
        quietly: true,
        limitSeconds: LIMIT_SECONDS,
        mayFail: true,
      })
      if (ran.code !== 0 && !/does not exist/.test(ran.err)) await this.ask(['list', '-H', zvol])
      const found = ran.out.split('\n').filter(Boolean)
      if (found.length > 1)
        throw new Failure('source_disk_has_snapshots', `${zvol} has snapshots of ZFS, such as ${found[1]}`)
      return found.length === 1
    },
    takeIn: async (name, path) => {
      const zvol = this.zvolAt(path)
      await isGone(this.device(name))
      await this.zfs(['set', ...OWN, zvol])
      await this.whenFree(['rename', zvol, this.named(name)])
      await appears(this.device(name))
    },
    giveBack: async (name, disk, path) => {
      const zvol = this.zvolAt(path)
      await isGone(`/dev/zvol/${zvol}`)
      const entry = this.entryOf(name, { disk })
      for (const property of [...OWN.map((one) => one.split('=')[0]!), LABEL])
        await this.zfs(['inherit', property, entry])
      await this.whenFree(['rename', entry, zvol])
      await appears(path)
    },
  }

  private zvolAt(path: string): string {
    const zvol = zvolOfPath(path)
    const pool = this.path.split('/')[0]!
    if (!zvol?.startsWith(`${pool}/`))
      throw new Failure('source_disk_elsewhere', `${path} is no volume of the ZFS pool ${pool}`)
    return zvol
  }

  grow = (name: string, { start }: DiskEntry, sizeBytes: number) =>
    this.zfs(['set', `volsize=${rounded(sizeBytes)}`, this.named(diskName(name, start))])

  take = (name: string, { start }: DiskEntry, { taken, layer }: Pick<Point, 'taken' | 'layer'>) =>
    this.zfs(['snapshot', '-o', `${LABEL}=${layer}`, `${this.named(diskName(name, start))}@s${taken}`])

  async clone(name: string, point: Point, start: number) {
    const clone = diskName(name, start)
    await isGone(this.device(clone))
    await this.zfs(['clone', ...WITH_OWN, this.entryOf(name, { point }), this.named(clone)])
    await appears(this.device(clone))
  }

  label = (name: string, found: Found, layer: number | null) =>
    this.zfs(['set', `${LABEL}=${layer ?? 'none'}`, this.entryOf(name, found)])

  detach = (name: string, disk: DiskEntry) => this.zfs(['promote', this.entryOf(name, { disk })])
  revert = (name: string, _: DiskEntry, point: Point) => this.zfs(['rollback', this.entryOf(name, { point })])
  remove = (name: string, found: Found) => this.whenFree(['destroy', this.entryOf(name, found)])

  async removeRest(name: string) {
    const part = `${name}.part`
    const there = (await this.rows()).some(({ entry }) => entry === part)
    if (there) await this.whenFree(['destroy', this.named(part)])
  }

  async usedBytes(name: string, found: Found) {
    const { out } = await this.ask(['get', '-Hp', '-o', 'value', 'referenced', this.entryOf(name, found)])
    return Number(out.trim())
  }

  disk = (name: string, found: { start: number } | Point): Disk =>
    this.at('start' in found ? diskName(name, found.start) : `${diskName(name, found.disk)}@s${found.taken}`)

  async capacity() {
    const { out } = await this.ask(['get', '-Hp', '-o', 'value', 'used,available', this.path])
    const [used = 0, freeBytes = 0] = out.trim().split('\n').map(Number)
    const totalBytes = used + freeBytes
    const pool = this.path.split('/')[0]!
    const health = (
      await run('zpool', ['list', '-H', '-o', 'health', pool], { quietly: true, limitSeconds: LIMIT_SECONDS })
    ).out.trim()
    const fullPercent = totalBytes ? (used / totalBytes) * 100 : 100
    const warnings: string[] = []
    if (fullPercent >= WARN_PERCENT)
      warnings.push(
        `It is full to ${Math.floor(fullPercent)} %; from ${FULL_PERCENT} % on it takes no new disks. ` +
          `Enlarge it: zpool add ${pool} DEVICE`,
      )
    if (health !== 'ONLINE') warnings.push(`ZFS says that the pool ${pool} is ${health}: zpool status ${pool}`)
    return { totalBytes, freeBytes, fullPercent, ...(warnings.length && { warnings }) }
  }

  private named = (entry: string) => `${this.path}/${entry}`
  private at = (entry: string): Disk => ({
    kind: 'block',
    path: this.device(entry),
    format: 'raw',
    stopsWhenFull: true,
  })
  private device = (entry: string) => `/dev/zvol/${this.named(entry)}`
  private entryOf = (name: string, { disk, point }: Found) =>
    disk ? this.named(diskName(name, disk.start)) : `${this.named(diskName(name, point.disk))}@s${point.taken}`

  private async rows(): Promise<Row[]> {
    const columns = ['-o', `name,origin,volsize,${LABEL}`]
    const { out } = await this.ask(['list', '-Hp', '-r', '-t', 'volume,snapshot', ...columns, this.path])
    return out
      .split('\n')
      .map((line) => line.split('\t'))
      .filter(([path = '']) => path.startsWith(`${this.path}/`))
      .map(([path = '', origin = '-', size, label = '-']) => {
        const [entry = '', snapshot] = path.slice(this.path.length + 1).split('@')
        return { entry, snapshot, origin, sizeBytes: Number(size), label }
      })
  }

  private async whenFree(args: string[]) {
    for (let left = BUSY_TRIES; ; left--) {
      const ran = await run('zfs', args, { limitSeconds: LIMIT_SECONDS, mayFail: left > 0 })
      if (ran.code === 0 || !/busy/.test(ran.err)) {
        if (ran.code !== 0) await this.zfs(args)
        return
      }
      await Bun.sleep(BUSY_PAUSE_MS)
    }
  }

  private ask = (args: string[]) => run('zfs', args, { quietly: true, limitSeconds: LIMIT_SECONDS })
  private zfs = async (args: string[]): Promise<void> => void (await run('zfs', args, { limitSeconds: LIMIT_SECONDS }))
}

const rounded = (sizeBytes: number) => String(Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES)

function takenIn(snapshot: string | undefined): number | undefined {
  const digits = /^s([1-9][0-9]{0,5})$/.exec(snapshot ?? '')?.[1]
  return digits === undefined ? undefined : Number(digits)
}
