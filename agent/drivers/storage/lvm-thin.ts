// Disks as thin volumes of LVM. A snapshot is a thin volume too, which is not active; each lives for itself. Labels are
// tags: a change of tags is one change of the volume group's metadata.
//
// A thick volume of the group that is taken in stays thick, and has the pool's name in a tag. It is listed, read,
// written, backed up and deleted as others are. It has no snapshots, because LVM would have to reserve space for each;
// and it does not grow, because LVM does not clear what it adds, and that was another server's. Whatever makes a new
// disk of it (a restored backup, a move, a reinstallation) makes a thin one.
import { Failure } from '../../failure.ts'
import { run } from '../../host/exec.ts'
import type { Image } from '../images/images.ts'
import type { DiskEntry, Entries, Found, Point } from './block-layers.ts'
import { type BlockDriver, diskName, FULL_PERCENT, startIn, type TakesIn, WARN_PERCENT } from './block-pool.ts'
import { appears, fillDevice } from './device.ts'
import { volumeOfPath } from './device-paths.ts'
import type { Disk } from './storage.ts'

/** On a host with many volumes every change writes all metadata. */
const LIMIT_SECONDS = 120
const LABEL = 'berth.layer='
/** Of a thick volume: the thin pool as whose disk it counts. */
const POOL = 'berth.pool='
/** Plain and thin volumes, and those of several devices; by the first letter of their attributes. */
const DISKS = '-VrRmM'
/** LVM makes no thin volume while less of the metadata is free than this, or than a quarter of it. */
const LVM_KEEPS_BYTES = 4 << 20
type Row = { lv_name: string; lv_size: string; data_percent: string; lv_tags: string; pool_lv: string }
type Outside = Row & { lv_attr: string }
type PoolRow = {
  lv_size: string
  data_percent: string
  metadata_percent: string
  lv_metadata_size: string
  zero: string
  lv_when_full: string
  lv_health_status: string
}

export class LvmThin implements BlockDriver {
  readonly kind = 'lvm-thin'
  readonly bond = 'none'
  readonly path: string

  constructor(
    private group: string,
    private thinPool: string,
  ) {
    this.path = `${group}/${thinPool}`
  }

  names = async () => (await this.rows()).map((row) => row.lv_name).filter((name) => !name.endsWith('.part'))

  async entries(name: string): Promise<Entries> {
    const disks: DiskEntry[] = []
    const points: Point[] = []
    for (const { lv_name, lv_size, lv_tags } of await this.rows()) {
      const label = labelIn(lv_tags)
      const sizeBytes = Number(lv_size)
      const start = startIn(name, lv_name)
      const taken = takenIn(name, lv_name)
      if (start !== undefined) disks.push({ start, layer: label === undefined ? start : label, sizeBytes })
      // Snapshots are made with their label.
      else if (taken !== undefined && typeof label === 'number')
        points.push({ disk: -1, taken, layer: label, sizeBytes })
    }
    return { disks, points }
  }

  async create(name: string, sizeBytes: number, fill: (disk: Disk) => Promise<void>) {
    const { zero } = await this.pool()
    // Without it a block that is written in part shows what its earlier owner left in the rest.
    if (zero !== 'zero')
      throw new Failure(
        'pool_unsafe',
        `the thin pool ${this.path} does not zero new blocks, so a disk would show another's data: ` +
          `lvchange --zero y ${this.path}`,
      )
    const part = `${name}.part`
    await this.removeRest(name)
    await this.lvm('lvcreate', ['-y', '-V', `${sizeBytes}b`, '-T', this.path, '-n', part])
    await fill(this.at(part))
    await this.lvm('lvrename', [this.group, part, name])
  }

  fill = ({ path }: Disk, image: Image, sizeBytes: number) => fillDevice(path, image, sizeBytes)

  readonly outside: TakesIn = {
    isAt: async (path) => (await this.outsider(path)) !== undefined,
    takeIn: async (name, path) => {
      const { lv_name, pool_lv } = (await this.outsider(path))!
      if (pool_lv === '') await this.lvm('lvchange', ['--addtag', `${POOL}${this.thinPool}`, this.named(lv_name)])
      await this.lvm('lvrename', [this.group, lv_name, name])
      await appears(this.at(name).path)
    },
    giveBack: async (name, { start }, path) => {
      const entry = diskName(name, start)
      const lv = volumeOfPath(path)!.split('/')[1]!
      const tags = (await this.rows()).find(({ lv_name }) => lv_name === entry)?.lv_tags ?? ''
      await this.lvm('lvrename', [this.group, entry, lv])
      const own = tags.split(',').filter((tag) => tag.startsWith('berth.'))
      if (own.length) await this.lvm('lvchange', [...own.flatMap((tag) => ['--deltag', tag]), this.named(lv)])
      await appears(path)
    },
  }

