import type { Database } from 'bun:sqlite'
import type { PortRules } from '../../protocol/wire.ts'
import type { Firewall } from './firewall.ts'

/** Rules that are rows. They are gone after the fake host's reboot, as real ones are. */
export class FakeFirewall implements Firewall {
  private loaded = ''
  constructor(private db: Database) {
    db.run('create table if not exists rules (server text primary key, allowance text not null) strict')
  }

  async load(allowances: readonly PortRules[]) {
    this.db.transaction(() => {
      this.db.run('delete from rules')
      for (const it of allowances) this.db.run('insert into rules values (?, ?)', [it.server, JSON.stringify(it)])
    })()
    this.loaded = this.rules()
  }

  intact = async () => this.rules() === this.loaded

  private rules = () => JSON.stringify(this.db.query('select * from rules order by server').all())
}
