// Hashes of passwords in rows of the panel and of its nodes. They may wait for the next start of a server, in its row
// and in the data for that start on its node, and are nowhere else once a job has ended.
import { Database } from 'bun:sqlite'
import { readdirSync } from 'node:fs'
import { load } from '../../../src/compute/server-records/model.ts'
import { updateServer } from '../../../src/compute/server-records/queries.ts'
import { networkSeed } from '../../../src/compute/server-vm/seed.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { addressesOf } from '../../../src/network/ip-pools/allocate.ts'
import type { World } from '../world/panel.ts'

/** Begins the hash of every root password, and nothing else. */
const HASH = '$6$'
/** Rows for the inside of guests, which is theirs. */
const inGuests = ['guest_users', 'guest_files']
/** The tables that jobs write, of the panel and of a node. */
const ofJobs = ['jobs', 'job_steps', 'job_log', 'ended', 'seeds']

function tablesWithHash(file: Database, only?: readonly string[]): string[] {
  return file
    .query<{ table: string; texts: string }, []>(
      `SELECT m.name AS "table", group_concat('coalesce("' || c.name || '", '''')', ' || ') AS texts
       FROM sqlite_schema m JOIN pragma_table_info(m.name) c
       WHERE m.type = 'table' AND upper(c.type) NOT IN ('INTEGER', 'REAL') AND c.name <> 'pending_password_hash'
       GROUP BY m.name`,
    )
    .all()
    .filter(({ table }) => (only ? only.includes(table) : !inGuests.includes(table)))
    .filter(({ table, texts }) => file.query(`SELECT 1 FROM "${table}" WHERE instr(${texts}, '${HASH}') LIMIT 1`).get())
    .map(({ table }) => table)
}

/** Hashes that nothing waits for, in all tables, or in `only` these. None is as it should be. */
export function everyHashFault({ db, agents }: World, only?: readonly string[]): string[] {
  const file = db.$client
  const pending = file
    .query<{ id: string; waits: 0 | 1 }, []>(
      'SELECT id, pending_seed IS NOT NULL AS waits FROM servers WHERE pending_password_hash IS NOT NULL',
    )
    .all()
  const waiting = new Set(pending.filter(({ waits }) => waits).map(({ id }) => id))
  return [
    ...pending.filter(({ waits }) => !waits).map(({ id }) => `${id} has a hash and waits for no start`),
    ...tablesWithHash(file, only).map((table) => `a hash in ${table}`),
    ...[...agents.values()].flatMap(({ home }) => faultsOnNode(home, waiting, only)),
  ]
}
/** The same of the tables that jobs write, which takes a tenth of the time. */
export const hashFaults = (p: World) => everyHashFault(p, ofJobs)

function faultsOnNode(home: string, waiting: ReadonlySet<string>, only?: readonly string[]): string[] {
  const faults: string[] = []
  for (const name of readdirSync(home).filter((name) => name.endsWith('.db'))) {
    using file = new Database(`${home}/${name}`, { readonly: true })
    for (const table of tablesWithHash(file, only)) {
      if (table !== 'seeds') faults.push(`a hash in ${table} of ${home}`)
      else
        for (const [workload] of file
          .query<[string], []>(`SELECT workload FROM seeds WHERE instr(files, '${HASH}')`)
          .values() as [string][])
          if (!waiting.has(workload)) faults.push(`the data for a start of ${workload} on ${home}`)
    }
  }
  return faults
}

/** Every server that is there waits with a new password for its next start, as when no guest agent set it. */
export async function letPasswordsWait(p: World) {
  const ids = p.db.$client
    .query<{ id: string }, []>(
      `SELECT s.id FROM servers s JOIN workloads w USING (id)
       WHERE w.lifecycle = 'active' AND s.os = 'linux' AND s.rescue IS NULL AND s.pending_seed IS NULL`,
    )
    .all()
  for (const { id } of ids) {
    write(p.db, (tx) => updateServer(tx, id, { pendingSeed: 'next_stop', pendingPasswordHash: `${HASH}salt$of.${id}` }))
    const server = load(p.db, id)
    await p.agents.get(server.nodeId)?.host.seeds.write(networkSeed(server, addressesOf(p.db, id), `waits-${id}`))
  }
}
