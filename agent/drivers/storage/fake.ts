import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../../failure.ts'
import type { PoolCapacity, Volume } from '../../protocol/wire.ts'
import type { Image } from '../images/images.ts'
import { FakeLayers, fakeName } from './fake-layers.ts'
import { atLayer, type Disk, mustMove, type Pool } from './storage.ts'

type Row = Volume & { sizeBytes: number }

const SCHEMA = `create table if not exists volumes (
  path text primary key, workload text not null, generation integer not null, pool text not null, format text not null,
  sizeBytes integer not null, image text not null) strict;
  create table if not exists outside_disks (
    path text primary key, format text not null, sizeBytes integer not null, pool text) strict`
type Outside = { path: string; format: string; sizeBytes: number; pool: string | null }

/** A disk outside of a fake pool. */
export type PlacedDisk = { path: string; format: string; sizeBytes: number; isInReach?: boolean; content?: string }

/** Of a pool that other hosts reach too. */
export const SHARED_SCHEMA = `create table if not exists hosts (path text primary key) strict;
  create table if not exists opened_twice (words text primary key) strict`

/** Storage that several fake hosts reach: `db` is its own, and `host` the path of the database of this host. */
export type Shared = { storage: string; host: string }

/**
 * Disks as rows of a table. Each takes its full size of the pool's `totalBytes`. One that is `shared` stands for Ceph.
 */
export class FakePool implements Pool {
  private layers: FakeLayers

  readonly layering: Pool['layering']
  readonly described: Pool['described']
  /** The same in all hosts that reach the pool. */
  private place: string

  constructor(
    private db: Database,
    readonly name: string,
    private totalBytes: number,
    /** Reported in the place of the true values. */
    private reported: Partial<PoolCapacity> = {},
    private shared?: Shared,
  ) {
    db.run(SCHEMA)
    this.layers = new FakeLayers(db)
    this.place = shared?.storage ?? name
    this.layering = shared ? 'pool' : 'hypervisor'
    this.described = { name, kind: 'fake', path: join('/fake', this.place) }
    if (!shared) return
    db.run('insert or ignore into hosts values (?)', [shared.host])
  }

  storage = async () => this.shared?.storage

  /** A vm starts on this host. What two hosts write at once is broken, and tests look for it. */
  async noteOpening(workload: string) {
    for (const other of await this.openedBy(workload))
      this.db.run('insert or ignore into opened_twice values (?)', [
        `${workload} is open on ${other} and ${this.shared!.host}`,
      ])
  }

  /** By the vms of the other hosts. */
  async openedBy(workload: string): Promise<string[]> {
    const { shared } = this
    if (!shared) return []
    const hosts = this.db.query<{ path: string }, [string]>('select path from hosts where path <> ?').all(shared.host)
    return hosts.map(({ path }) => path).filter((path) => existsSync(path) && isOpenOn(path, workload, this.place))
  }

  disk = async (volume: Volume): Promise<Disk> => this.diskOf(volume)

  private diskOf = (volume: Volume): Disk => ({
    kind: this.shared ? 'block' : 'file',
    format: volume.layer === undefined || this.shared ? volume.format : 'qcow2',
    path: join('/fake', this.place, fakeName(volume)),
  })

  async sizeBytes(volume: Volume) {
    if (volume.layer !== undefined) return this.layers.find(this.diskOf(volume).path)?.sizeBytes
    return this.db.query<Row, [string]>('select * from volumes where path = ?').get(this.diskOf(volume).path)?.sizeBytes
  }

  async create(volume: Volume, image: Image, sizeBytes: number) {
    await this.mustFit(volume, sizeBytes)
    this.insert(volume, image.id, sizeBytes)
  }

  async receive(volume: Volume, sizeBytes: number, fill: (disk: Disk) => Promise<void>) {
    if (await this.mustFit(volume, sizeBytes)) return
    this.layers.remove(this.diskOf(volume).path)
    await fill(this.diskOf(volume))
    this.insert(volume, '', sizeBytes)
  }

  /** Answers whether there is one. */
  private async mustFit(volume: Volume, sizeBytes: number): Promise<boolean> {
    const { path } = this.diskOf(volume)
    const there = await this.sizeBytes(volume)
    if (there !== undefined && there < sizeBytes)
      throw new Failure('volume_differs', `${path} exists with ${there} bytes, not ${sizeBytes}; it is left as it is`)
    return there !== undefined
  }

  private insert(volume: Volume, image: string, sizeBytes: number) {
    this.db.run(
      `insert or ignore into volumes (path, workload, generation, pool, format, sizeBytes, image)
       values (?, ?, ?, ?, ?, ?, ?)`,
      [this.diskOf(volume).path, volume.workload, volume.generation, this.place, volume.format, sizeBytes, image],
    )
  }

  async grow(volume: Volume, sizeBytes: number) {
    const { path } = this.diskOf(volume)
    if ((await this.sizeBytes(volume)) === undefined) throw new Failure('no_volume', `there is no disk ${path}`)
    this.layers.grow(path, sizeBytes)
    this.db.run('update volumes set sizeBytes = max(sizeBytes, ?) where path = ?', [sizeBytes, path])
  }

