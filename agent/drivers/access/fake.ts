// Access to instances that run nowhere. Rows of a database, so that they survive kill -9 of the agent.
import type { Database } from 'bun:sqlite'
import { Failure } from '../../failure.ts'
import type { Container } from '../../protocol/gpu.ts'
import type { Power } from '../../protocol/wire.ts'
import type { Access, Fittings, RunInside } from './access.ts'
import { networkOf } from './addresses.ts'

const SCHEMA = `
  create table if not exists access (
    workload text primary key, keys text not null, address text unique, led integer not null default 0) strict;
  create table if not exists access_ports (host integer primary key, workload text not null) strict;
`

export class FakeAccess implements Access {
  constructor(
    private db: Database,
    private power: (workload: string) => Promise<Power>,
  ) {
    db.run(SCHEMA)
  }

  problems = async () => []

  async fit({ workload, number, ports, address, authorizedKeys }: Container): Promise<Fittings> {
    this.db.transaction(() => {
      this.db.run('delete from access_ports where workload = ?', [workload])
      for (const { host } of ports)
        if (!this.db.run('insert or ignore into access_ports values (?, ?)', [host, workload]).changes)
          throw new Failure('port_taken', `port ${host} of this host leads to another instance`)
      this.db.run('insert or ignore into access (workload, keys) values (?, ?)', [workload, '[]'])
      if (!this.db.run('update or ignore access set address = ?2 where workload = ?1', [workload, address]).changes)
        throw new Failure('port_taken', `the address ${address} leads to another instance`)
      this.keep(workload, authorizedKeys)
    })()
    return { mounts: [], wrapper: [], environment: {}, network: networkOf(number), nameServers: [] }
  }

  async open() {}

  async started(workload: string) {
    this.db.run('update access set led = 1 where workload = ? and address is not null', [workload])
  }

  async closed(workload: string) {
    this.db.run('update access set led = 0 where workload = ?', [workload])
  }

  async setKeys(workload: string, keys: readonly string[], inside?: RunInside) {
    this.keep(workload, keys)
    await inside?.(['end-sessions'])
  }

  answers = async (workload: string) => (await this.power(workload)) === 'running'

  async remove(workload: string) {
    this.db.run('update access set address = null, led = 0 where workload = ?', [workload])
    this.db.run('delete from access_ports where workload = ?', [workload])
  }

  async forget(workload: string) {
    await this.remove(workload)
    this.db.run('delete from access where workload = ?', [workload])
  }

  addresses = async () =>
    this.db
      .query<{ workload: string; address: string }, []>(
        'select workload, address from access where address is not null',
      )
      .all()

  ensure = async () => false

  /** For tests: the keys that may log in. */
  keys(workload: string): string[] {
    const row = this.db.query<{ keys: string }, [string]>('select keys from access where workload = ?').get(workload)
    return row ? (JSON.parse(row.keys) as string[]) : []
  }

  private keep(workload: string, keys: readonly string[]) {
    this.db.run('update access set keys = ?2 where workload = ?1', [workload, JSON.stringify(keys)])
  }
}
