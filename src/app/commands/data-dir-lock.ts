// One controller per data directory. The lock is SQLite's on an empty database of its own: a lock of the kernel, which
// ends with the process however that ends. Nothing is written for it, so a full disk does not keep it from being taken.
import { Database } from 'bun:sqlite'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { CannotStart } from '../../kernel/command-line/startup-errors.ts'
import { second } from '../../kernel/db/clock.ts'
import { aboutData } from './startup-errors.ts'

export const lockOf = (dataDir: string) => `${dataDir}/controller.lock`
const pidFileOf = (dataDir: string) => `${dataDir}/controller.pid`

/** Held until `release`, or until the process ends. */
export type DataDirLock = { release(): void }

/** `exclusive` for a controller; `shared` for a command that opens the database while no controller runs. */
type Kind = 'exclusive' | 'shared'

const LOOK_EVERY_MS = 50
/** Simultaneous starts: the losers see the winner's process id by then. */
const CONTROLLER_WAIT_MS = 2 * second
/** A command that is at work on the database ends by itself. */
const COMMAND_WAIT_MS = 60 * second

/** Undefined when another process held it all that time. Throws `CannotStart` where the directory is not ours. */
export async function lockDataDir(dataDir: string, kind: Kind, waitMs: number): Promise<DataDirLock | undefined> {
  const end = performance.now() + waitMs
  try {
    const file = new Database(lockOf(dataDir), { create: true })
    while (!taken(file, kind)) {
      if (performance.now() > end) return void file.close()
      await Bun.sleep(LOOK_EVERY_MS)
    }
    return { release: () => file.close() }
  } catch (error) {
    throw aboutData(error, dataDir)
  }
}

function taken(file: Database, kind: Kind): boolean {
  try {
    file.run(kind === 'exclusive' ? 'BEGIN EXCLUSIVE' : 'BEGIN')
    // The shared lock is that of a read.
    if (kind === 'shared') file.query('SELECT 1 FROM sqlite_master').all()
    return true
  } catch (error) {
    if (file.inTransaction) file.run('ROLLBACK')
    if (/^SQLITE_BUSY/.test((error as { code?: string }).code ?? '')) return false
    throw error
  }
}

/** For a controller: waits for a command that is at work. Throws `CannotStart` when another controller runs. */
export async function lockForController(dataDir: string): Promise<DataDirLock> {
  let lock = await lockDataDir(dataDir, 'exclusive', CONTROLLER_WAIT_MS)
  if (!lock) {
    const byCommands = await lockDataDir(dataDir, 'shared', 0)
    byCommands?.release()
    if (byCommands) lock = await lockDataDir(dataDir, 'exclusive', COMMAND_WAIT_MS)
  }
  if (!lock) throw new CannotStart('already_running', alreadyRunning(dataDir))
  try {
    writeFileSync(pidFileOf(dataDir), `${process.pid}\n`, { mode: 0o600 })
  } catch {
    // A full disk: the process id is for the words of others only.
  }
  return lock
}

/** In words, with the process that holds the directory where that is known. */
export const alreadyRunning = (dataDir: string) =>
  `A controller${holderOf(dataDir)} is running on ${dataDir} already. Stop it, or set PANEL_DATA_DIR.`

/** Of a controller that holds the directory and answers nobody, or a backup that is being restored. */
export const inUse = (dataDir: string) =>
  `A controller${holderOf(dataDir)} or a restore has ${dataDir} and does not answer. Wait until it has started or ` +
  'ended, and try again.'

function holderOf(dataDir: string): string {
  try {
    const pid = readFileSync(pidFileOf(dataDir), 'utf8').trim()
    return /^\d+$/.test(pid) && existsSync(`/proc/${pid}`) ? ` (process ${pid})` : ''
  } catch {
    return ''
  }
}
