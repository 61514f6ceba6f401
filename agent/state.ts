// The facts a node needs to start its vms after a reboot while the controller is away: the port rules of each vm, its
// port, and whether it shall run. A stop is written before it is done and a start after it, so that a crash between is
// safe.
import { openDatabase } from './database.ts'
import type { PortRules } from './protocol/wire.ts'

export type State = ReturnType<typeof openState>
/** A vm's network port and its speed limit in megabit per second; null is no limit. */
export type Port = { tap: string; mbps: number | null }

const SCHEMA = `
  create table if not exists port_rules (workload text primary key, rules text not null) strict;
  create table if not exists wanted (workload text primary key, running integer not null) strict;
  create table if not exists ports (workload text primary key, tap text not null, mbps integer) strict;
  create table if not exists facts (name text primary key, value text not null) strict;
`

export function openState(path: string) {
  const db = openDatabase(path, SCHEMA)
  const parse = (row: { rules: string }) => JSON.parse(row.rules) as PortRules
  return {
    keepPortRules: (rules: PortRules) =>
      void db.run('insert or replace into port_rules values (?, ?)', [rules.workload, JSON.stringify(rules)]),
    forgetPortRules: (workload: string) => void db.run('delete from port_rules where workload = ?', [workload]),
    portRules: () => db.query<{ rules: string }, []>('select rules from port_rules order by workload').all().map(parse),
    hasPortRules: (workload: string) => db.query('select 1 from port_rules where workload = ?').get(workload) !== null,

    wantRunning: (workload: string) => void db.run('insert or replace into wanted values (?, 1)', [workload]),
    wantStopped: (workload: string) => void db.run('delete from wanted where workload = ?', [workload]),
    wantedRunning: () =>
      db
        .query<{ workload: string }, []>('select workload from wanted where running = 1 order by workload')
        .all()
        .map((row) => row.workload),

    keepPort: (workload: string, port: Port) =>
      void db.run('insert or replace into ports values (?, ?, ?)', [workload, port.tap, port.mbps]),
    port: (workload: string) =>
      db.query<Port, [string]>('select tap, mbps from ports where workload = ?').get(workload) ?? undefined,
    forgetPort: (workload: string) => void db.run('delete from ports where workload = ?', [workload]),

    /** The boot of the host (`/proc/sys/kernel/random/boot_id`) in which the agent last started the vms. */
    bootId: () => db.query<{ value: string }, []>(`select value from facts where name = 'boot'`).get()?.value,
    keepBootId: (bootId: string) => void db.run(`insert or replace into facts values ('boot', ?)`, [bootId]),
    close: () => db.close(),
  }
}