  private async outsider(path: string): Promise<Outside | undefined> {
    const [group, lv] = volumeOfPath(path)?.split('/') ?? []
    if (group !== this.group)
      throw new Failure('source_disk_elsewhere', `${path} is no volume of the volume group ${this.group}`)
    const rows = await this.report<Outside>('lv_name,lv_size,data_percent,lv_tags,pool_lv,lv_attr', this.group)
    const found = rows.find(({ lv_name }) => lv_name === lv)
    if (!found) return undefined
    if (found.pool_lv !== '' && found.pool_lv !== this.thinPool)
      throw new Failure(
        'source_disk_elsewhere',
        `${path} is in the thin pool ${found.pool_lv}, not in ${this.thinPool}`,
      )
    if (/^o/i.test(found.lv_attr))
      throw new Failure('source_disk_has_snapshots', `${path} has snapshots of LVM, which would go with it`)
    if (!DISKS.includes(found.lv_attr[0]!))
      throw new Failure('source_disk_elsewhere', `${path} is no disk of its own for LVM: ${found.lv_attr}`)
    return found
  }

  private async mustBeThin(name: string, { start }: DiskEntry) {
    const entry = diskName(name, start)
    const row = (await this.rows()).find(({ lv_name }) => lv_name === entry)
    if (row?.pool_lv === '')
      throw new Failure(
        'disk_is_thick',
        `${this.named(entry)} is a thick volume of LVM, as it was before it was adopted: it does not grow and has no ` +
          'snapshots. A move, or a backup that is restored, makes a thin one of it',
      )
  }

  async grow(name: string, disk: DiskEntry, sizeBytes: number) {
    const { start } = disk
    await this.mustBeThin(name, disk)
    await this.lvm('lvextend', ['-L', `${sizeBytes}b`, this.named(diskName(name, start))])
  }

  async take(name: string, disk: DiskEntry, { taken, layer }: Pick<Point, 'taken' | 'layer'>) {
    const { start } = disk
    await this.mustBeThin(name, disk)
    const what = ['-n', `${name}.s${taken}`, '--addtag', `${LABEL}${layer}`, this.named(diskName(name, start))]
    await this.lvm('lvcreate', ['-y', '-s', '-pr', ...what])
  }

  /** -kn: unlike a snapshot it is activated when the host starts. */
  async clone(name: string, { taken }: Point, start: number) {
    const what = ['-n', diskName(name, start), this.named(`${name}.s${taken}`)]
    await this.lvm('lvcreate', ['-y', '-s', '-prw', '-kn', '-ay', ...what])
  }

  async label(name: string, found: Found, layer: number | null) {
    const entry = this.entryOf(name, found)
    const row = (await this.rows()).find(({ lv_name }) => lv_name === entry)
    const old = (row?.lv_tags ?? '').split(',').filter((tag) => tag.startsWith(LABEL))
    const next = `${LABEL}${layer ?? 'none'}`
    const change = [...old.filter((tag) => tag !== next).flatMap((tag) => ['--deltag', tag]), '--addtag', next]
    await this.lvm('lvchange', [...change, this.named(entry)])
  }

  remove = async (name: string, found: Found) => this.lvremove(this.entryOf(name, found))
  removeRest = async (name: string) => this.lvremove(`${name}.part`)

  /** LVM knows the use of active volumes alone. */
  async usedBytes(name: string, found: Found) {
    const entry = this.entryOf(name, found)
    const used = async () => (await this.rows()).find(({ lv_name }) => lv_name === entry)
    let row = await used()
    if (row?.pool_lv === '') return Number(row.lv_size)
    if (row?.data_percent === '') {
      await this.lvm('lvchange', ['-ay', '-K', this.named(entry)])
      row = await used()
      await this.lvm('lvchange', ['-an', this.named(entry)])
    }
    return row ? Math.round((Number(row.lv_size) * Number(row.data_percent)) / 100) : 0
  }

  disk = (name: string, found: { start: number } | Point): Disk =>
    this.at('start' in found ? diskName(name, found.start) : `${name}.s${found.taken}`)

