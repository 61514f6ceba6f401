import type { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { Failure } from '../../failure.ts'
import type { PoolCapacity, Volume } from '../../protocol/wire.ts'
import type { Image } from '../images/images.ts'
import type { Disk, Pool } from './storage.ts'

type Row = Volume & { sizeBytes: number }

const SCHEMA = `create table if not exists volumes (
  path text primary key, workload text not null, generation integer not null, pool text not null, format text not null,
  sizeBytes integer not null, image text not null) strict`

/** Disks as rows of a table. Each takes its full size of the pool's `totalBytes`. */
export class FakePool implements Pool {
  constructor(
    private db: Database,
    readonly name: string,
    private totalBytes: number,
  ) {
    db.run(SCHEMA)
  }

  disk = (volume: Volume): Disk => ({
    kind: 'file',
    format: volume.format,
    path: join('/fake', this.name, `${volume.workload}-${volume.generation}.${volume.format}`),
  })

  async sizeBytes(volume: Volume) {
    return this.db.query<Row, [string]>('select * from volumes where path = ?').get(this.disk(volume).path)?.sizeBytes
  }

  async create(volume: Volume, image: Image, sizeBytes: number) {
    const { path } = this.disk(volume)
    const there = await this.sizeBytes(volume)
    if (there !== undefined && there < sizeBytes)
      throw new Failure('volume_differs', `${path} exists with ${there} bytes, not ${sizeBytes}; it is left as it is`)
    this.db.run(
      `insert or ignore into volumes (path, workload, generation, pool, format, sizeBytes, image)
       values (?, ?, ?, ?, ?, ?, ?)`,
      [path, volume.workload, volume.generation, this.name, volume.format, sizeBytes, image.id],
    )
  }

  async grow(volume: Volume, sizeBytes: number) {
    const { path } = this.disk(volume)
    if ((await this.sizeBytes(volume)) === undefined) throw new Failure('no_volume', `there is no disk ${path}`)
    this.db.run('update volumes set sizeBytes = max(sizeBytes, ?) where path = ?', [sizeBytes, path])
  }

  async remove(volume: Volume) {
    this.db.run('delete from volumes where path = ?', [this.disk(volume).path])
  }

  list = async () =>
    this.rows().map(({ workload, generation, pool, format }) => ({ workload, generation, pool, format }))

  async capacity(): Promise<PoolCapacity> {
    const usedBytes = this.rows().reduce((sum, row) => sum + row.sizeBytes, 0)
    return {
      name: this.name,
      kind: 'fake',
      path: join('/fake', this.name),
      totalBytes: this.totalBytes,
      freeBytes: Math.max(0, this.totalBytes - usedBytes),
    }
  }

  private rows = () =>
    this.db.query<Row, [string]>('select * from volumes where pool = ? order by workload, generation').all(this.name)
}
