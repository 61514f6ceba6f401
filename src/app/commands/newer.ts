// A restore leaves a database alone that was in use later than what it would put in place, and notes what it did.
import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { hostTime } from '../../../agent/protocol/monotonic-clock.ts'
import { nodeReference } from '../../fleet/node-records/queries.ts'
import { accountReference } from '../../identity/account-records/queries.ts'
import { newestLineAt } from '../../kernel/audit/chain.ts'
import type { CannotStart } from '../../kernel/command-line/startup-errors.ts'
import { LAST_TIME, putSettingIn, settingIn } from '../../kernel/db/queries.ts'
import { RESTORED, type Restored } from '../../platform/replica/attention.ts'

/** Throws `failed` with words when the database in place is newer than `part`, and has something in it. */
export function mustNotBeNewer(database: string, part: string, failed: (words: string) => CannotStart) {
  const here = lastTime(database)
  const there = lastTime(part)
  if (here === undefined || there === undefined || here <= there || isUnused(database)) return
  throw failed(
    `The database that is here is newer: it was in use until ${shown(here)}, the other until ${shown(there)}. ` +
      'Nothing was changed. Start the controller to go on with it, or restore with --discard-newer: then it is kept ' +
      'beside.',
  )
}

/** Notes in a database that is about to be put in place that it was restored: the panel says then what to look at. */
export function noteRestored(part: string, upTo: number | undefined) {
  const db = new Database(part, { readwrite: true, create: false })
  try {
    putSettingIn(db, RESTORED, { on: hostTime.wall(), upTo: upTo ?? 0 } satisfies Restored)
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    db.close(true)
  }
}

/**
 * When it was last in use: the time is noted each minute, and with each line of the audit log. Undefined where there is
 * no database that can be read.
 */
export const lastTime = (path: string): number | undefined =>
  looked(path, (db) => Math.max(Number(settingIn(db, LAST_TIME) ?? 0), newestLineAt(db) ?? 0)) || undefined

/** Of a new installation, in which there is nothing yet to lose. */
const isUnused = (path: string): boolean =>
  looked(
    path,
    (db) =>
      !db.query(`SELECT 1 ${nodeReference.from('n')} LIMIT 1`).get() &&
      !db.query(`SELECT 1 ${accountReference.from('a')} WHERE a.kind <> 'staff' LIMIT 1`).get(),
  ) ?? false

function looked<T>(path: string, look: (db: Database) => T): T | undefined {
  if (!existsSync(path)) return undefined
  try {
    const db = new Database(path, { readwrite: true, create: false })
    const found = look(db)
    db.close(true)
    return found
  } catch {
    // A damaged one is why somebody restores.
    return undefined
  }
}

export const shown = (at: number) => new Date(at).toISOString()
