import type { Database } from 'bun:sqlite'
import { progress, say } from '../../controller-link/job-log.ts'
import type { Images, Source, StoredImage } from './images.ts'

const schema = (table: string) => `create table if not exists ${table} (
  id text primary key, format text not null, checksum text not null, virtualSizeBytes integer not null) strict`

/** Images as rows of a table. Nothing is downloaded, so that a demonstration needs no network. */
export class FakeImages implements Images {
  constructor(
    private db: Database,
    private virtualSizeBytes: number,
    private table: 'images' | 'isos' = 'images',
  ) {
    db.run(schema(table))
  }

  async ensure(source: Source): Promise<StoredImage> {
    const here = await this.find(source.id)
    if (here?.checksum === source.checksum) return here
    say('info', `Downloading ${source.url} (fake)`)
    progress(50)
    this.db.run(`insert or replace into ${this.table} values (?, ?, ?, ?)`, [
      source.id,
      source.format,
      source.checksum,
      this.virtualSizeBytes,
    ])
    progress(100)
    return (await this.find(source.id))!
  }

  async find(id: string) {
    const row = this.db
      .query<Omit<StoredImage, 'path'>, [string]>(
        `select id, format, checksum, virtualSizeBytes from ${this.table} where id = ?`,
      )
      .get(id)
    return row ? { ...row, path: `/fake/${this.table}/${id}` } : undefined
  }

  async remove(id: string) {
    this.db.run(`delete from ${this.table} where id = ?`, [id])
  }
}
