// Databases with their tables and no rows. To apply all migrations takes longer than most tests, so it is done once.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { migrations as ofProduct } from '../../../migrations/index.ts'
import type { Migration } from '../../../src/kernel/db/migrate.ts'
import { type Db, openDb } from '../../../src/kernel/db/open.ts'

/** Files of tests are in memory where that can be. */
export const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

const known = new Map<string, Uint8Array>()
/** The bytes of its file. */
export function emptyDatabase(migrations: readonly Migration[] = ofProduct): Uint8Array {
  const names = migrations.map(({ name }) => name).join()
  let bytes = known.get(names)
  if (!bytes) {
    const db = openDb(':memory:', migrations)
    known.set(names, (bytes = db.$client.serialize()))
    db.$client.close()
  }
  return bytes
}

/** A database of its own, whose file is gone at once. */
export function freshDb(from = emptyDatabase()): Db {
  const dir = mkdtempSync(`${scratch}/berth-db-`)
  try {
    writeFileSync(`${dir}/berth.db`, from)
    return openDb(`${dir}/berth.db`)
  } finally {
    rmSync(dir, { recursive: true })
  }
}
