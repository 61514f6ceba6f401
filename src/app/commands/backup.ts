// `berth backup`: the database as one file. The key file is not in it: a stolen backup opens no secret, and both must
// be kept.
import { Database } from 'bun:sqlite'
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { presentNodesIn } from '../../fleet/node-records/queries.ts'
import { leaveOutNumbersIn } from '../../fleet/workloads/queries.ts'
import { anchorOf, headFrom, signedHead, writeHead } from '../../kernel/audit/anchor.ts'
import { NEWEST_LINE, type Newest } from '../../kernel/audit/chain.ts'
import { CannotStart, whoAmI } from '../../kernel/command-line/startup-errors.ts'
import { KeyFileError } from '../../kernel/crypto/key-ring.ts'
import { secretsFromFile } from '../../kernel/crypto/secrets.ts'
import { second } from '../../kernel/db/clock.ts'
import { mustFit } from '../../kernel/db/migrate.ts'
import { putSettingIn, settingIn } from '../../kernel/db/queries.ts'
import { epochIn, raiseEpochIn } from '../../kernel/nodes/epoch.ts'
import { awaitNodesIn } from '../../network/ip-pools/awaited.ts'
import { leaveOutNetworkNumbersIn } from '../../network/private-network-records/queries.ts'
import { configFrom } from '../config.ts'
import { databaseOf, environment, installation, isRunning, noDatabase } from './data-dir.ts'
import { lockDataDir } from './data-dir-lock.ts'
import { lastTime, mustNotBeNewer, noteRestored } from './newer.ts'

const usage = `berth backup create FILE     copies the database to FILE, also while the controller runs
berth backup restore FILE    puts it in place; the controller must be stopped

The database that was there is kept beside it. One that was in use later than FILE is left alone, unless --discard-newer
says otherwise.

Run it as root, or as the user who owns the data directory: restored files belong to that user again. It works on
the installation of this host, or on the one whose data directory PANEL_DATA_DIR names.
Keep the key file (PANEL_KEY_FILE) too, elsewhere: without it the encrypted secrets in a backup cannot be read.`

const DISCARD_NEWER = '--discard-newer'

/** Expected, and said with what to do. */
const failed = (words: string) => new CannotStart('backup_failed', words)

export async function backup(args: readonly string[]): Promise<number> {
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    console.log(usage)
    return 0
  }
  const discardNewer = args[0] === 'restore' && args.includes(DISCARD_NEWER)
  const [command, file, ...more] = args.filter((arg) => !discardNewer || arg !== DISCARD_NEWER)
  if (!file || more.length || (command !== 'create' && command !== 'restore')) {
    console.error(usage)
    return 2
  }
  if (file.startsWith('-')) {
    console.error(`There is no flag ${file}. For a file of this name, write ./${file}.\n\n${usage}`)
    return 2
  }
  try {
    return command === 'create' ? create(resolve(file)) : await restore(resolve(file), discardNewer)
  } catch (error) {
    throw (error as { code?: string }).code?.match(/^(SQLITE|E[A-Z]+$)/) ? failed((error as Error).message) : error
  }
}

/** As whoever calls it: root writes where the owner of the data could not. */
function create(file: string): number {
  const { dataDir } = configFrom(environment())
  const database = databaseOf(dataDir)
  if (existsSync(file)) throw failed(`${file} exists already; a backup never overwrites one.`)
  if (!existsSync(database)) {
    installation() // says when the directory is there and only not ours to look into
    throw noDatabase(dataDir)
  }
  mustBeWritable(dirname(file))
  const part = `${file}.part`
  rmSync(part, { force: true })
  const db = new Database(database, { readwrite: true })
  db.run('PRAGMA busy_timeout=5000')
  db.prepare('VACUUM INTO ?').run(part)
  db.close()
  chmodSync(part, 0o600)
  const isSigned = signHeadIn(part, configFrom(environment()).keyFile)
  mustBeWhole(part)
  flush(part)
  renameSync(part, file)
  flush(dirname(file))
  console.log(`The database is in ${file}. Keep the key file too, elsewhere.`)
  if (!isSigned) console.log('The end of its audit log is not signed: there is no key file, or it cannot be read.')
  return 0
}

/** So that lines cut off the end of a backup's audit log show after its restore. Answers whether it could. */
export function signHeadIn(part: string, keyFile: string): boolean {
  if (!existsSync(keyFile)) return false
  const db = new Database(part, { readwrite: true, create: false })
  try {
    const newest = db.query<Newest, []>(NEWEST_LINE).get()
    if (newest) putSettingIn(db, HEAD_SETTING, signedHead(newest, secretsFromFile(keyFile), Date.now()))
    return true
  } catch (error) {
    // A database of an earlier Berth, whose log has no chain.
    const isEarlier = (error as { code?: string }).code === 'SQLITE_ERROR'
    if (!isEarlier && !(error instanceof KeyFileError)) throw error
    return false
  } finally {
    db.close()
  }
}

