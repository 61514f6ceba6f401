import type { Database } from 'bun:sqlite'
import type { PortRules } from '../../protocol/wire.ts'
import type { Firewall } from './firewall.ts'

/** Rules as rows of a table. `load` replaces them all, as the kernel's driver does. */
export class FakeFirewall implements Firewall {
  private loaded = ''
  constructor(private db: Database) {
    db.run('create table if not exists rules (workload text primary key, rules text not null) strict')
  }

  async load(rules: readonly PortRules[]) {
    this.db.transaction(() => {
      this.db.run('delete from rules')
      for (const rule of rules) this.db.run('insert into rules values (?, ?)', [rule.workload, JSON.stringify(rule)])
    })()
    this.loaded = this.stored()
  }

  intact = async () => this.stored() === this.loaded

  private stored = () => JSON.stringify(this.db.query('select * from rules order by workload').all())
}
