// Access to instances that run nowhere. Rows of a database, so that they survive kill -9 of the agent.
import type { Database } from 'bun:sqlite'
import { Failure } from '../../failure.ts'
import type { Container } from '../../protocol/gpu.ts'
import type { Power } from '../../protocol/wire.ts'
import { slotOf } from '../container/ids.ts'
import type { Access, Fittings } from './access.ts'

const SCHEMA = `
  create table if not exists access (workload text primary key, keys text not null) strict;
  create table if not exists access_ports (host integer primary key, workload text not null) strict;
`

export class FakeAccess implements Access {
  constructor(
    private db: Database,
    private power: (workload: string) => Promise<Power>,
  ) {
    db.run(SCHEMA)
  }

  async fit({ workload, number, ports, authorizedKeys }: Container): Promise<Fittings> {
    this.db.transaction(() => {
      this.db.run('delete from access_ports where workload = ?', [workload])
      for (const { host } of ports)
        if (!this.db.run('insert or ignore into access_ports values (?, ?)', [host, workload]).changes)
          throw new Failure('port_taken', `port ${host} of this host leads to another instance`)
      this.keep(workload, authorizedKeys)
    })()
    const slot = slotOf(number)
    const network = {
      name: `fake-${slot}`,
      interface: `fake${slot}`,
      subnet: `${addressAt(slot, 0)}/30`,
      gateway: addressAt(slot, 1),
      address: addressAt(slot, 2),
      mac: `02:00:00:00:${[slot >> 8, slot & 255].map((byte) => byte.toString(16).padStart(2, '0')).join(':')}`,
    }
    return { mounts: [], wrapper: [], environment: {}, network, nameServers: [] }
  }

  problems = async () => []
  async open() {}
  async started() {}
  async closed() {}
  ensure = async () => false

  async setKeys(workload: string, keys: readonly string[]) {
    this.keep(workload, keys)
  }

  answers = async (workload: string) => (await this.power(workload)) === 'running'

  async remove(workload: string) {
    this.db.run('delete from access_ports where workload = ?', [workload])
  }

  async forget(workload: string) {
    this.db.run('delete from access where workload = ?', [workload])
  }

  /** For tests: the keys that may log in. */
  keys(workload: string): string[] {
    const row = this.db.query<{ keys: string }, [string]>('select keys from access where workload = ?').get(workload)
    return row ? (JSON.parse(row.keys) as string[]) : []
  }

  private keep(workload: string, keys: readonly string[]) {
    this.db.run('insert or replace into access values (?, ?)', [workload, JSON.stringify(keys)])
  }
}

/** The address number `n` of the four that an instance has. */
const addressAt = (slot: number, n: number) => {
  const offset = slot * 4 + n
  return `10.${208 + (offset >> 16)}.${(offset >> 8) & 255}.${offset & 255}`
}