/** The signed head of a backup's audit log, in the backup. */
const HEAD_SETTING = 'audit.head'

/** The anchor of the restored log is the backup's own; that of the log before it is kept. */
function restoreAnchor(database: string, dataDir: string) {
  const anchor = anchorOf(dataDir)
  if (existsSync(anchor)) renameSync(anchor, `${anchor}.before-restore-${Date.now()}`)
  const db = new Database(database, { readonly: true })
  const stored = settingIn(db, HEAD_SETTING)
  db.close()
  const head = stored === undefined ? undefined : headFrom(stored)
  if (head) writeHead(anchor, head)
}

function mustBeWritable(directory: string) {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code } = error as { code?: string }
    throw failed(
      code === 'ENOENT'
        ? `There is no directory ${directory}.`
        : `The user ${whoAmI()} may not write into ${directory} (${code}). Run this as root (sudo berth backup ` +
            'create …), or choose another directory.',
    )
  }
}

/**
 * The file is opened as whoever calls; from there on all is done as the owner of the data directory, whose file it
 * becomes.
 */
async function restore(file: string, discardNewer: boolean): Promise<number> {
  if (!existsSync(file)) throw failed(`There is no file ${file}.`)
  const source = openSync(file, 'r')
  mustBeWhole(file)
  const { dataDir } = installation((dir) => dir)
  const lock = await lockDataDir(dataDir, 'exclusive', second)
  if (!lock || (await isRunning(dataDir)))
    throw failed('The controller is running. Stop it first: what it writes now would be lost.')
  const database = databaseOf(dataDir)
  const part = `${database}.restoring`
  copy(source, part)
  try {
    if (!discardNewer) mustNotBeNewer(database, part, failed)
    noteRestored(part, lastTime(part))
  } catch (error) {
    for (const end of ['', '-wal', '-shm']) rmSync(part + end, { force: true })
    throw error
  }
  const kept = putInPlace(part, dataDir)
  lock.release()
  console.log(`Restored. ${kept ? `What was there before is kept as ${kept}.` : ''}`.trim())
  return 0
}

/** The whole database `part` becomes that of the data directory. Answers where the one before is kept, if there was. */
export function putInPlace(part: string, dataDir: string): string | undefined {
  const database = databaseOf(dataDir)
  const kept = `${database}.before-restore-${Date.now()}`
  const before = existsSync(database)
  // Nodes obey no controller any more that goes on with the database before.
  raiseEpoch(part, before ? intoOneFile(database) : 0)
  // With what could not be put into it, of a database that is damaged.
  for (const suffix of ['', '-wal', '-shm'])
    if (existsSync(database + suffix)) renameSync(database + suffix, kept + suffix)
  restoreAnchor(part, dataDir)
  renameSync(part, database)
  flush(dataDir)
  return before ? kept : undefined
}

/** `before`: the epoch of the database that it takes the place of. */
function raiseEpoch(part: string, before: number) {
  const db = new Database(part, { readwrite: true, create: false })
  db.transaction(() => {
    raiseEpochIn(db, [epochIn(db), before], Date.now())
    // They may have servers, addresses, taps and private networks of which this database knows nothing.
    awaitNodesIn(db, presentNodesIn(db))
    leaveOutNumbersIn(db)
    leaveOutNetworkNumbersIn(db)
  })()
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close(true)
  for (const end of ['-wal', '-shm']) rmSync(part + end, { force: true })
}

/** Answers the epoch of the database; a damaged one tells none, and the time of this host is higher anyway. */
function intoOneFile(database: string): number {
  try {
    const db = new Database(database, { readwrite: true })
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    const epoch = epochIn(db)
    // It leaves no file beside the database only where all that read it are closed.
    db.close(true)
    return epoch
  } catch {
    // A damaged one is why somebody restores; it is kept as it is.
    return 0
  }
}

/** Whole, of Berth, and of a version that this program can open. */
export function mustBeWhole(file: string) {
  const notWhole = () => failed(`${file} is not a whole database of Berth.`)
  const db = new Database(file, { readonly: true })
  try {
    const [row] = db.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
    if (row?.integrity_check !== 'ok' || !db.query("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").get())
      throw notWhole()
    mustFit(db)
  } catch (error) {
    throw (error as { code?: string }).code?.startsWith('SQLITE_') ? notWhole() : error
  } finally {
    db.close()
  }
}

const PIECE_BYTES = 1 << 20
/** Into a new file: what somebody laid in its place is not followed. */
function copy(source: number, path: string) {
  rmSync(path, { force: true })
  const target = openSync(path, 'wx', 0o600)
  const piece = Buffer.alloc(PIECE_BYTES)
  for (let length = 0; (length = readSync(source, piece)); ) writeAll(target, piece.subarray(0, length))
  fsyncSync(target)
  closeSync(target)
  closeSync(source)
}

function writeAll(target: number, bytes: Buffer) {
  for (let at = 0; at < bytes.length; ) at += writeSync(target, bytes, at)
}

function flush(path: string) {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
