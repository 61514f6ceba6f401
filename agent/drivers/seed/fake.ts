import type { Database } from 'bun:sqlite'
import type { Seed } from '../../protocol/wire.ts'
import { type Seeds, seedFiles } from './seed.ts'

/** Seeds that are rows, with the very files a guest would read, so that tests can look into them. */
export class FakeSeeds implements Seeds {
  constructor(private db: Database) {
    db.run('create table if not exists seeds (server text primary key, path text not null, files text not null) strict')
  }

  async write(seed: Seed) {
    this.db.run('insert or replace into seeds values (?, ?, ?)', [
      seed.server,
      `/fake/seeds/${seed.server}.iso`,
      JSON.stringify(seedFiles(seed)),
    ])
  }
  async path(server: string) {
    return this.db.query<{ path: string }, [string]>('select path from seeds where server = ?').get(server)?.path
  }
  async remove(server: string) {
    this.db.run('delete from seeds where server = ?', [server])
  }
}
