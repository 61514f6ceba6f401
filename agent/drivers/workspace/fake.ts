import type { Database } from 'bun:sqlite'
import { Failure } from '../../failure.ts'
import { mustBeAlone } from '../container/ids.ts'
import type { Workspaces } from './workspaces.ts'

const SCHEMA = `create table if not exists workspaces (
  workload text primary key, number integer not null, sizeBytes integer not null) strict`

/** File systems as rows of a table, on a disk of `totalBytes`. */
export class FakeWorkspaces implements Workspaces {
  constructor(
    private db: Database,
    private totalBytes: number,
  ) {
    db.run(SCHEMA)
  }

  problems = async () => []

  async create(workload: string, number: number, sizeBytes: number) {
    mustBeAlone({ workload, number }, this.rows())
    const others = this.rows().reduce((sum, row) => sum + (row.workload === workload ? 0 : row.sizeBytes), 0)
    if (others + sizeBytes > this.totalBytes)
      throw new Failure('pool_full', `${sizeBytes} bytes are wanted, ${this.totalBytes - others} are left`)
    this.db.run(
      `insert into workspaces values (?1, ?2, ?3)
       on conflict (workload) do update set sizeBytes = max(sizeBytes, ?3)`,
      [workload, number, sizeBytes],
    )
  }

  async ready(workload: string) {
    if (!this.rows().some((row) => row.workload === workload))
      throw new Failure('no_workspace', `${workload} has no workspace; workspace.create comes before its container`)
    return `/fake/workspaces/${workload}.ext4`
  }

  async remove(workload: string) {
    this.db.run('delete from workspaces where workload = ?', [workload])
  }

  list = async () => this.rows().map(({ workload }) => workload)

  /** For tests. */
  sizeBytes = (workload: string) => this.rows().find((row) => row.workload === workload)?.sizeBytes

  private rows = () =>
    this.db
      .query<{ workload: string; number: number; sizeBytes: number }, []>('select * from workspaces order by workload')
      .all()
}
