import type { Database } from 'bun:sqlite'
import type { Seed } from '../../protocol/wire.ts'
import { type Seeds, seedFiles } from './seed.ts'

/** Seeds as rows of a table, with the files that a guest would read, for tests. */
export class FakeSeeds implements Seeds {
  constructor(private db: Database) {
    db.run(
      'create table if not exists seeds (workload text primary key, path text not null, files text not null) strict',
    )
  }

  async write(seed: Seed) {
    this.db.run('insert or replace into seeds values (?, ?, ?)', [
      seed.workload,
      `/fake/seeds/${seed.workload}.iso`,
      JSON.stringify(seedFiles(seed)),
    ])
  }
  async path(workload: string) {
    return this.db.query<{ path: string }, [string]>('select path from seeds where workload = ?').get(workload)?.path
  }
  async remove(workload: string) {
    this.db.run('delete from seeds where workload = ?', [workload])
  }
}
