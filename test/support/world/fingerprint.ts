// A text for all that is in a database: it is the same after a call that changed nothing.
import type { Db } from '../../../src/kernel/db/open.ts'

/**
 * Columns that say nothing of a call: a token and a session were seen, whatever became of it; a job that goes on beside
 * it makes the record of its workload anew.
 */
const noted: Readonly<Record<string, readonly string[]>> = {
  tokens: ['used_at', 'used_from'],
  sessions: ['seen_at'],
  workloads: ['version'],
}

/** Tables that triggers keep by another one: where that is left out, so are they. */
const follows: Readonly<Record<string, readonly string[]>> = { audit: ['audit_counts'] }

type Lines = ReadonlyMap<string, string>
const last = new WeakMap<Db, { moment: string; lines: Lines }>()

/**
 * A line for each table, but for those that are named. To read all rows takes milliseconds, and most calls write none.
 */
export function fingerprint(db: Db, but: readonly string[] = []): string {
  const moment = momentOf(db)
  let lines = last.get(db)
  if (lines?.moment !== moment) last.set(db, (lines = { moment, lines: linesOf(db) }))
  const left = new Set([...but, ...but.flatMap((table) => follows[table] ?? [])])
  return [...lines.lines].flatMap(([table, line]) => (left.has(table) ? [] : [line])).join('\n')
}

/** Another one after each row that this connection has written, and each transaction of another. */
function momentOf({ $client }: Db): string {
  const [written] = $client.query('SELECT total_changes()').values()[0]!
  const [committed] = $client.query('PRAGMA data_version').values()[0]!
  return `${written} ${committed}`
}

function linesOf({ $client }: Db): Lines {
  const tables = $client
    .query<{ name: string }, []>(
      // Not the tables of an index of texts: how SQLite keeps it depends on what was in it before.
      `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'
         AND name <> 'migrations' ORDER BY name`,
    )
    .all()
  return new Map(
    tables.map(({ name }) => {
      const rows = $client.query(`SELECT ${columnsOf($client, name)} FROM ${name}`).values()
      return [name, `${name} ${Bun.hash(JSON.stringify(rows)).toString(36)}`]
    }),
  )
}

/** All of them, without those of `noted`. */
function columnsOf($client: Db['$client'], table: string): string {
  if (!noted[table]) return '*'
  const columns = $client.query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)').all(table)
  return columns.flatMap(({ name }) => (noted[table]!.includes(name) ? [] : [name])).join()
}
