// What a node must know to bring its guests back after a reboot while the controller is away: what each guest may send, and
// which guests shall run. It is written before it is done, so that a crash between leaves the safe half.
import { openDatabase } from './database.ts'
import type { PortRules } from './protocol/wire.ts'

export type State = ReturnType<typeof openState>
/** A guest's network port and its speed limit; null is no limit. */
export type Port = { tap: string; mbps: number | null }

const SCHEMA = `
  create table if not exists allowances (server text primary key, allowance text not null) strict;
  create table if not exists wanted (server text primary key, running integer not null) strict;
  create table if not exists ports (server text primary key, tap text not null, mbps integer) strict;
  create table if not exists facts (name text primary key, value text not null) strict;
`

export function openState(path: string) {
  const db = openDatabase(path, SCHEMA)
  const parse = (row: { allowance: string }) => JSON.parse(row.allowance) as PortRules
  return {
    allow: (allowance: PortRules) =>
      void db.run('insert or replace into allowances values (?, ?)', [allowance.server, JSON.stringify(allowance)]),
    forget: (server: string) => void db.run('delete from allowances where server = ?', [server]),
    allowances: () =>
      db.query<{ allowance: string }, []>('select allowance from allowances order by server').all().map(parse),
    hasAllowance: (server: string) => db.query('select 1 from allowances where server = ?').get(server) !== null,

    wantRunning: (server: string) => void db.run('insert or replace into wanted values (?, 1)', [server]),
    wantStopped: (server: string) => void db.run('delete from wanted where server = ?', [server]),
    wantedRunning: () =>
      db
        .query<{ server: string }, []>('select server from wanted where running = 1 order by server')
        .all()
        .map((row) => row.server),

    keepPort: (server: string, port: Port) =>
      void db.run('insert or replace into ports values (?, ?, ?)', [server, port.tap, port.mbps]),
    port: (server: string) =>
      db.query<Port, [string]>('select tap, mbps from ports where server = ?').get(server) ?? undefined,
    forgetPort: (server: string) => void db.run('delete from ports where server = ?', [server]),

    /** The boot of the host (`/proc/sys/kernel/random/boot_id`) under which the agent last brought its guests up. */
    bootId: () => db.query<{ value: string }, []>(`select value from facts where name = 'boot'`).get()?.value,
    keepBootId: (bootId: string) => void db.run(`insert or replace into facts values ('boot', ?)`, [bootId]),
    close: () => db.close(),
  }
}