  async capacity() {
    const pool = await this.pool()
    const totalBytes = Number(pool.lv_size)
    const { metadataTotalBytes, metadata } = usableMetadata(
      Number(pool.lv_metadata_size),
      Number(pool.metadata_percent),
    )
    const data = Number(pool.data_percent)
    const free = (total: number, percent: number) => Math.max(0, Math.floor((total * (100 - percent)) / 100))
    const warnings: string[] = []
    for (const [what, percent] of [['data', data] as const, ['metadata', metadata] as const])
      if (percent >= WARN_PERCENT)
        warnings.push(
          `Its ${what} is full to ${Math.floor(percent)} %; from ${FULL_PERCENT} % on it takes no new disks. ` +
            `Enlarge it: lvextend ${what === 'data' ? '-L' : '--poolmetadatasize'} +SIZE ${this.path}`,
        )
    if (pool.zero !== 'zero') warnings.push(`It does not zero new blocks: lvchange --zero y ${this.path}`)
    if (pool.lv_when_full !== 'error')
      warnings.push(`Writes hang for a minute when it is full: lvchange --errorwhenfull y ${this.path}`)
    if (pool.lv_health_status) warnings.push(`LVM says that it is unwell: ${pool.lv_health_status}`)
    return {
      totalBytes,
      freeBytes: free(totalBytes, data),
      metadataTotalBytes,
      metadataFreeBytes: free(metadataTotalBytes, metadata),
      fullPercent: Math.max(data, metadata),
      ...(metadata > data && { fullPart: 'metadata' as const }),
      ...(warnings.length && { warnings }),
    }
  }

  private entryOf = (name: string, { disk, point }: Found) =>
    disk ? diskName(name, disk.start) : `${name}.s${point.taken}`
  private named = (volume: string) => `${this.group}/${volume}`
  private at = (volume: string): Disk => ({
    kind: 'block',
    path: `/dev/${this.group}/${volume}`,
    format: 'raw',
    stopsWhenFull: true,
  })

  private async lvremove(volume: string) {
    const there = (await this.rows()).some(({ lv_name }) => lv_name === volume)
    if (there) await this.lvm('lvremove', ['-y', '-f', this.named(volume)])
  }

  private async rows(): Promise<Row[]> {
    const rows = await this.report<Row>('lv_name,lv_size,data_percent,lv_tags,pool_lv', this.group)
    const isOwn = ({ pool_lv, lv_tags }: Row) =>
      pool_lv === this.thinPool || (pool_lv === '' && lv_tags.split(',').includes(`${POOL}${this.thinPool}`))
    return rows.filter(isOwn)
  }

  private async pool(): Promise<PoolRow> {
    const figures = 'lv_size,data_percent,metadata_percent,lv_metadata_size,zero,lv_when_full,lv_health_status'
    const [row] = await this.report<PoolRow>(figures, this.path)
    if (!row || row.data_percent === '') {
      const unwell = row?.lv_health_status
      const why = unwell ? `is ${unwell}: lvconvert --repair ${this.path}` : `is not active: lvchange -ay ${this.path}`
      throw new Failure('no_pool', row ? `the thin pool ${this.path} ${why}` : `there is no thin pool ${this.path}`)
    }
    return row
  }

  private async report<R>(columns: string, what: string): Promise<R[]> {
    const how = ['--reportformat', 'json', '--units', 'b', '--nosuffix', '-o', columns]
    const { out } = await run('lvs', [...how, what], { quietly: true, limitSeconds: LIMIT_SECONDS })
    return (JSON.parse(out) as { report: { lv: R[] }[] }).report.flatMap(({ lv }) => lv)
  }

  private lvm = (program: 'lvcreate' | 'lvchange' | 'lvextend' | 'lvrename' | 'lvremove', args: string[]) =>
    run(program, args, { limitSeconds: LIMIT_SECONDS })
}

/**
 * The figures such that LVM's own limit is at `FULL_PERCENT`, where that comes earlier: with metadata of less than 40
 * MiB. dm-thin's reserve, behind which a pool takes no writes, is in LVM's percentage already.
 */
export function usableMetadata(totalBytes: number, percent: number) {
  const limitPercent = 100 - Math.min(25, (LVM_KEEPS_BYTES / totalBytes) * 100)
  const scale = Math.max(1, FULL_PERCENT / limitPercent)
  return { metadataTotalBytes: Math.floor(totalBytes / scale), metadata: Math.min(100, percent * scale) }
}

/** The label among the tags; null: nothing needs the content; undefined: there is none. */
function labelIn(tags: string): number | null | undefined {
  const label = tags.split(',').find((tag) => tag.startsWith(LABEL))
  if (label === undefined) return undefined
  const value = label.slice(LABEL.length)
  return value === 'none' ? null : Number(value)
}

function takenIn(name: string, found: string): number | undefined {
  const digits = found.startsWith(`${name}.s`) ? found.slice(name.length + 2) : ''
  return /^[1-9][0-9]{0,5}$/.test(digits) ? Number(digits) : undefined
}
