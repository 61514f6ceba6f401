import type { Database } from 'bun:sqlite'
import { progress, say } from '../../controller-link/job-log.ts'
import type { ImageSource } from '../../protocol/wire.ts'
import type { Image, Images } from './images.ts'

const SCHEMA = `create table if not exists images (
  id text primary key, format text not null, checksum text not null, virtualSizeBytes integer not null) strict`

/** Images as rows of a table. Nothing is downloaded, so that a demonstration needs no network. */
export class FakeImages implements Images {
  constructor(
    private db: Database,
    private virtualSizeBytes: number,
  ) {
    db.run(SCHEMA)
  }

  async ensure(source: ImageSource): Promise<Image> {
    const here = await this.find(source.id)
    if (here) return here
    say('info', `Downloading ${source.url} (fake)`)
    progress(50)
    this.db.run('insert or replace into images values (?, ?, ?, ?)', [
      source.id,
      source.format,
      source.checksum,
      this.virtualSizeBytes,
    ])
    progress(100)
    return {
      id: source.id,
      format: source.format,
      path: `/fake/images/${source.id}`,
      virtualSizeBytes: this.virtualSizeBytes,
    }
  }

  async find(id: string) {
    const row = this.db
      .query<Omit<Image, 'path'>, [string]>('select id, format, virtualSizeBytes from images where id = ?')
      .get(id)
    return row ? { ...row, path: `/fake/images/${id}` } : undefined
  }

  async remove(id: string) {
    this.db.run('delete from images where id = ?', [id])
  }
}
