import type { Database } from 'bun:sqlite'
import { Failure } from '../../failure.ts'
import type { FirewallReport } from '../../protocol/firewall.ts'
import type { PortRules } from '../../protocol/wire.ts'
import type { Firewall } from './firewall.ts'

/** Rules as rows of a table. It counts nothing and remembers what it loaded across restarts, as the kernel does. */
export class FakeFirewall implements Firewall {
  private isLoaded: boolean
  constructor(private db: Database) {
    db.run('create table if not exists rules (workload text primary key, rules text not null) strict')
    this.isLoaded = this.stored().length > 0
  }

  async load(rules: readonly PortRules[]) {
    this.db.transaction(() => {
      this.db.run('delete from rules')
      for (const rule of rules) this.put(rule)
    })()
    this.isLoaded = true
  }

  async change(old: PortRules | undefined, next: PortRules | undefined) {
    if (!this.isLoaded) throw new Failure('firewall_failed', 'there is no table yet')
    this.db.transaction(() => {
      if (old) this.db.run('delete from rules where workload = ?', [old.workload])
      if (next) this.put(next)
    })()
  }

  intact = async (rules: readonly PortRules[]) =>
    this.isLoaded && JSON.stringify(this.stored()) === JSON.stringify(rules.map(textOf).toSorted())

  holds = async ({ workload }: PortRules) =>
    this.db.query('select 1 from rules where workload = ?').get(workload) !== null

  async look({ workload, policy }: PortRules): Promise<FirewallReport> {
    if (!this.db.query('select 1 from rules where workload = ?').get(workload))
      throw new Failure('firewall_failed', `${workload} has no rules`)
    return {
      rules: (policy?.firewall?.rules ?? []).map(({ id }) => ({ id, packets: 0, bytes: 0 })),
      dropped: [],
      drops: [],
    }
  }

  /** The rules as they were loaded. */
  loadedRules = () => this.stored().map((rules) => JSON.parse(rules) as PortRules)

  private put = (rule: PortRules) =>
    void this.db.run('insert or replace into rules values (?, ?)', [rule.workload, textOf(rule)])
  private stored = () =>
    this.db
      .query<{ rules: string }, []>('select rules from rules')
      .all()
      .map(({ rules }) => rules)
      .toSorted()
}

const textOf = (rule: PortRules) => JSON.stringify(rule)
