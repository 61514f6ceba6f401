import type { Database } from 'bun:sqlite'
import { type AnySeed, filesOf, type Seeds } from './seed.ts'

/** Seeds as rows of a table, with the files that a guest would read, for tests. */
export class FakeSeeds implements Seeds {
  constructor(private db: Database) {
    db.run(
      'create table if not exists seeds (workload text primary key, path text not null, files text not null) strict',
    )
  }

  async write(seed: AnySeed) {
    this.db.run('insert or replace into seeds values (?, ?, ?)', [
      seed.workload,
      `/fake/seeds/${seed.workload}.iso`,
      JSON.stringify(filesOf(seed)),
    ])
  }
  async path(workload: string) {
    return this.db.query<{ path: string }, [string]>('select path from seeds where workload = ?').get(workload)?.path
  }
  /** The files of a seed by name, as the guest would read them; undefined when there is no seed. */
  files(workload: string): Record<string, string> | undefined {
    const row = this.db.query<{ files: string }, [string]>('select files from seeds where workload = ?').get(workload)
    return row ? (JSON.parse(row.files) as Record<string, string>) : undefined
  }
  async remove(workload: string) {
    this.db.run('delete from seeds where workload = ?', [workload])
  }
}