  /**
   * There is a disk outside of the pool; one that is there already stays as it is. `isInReach`: a name brings it into
   * the pool.
   */
  placeDisk({ path, format, sizeBytes, isInReach = true, content }: PlacedDisk) {
    const pool = isInReach ? this.place : null
    const { changes } = this.db.run('insert or ignore into outside_disks values (?, ?, ?, ?)', [
      path,
      format,
      sizeBytes,
      pool,
    ])
    if (changes && content !== undefined) this.layers.write(path, content)
  }

  async takeIn(volume: Volume, from: string) {
    const { path } = this.diskOf(volume)
    const source = this.outsideDisk(from)
    const sizeBytes = await this.sizeBytes(volume)
    if (!mustMove({ path: from, isThere: source !== undefined }, { path, isThere: sizeBytes !== undefined })) return
    if (source!.pool !== this.place || this.shared)
      throw new Failure('source_disk_elsewhere', `${from} is not on the storage of pool ${this.name}`)
    if (source!.format !== volume.format)
      throw new Failure('image_refused', `the image is refused: ${from} is ${source!.format}`)
    this.db.transaction(() => {
      this.insert(volume, '', source!.sizeBytes)
      this.layers.rename(from, path)
      this.db.run('delete from outside_disks where path = ?', [from])
    })()
  }

  async giveBack(volume: Volume, to: string) {
    const base = atLayer(volume, 0)
    const { path } = this.diskOf(base)
    const sizeBytes = await this.sizeBytes(base)
    const target = { path: to, isThere: this.outsideDisk(to) !== undefined }
    if (!mustMove({ path, isThere: sizeBytes !== undefined }, target)) return
    const [layer] = this.layers.standingOn(path)
    if (layer) throw new Failure('layer_in_use', `${layer.path} stands on ${path}, which is left as it is`)
    this.db.transaction(() => {
      this.placeDisk({ path: to, format: volume.format, sizeBytes: sizeBytes! })
      this.layers.rename(path, to)
      this.db.run('delete from volumes where path = ?', [path])
    })()
  }

  private outsideDisk = (path: string) =>
    this.db.query<Outside, [string]>('select * from outside_disks where path = ?').get(path) ?? undefined

  async remove(volume: Volume) {
    const { path } = this.diskOf(atLayer(volume, 0))
    const all = this.layers.all().filter((layer) => this.layers.chain(layer.path).at(-1) === path)
    for (const layer of all) this.layers.remove(layer.path)
    this.layers.remove(path)
    this.db.run('delete from volumes where path = ?', [path])
  }

  async fork(volume: Volume, from: number, sizeBytes: number) {
    await this.mustHave(volume, from)
    this.layers.add(this.diskOf(volume).path, this.pathOf(volume, from), sizeBytes)
  }

  async merge(volume: Volume, from: number, into: number) {
    for (const layer of [from, into]) await this.mustHave(volume, layer)
    this.layers.commit(this.pathOf(volume, from), this.pathOf(volume, into))
  }

  async rebase(volume: Volume, from: number, into: number, open: readonly string[]) {
    this.layers.rebase(this.pathOf(volume, from), this.pathOf(volume, into), open)
  }

  async removeLayer(volume: Volume, layer: number) {
    const path = this.pathOf(volume, layer)
    const [above] = this.layers.standingOn(path)
    if (above) throw new Failure('layer_in_use', `${above.path} stands on ${path}, which is left as it is`)
    this.layers.remove(path)
  }

  usedBytes = async (volume: Volume) => (await this.sizeBytes(volume)) ?? 0

  list = async () =>
    this.rows().map(({ workload, generation, format }) => ({ workload, generation, pool: this.name, format }))

  async capacity(): Promise<PoolCapacity> {
    const rows = [...this.rows(), ...this.layers.all().filter(({ path }) => path.startsWith(`${this.described.path}/`))]
    const usedBytes = rows.reduce((sum, row) => sum + row.sizeBytes, 0)
    return {
      ...this.described,
      totalBytes: this.totalBytes,
      freeBytes: Math.max(0, this.totalBytes - usedBytes),
      ...(this.shared && { storage: this.shared.storage }),
      ...this.reported,
    }
  }

  private pathOf = (volume: Volume, layer: number) => this.diskOf(atLayer(volume, layer)).path
  private async mustHave(volume: Volume, layer: number) {
    if ((await this.sizeBytes(atLayer(volume, layer))) === undefined)
      throw new Failure('no_volume', `there is no disk ${this.pathOf(volume, layer)}`)
  }

  private rows = () =>
    this.db.query<Row, [string]>('select * from volumes where pool = ? order by workload, generation').all(this.place)
}

/** Has a vm of the fake host with this database a disk of the workload in this pool open? */
function isOpenOn(host: string, workload: string, place: string): boolean {
  const db = new Database(host, { readonly: true, strict: true })
  try {
    const on = `select disk from vms where power in ('running', 'paused') and`
    const found = db
      .query<{ disk: string }, { own: string; workload: string }>(
        `${on} ((workload = $workload and coalesce(inUse, disk) like $own)
           or exists (select 1 from json_each(volumes) where value ->> '$.path' like $own))`,
      )
      .get({ workload, own: `/fake/${place}/${workload}-%` })
    return found !== null
  } finally {
    db.close()
  }
}
