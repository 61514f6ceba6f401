// Names that nothing serves. Rows of a database, so that they survive kill -9 of the agent.
import type { Database } from 'bun:sqlite'
import { type HttpNamesOfHost, httpLabel } from '../../protocol/gpu.ts'
import type { HttpNames } from './http-names.ts'

const SCHEMA = `
  create table if not exists http_names (name text primary key, workload text not null, port integer not null) strict;
  create table if not exists http_opened (workload text primary key) strict;
`

export class FakeHttpNames implements HttpNames {
  constructor(private db: Database) {
    db.run(SCHEMA)
  }

  problems = async () => []

  async set({ domain, names }: HttpNamesOfHost) {
    this.db.transaction(() => {
      this.db.run('delete from http_names')
      if (domain === null) return
      for (const { workload, port } of names)
        this.db.run('insert into http_names values (?, ?, ?)', [
          `${httpLabel(port, workload)}.${domain}`,
          workload,
          port,
        ])
    })()
    return { scheme: 'https' as const }
  }

  opened(workload: string) {
    this.db.run('insert or ignore into http_opened values (?)', [workload])
  }

  closed(workload: string) {
    this.db.run('delete from http_opened where workload = ?', [workload])
  }

  openedOnly(running: ReadonlySet<string>) {
    this.db.transaction(() => {
      this.db.run('delete from http_opened')
      for (const workload of running) this.opened(workload)
    })()
  }

  ensure = async () => false

  /** For tests: the names that are served, and those of them that lead to an instance. */
  served(): { name: string; isOpen: boolean }[] {
    return this.db
      .query<{ name: string; is_open: number }, []>(
        `select name, workload in (select workload from http_opened) as is_open from http_names order by name`,
      )
      .all()
      .map(({ name, is_open }) => ({ name, isOpen: is_open === 1 }))
  }
}
