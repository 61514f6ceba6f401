// `berth backup`: the database as one file. The key file is not in it: a stolen backup opens no secret, and both must be kept.
import { Database } from 'bun:sqlite'
import { chmodSync, closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { configFrom, SettingError } from './config.ts'
import { socketPath } from './serve.ts'

const usage = `berth backup create FILE     copies the database to FILE, also while the controller runs
berth backup restore FILE    puts it in place; the controller must be stopped

Keep the key file (PANEL_KEY_FILE) too, elsewhere: without it the sealed secrets in a backup cannot be read.`

export async function backup([verb, file, ...more]: readonly string[]): Promise<number> {
  if (verb === '--help' || file === '--help') {
    console.log(usage)
    return 0
  }
  if (!file || more.length || (verb !== 'create' && verb !== 'restore')) {
    console.error(usage)
    return 2
  }
  try {
    const { dataDir } = configFrom(process.env)
    const database = `${dataDir}/berth.db`
    return verb === 'create' ? create(database, file) : await restore(database, file, dataDir)
  } catch (error) {
    if (error instanceof SettingError) {
      console.error(error.message)
      return 2
    }
    console.error(`backup_failed: ${(error as Error).message}`)
    return 1
  }
}

function create(database: string, file: string): number {
  if (existsSync(file)) throw new Error(`${file} exists already; a backup never overwrites one.`)
  if (!existsSync(database)) throw new Error(`There is no database at ${database}. Set PANEL_DATA_DIR.`)
  const part = `${file}.part`
  rmSync(part, { force: true })
  const db = new Database(database)
  db.run('PRAGMA busy_timeout=5000')
  db.prepare('VACUUM INTO ?').run(part)
  db.close()
  chmodSync(part, 0o600)
  mustBeWhole(part)
  flush(part)
  renameSync(part, file)
  console.log(`The database is in ${file}. Keep the key file too, elsewhere.`)
  return 0
}

async function restore(database: string, file: string, dataDir: string): Promise<number> {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`)
  const running =
    existsSync(socketPath(dataDir)) &&
    (await fetch('http://localhost/api/v1/status', { unix: socketPath(dataDir) } as RequestInit)
      .then((r) => r.ok)
      .catch(() => false))
  if (running) throw new Error('The controller is running. Stop it first: what it writes now would be lost.')
  mustBeWhole(file)
  const part = `${database}.restoring`
  copyFileSync(file, part)
  chmodSync(part, 0o600)
  flush(part)
  const kept = `${database}.before-restore-${Date.now()}`
  if (existsSync(database)) {
    const before = new Database(database)
    before.run('PRAGMA wal_checkpoint(TRUNCATE)')
    before.close()
    renameSync(database, kept)
  }
  for (const suffix of ['-wal', '-shm']) rmSync(database + suffix, { force: true })
  renameSync(part, database)
  console.log(`Restored. ${existsSync(kept) ? `What was there before is kept as ${kept}.` : ''}`)
  return 0
}

function mustBeWhole(file: string) {
  const db = new Database(file, { readonly: true })
  try {
    const [row] = db.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
    if (row?.integrity_check !== 'ok' || !db.query("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").get())
      throw new Error(`${file} is not a whole database of Berth.`)
  } finally {
    db.close()
  }
}

function flush(path: string) {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
