import type { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { Failure } from '../../failure.ts'
import type { PoolCapacity, Volume } from '../../protocol/wire.ts'
import type { Image } from '../images/images.ts'
import { FakeLayers, fakeName } from './fake-layers.ts'
import { atLayer, type Disk, type Pool } from './storage.ts'

type Row = Volume & { sizeBytes: number }

const SCHEMA = `create table if not exists volumes (
  path text primary key, workload text not null, generation integer not null, pool text not null, format text not null,
  sizeBytes integer not null, image text not null) strict`

/** Disks as rows of a table. Each takes its full size of the pool's `totalBytes`. */
export class FakePool implements Pool {
  private layers: FakeLayers

  readonly layering = 'hypervisor'
  readonly described: Pool['described']

  constructor(
    private db: Database,
    readonly name: string,
    private totalBytes: number,
    /** Reported in the place of the true values. */
    private reported: Partial<PoolCapacity> = {},
  ) {
    db.run(SCHEMA)
    this.layers = new FakeLayers(db)
    this.described = { name, kind: 'fake', path: join('/fake', name) }
  }

  disk = async (volume: Volume): Promise<Disk> => this.diskOf(volume)

  private diskOf = (volume: Volume): Disk => ({
    kind: 'file',
    format: volume.layer === undefined ? volume.format : 'qcow2',
    path: join('/fake', this.name, fakeName(volume)),
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
      [this.diskOf(volume).path, volume.workload, volume.generation, this.name, volume.format, sizeBytes, image],
    )
  }

  async grow(volume: Volume, sizeBytes: number) {
    const { path } = this.diskOf(volume)
    if ((await this.sizeBytes(volume)) === undefined) throw new Failure('no_volume', `there is no disk ${path}`)
    this.layers.grow(path, sizeBytes)
    this.db.run('update volumes set sizeBytes = max(sizeBytes, ?) where path = ?', [sizeBytes, path])
  }

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
    this.rows().map(({ workload, generation, pool, format }) => ({ workload, generation, pool, format }))

  async capacity(): Promise<PoolCapacity> {
    const rows = [...this.rows(), ...this.layers.all().filter(({ path }) => path.startsWith(`/fake/${this.name}/`))]
    const usedBytes = rows.reduce((sum, row) => sum + row.sizeBytes, 0)
    return {
      ...this.described,
      totalBytes: this.totalBytes,
      freeBytes: Math.max(0, this.totalBytes - usedBytes),
      ...this.reported,
    }
  }

  private pathOf = (volume: Volume, layer: number) => this.diskOf(atLayer(volume, layer)).path
  private async mustHave(volume: Volume, layer: number) {
    if ((await this.sizeBytes(atLayer(volume, layer))) === undefined)
      throw new Failure('no_volume', `there is no disk ${this.pathOf(volume, layer)}`)
  }

  private rows = () =>
    this.db.query<Row, [string]>('select * from volumes where pool = ? order by workload, generation').all(this.name)
}
