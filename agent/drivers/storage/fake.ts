import type { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { PoolCapacity, Volume } from '../../protocol/wire.ts'
import type { Image } from '../images/images.ts'
import type { Disk, Pool } from './storage.ts'

type Row = { workload: string; pool: string; format: Volume['format']; sizeBytes: number }

const SCHEMA = `create table if not exists volumes (
  path text primary key, workload text not null, pool text not null, format text not null, sizeBytes integer not null, image text not null) strict`

/** Disks that are rows. They take room as real ones do. */
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
    path: join('/fake', this.name, `${volume.workload}.${volume.format}`),
  })

  async sizeBytes(volume: Volume) {
    return this.db.query<Row, [string]>('select * from volumes where path = ?').get(this.disk(volume).path)?.sizeBytes
  }

  async create(volume: Volume, image: Image, sizeBytes: number) {
    this.db.run(
      `insert into volumes (path, workload, pool, format, sizeBytes, image) values (?, ?, ?, ?, ?, ?)
       on conflict (path) do update set sizeBytes = max(sizeBytes, excluded.sizeBytes)`,
      [this.disk(volume).path, volume.workload, this.name, volume.format, sizeBytes, image.id],
    )
  }

  async remove(volume: Volume) {
    this.db.run('delete from volumes where path = ?', [this.disk(volume).path])
  }

  list = async () => this.rows().map(({ workload, pool, format }) => ({ workload, pool, format }))

  async room(): Promise<PoolCapacity> {
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
    this.db.query<Row, [string]>('select * from volumes where pool = ? order by workload').all(this.name)
}
