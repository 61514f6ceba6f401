// The data of the controller in an upgrade. All of it is done by a process of the data's own user, so that nothing
// which somebody put there reaches files of root: `berth-host host upgrade-data DEED FOLDER`.
import { Database } from 'bun:sqlite'
import {
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { INCOMING_FOLDER, REQUEST_FILE, TRIAL_FILE, trialFile } from '../../agent/protocol/release/upgrade.ts'
import { settingsIn } from '../../src/kernel/command-line/settings-file.ts'
import { copyFlushed, flush, writeDurably } from '../machine/durable.ts'
import type { Machine } from '../machine/machine.ts'
import { controllerEnv, hostProgram, type Paths } from '../machine/paths.ts'

/** The database, its log, and the signed end of its audit log. */
const DATABASE = 'berth.db'
const kept = [DATABASE, `${DATABASE}-wal`, 'audit.head'] as const
/** Another process that holds the database ends by then. */
const LOCK_WAIT_MS = 30_000
const MOST_REQUEST = 10_000
/** Programs for some platforms. */
const MOST_RELEASE_BYTES = 1 << 30

/** The data directory of the installed controller. */
export const dataDirOf = ({ settings }: Paths): string =>
  settingsIn(`${settings}/controller.local.env`)['PANEL_DATA_DIR'] ||
  settingsIn(controllerEnv({ settings } as Paths))['PANEL_DATA_DIR'] ||
  '/var/lib/berth'

type Deed = 'keep' | 'restore' | 'forget' | 'request' | 'send'
/** `input`: of `keep`, the trial; of `send`, the name of a file. `to`: an open file for the output. */
type Given = { input?: string; to?: number }

/** Does it as the owner of the data, and answers the output. Throws an Error in words. */
export function asOwner({ exec, paths }: Machine, deed: Deed, dataDir: string, { input, to }: Given = {}): string {
  const owner = lstatSync(dataDir)
  if (!owner.isDirectory()) throw new Error(`${dataDir} is no directory`)
  const user = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', '--no-new-privs']
  const args = [...user, hostProgram(paths), 'host', 'upgrade-data', deed, dataDir]
  const options = { cwd: '/', ...(input !== undefined && { input }) }
  const { code, out, err } = exec.ask('setpriv', args, { ...options, ...(to !== undefined && { output: to }) })
  if (code !== 0) throw new Error(err.trim() || `upgrade-data ${deed} ended with ${code}`)
  return out
}

/** Is there something of an upgrade? */
export const isLeft = (dataDir: string) => existsSync(beforeIn(dataDir)) || existsSync(trialFile(dataDir))
/** The copy of the database, while it is kept. */
export const keptDatabase = (dataDir: string) => `${beforeIn(dataDir)}/${DATABASE}`

/** `berth-host host upgrade-data …`. Answers the exit code. */
export async function upgradeData([deed, dataDir = '']: readonly string[]): Promise<number> {
  process.umask(0o077)
  try {
    const isOpen = dataDir.startsWith('/') && lstatSync(dataDir).isDirectory()
    if (!isOpen) throw new Error(`${dataDir} is no data directory`)
    if (deed === 'keep') keep(dataDir, await Bun.stdin.text())
    else if (deed === 'restore') restore(dataDir)
    else if (deed === 'forget') forget(dataDir)
    else if (deed === 'request') takeRequest(dataDir)
    else if (deed === 'send') send(dataDir, (await Bun.stdin.text()).trim())
    else return 2
    return 0
  } catch (error) {
    console.error((error as Error).message)
    return 1
  }
}

const folderIn = (dataDir: string) => `${dataDir}/upgrade`
const beforeIn = (dataDir: string) => `${folderIn(dataDir)}/before`

/** Copies the database, whole or not at all, and says that the next program is in its trial. */
function keep(dataDir: string, trial: string) {
  mustBeOwn(folderIn(dataDir), 'isDirectory')
  mkdirSync(folderIn(dataDir), { recursive: true, mode: 0o750 })
  flush(dataDir)
  const [part, before] = [`${beforeIn(dataDir)}.part`, beforeIn(dataDir)]
  rmSync(part, { recursive: true, force: true })
  rmSync(before, { recursive: true, force: true })
  exclusively(dataDir, () => {
    mkdirSync(part, { mode: 0o700 })
    for (const name of kept) {
      mustBeOwn(`${dataDir}/${name}`, 'isFile')
      if (existsSync(`${dataDir}/${name}`)) copyFlushed(`${dataDir}/${name}`, `${part}/${name}`)
    }
    flush(part)
    renameSync(part, before)
  })
  writeDurably(trialFile(dataDir), trial, 0o600)
}

/** Puts the copy in place of what is there. Done again, it does the same. */
function restore(dataDir: string) {
  const before = beforeIn(dataDir)
  if (!existsSync(`${before}/${DATABASE}`)) throw new Error(`${before} has no database`)
  exclusively(dataDir, () => {
    for (const end of ['-wal', '-shm']) rmSync(`${dataDir}/${DATABASE}${end}`, { force: true })
    for (const name of kept) {
      const [from, to] = [`${before}/${name}`, `${dataDir}/${name}`]
      if (!existsSync(from)) rmSync(to, { force: true })
      else {
        rmSync(`${to}.part`, { force: true })
        copyFlushed(from, `${to}.part`)
        renameSync(`${to}.part`, to)
      }
    }
    flush(dataDir)
  })
  rmSync(trialFile(dataDir), { force: true })
}

/** Prints the request of the controller and removes it: it is for one try. */
function takeRequest(dataDir: string) {
  const file = `${folderIn(dataDir)}/${REQUEST_FILE}`
  mustBeOwn(file, 'isFile')
  const text = readFileSync(file, 'utf8').slice(0, MOST_REQUEST)
  rmSync(file)
  process.stdout.write(text)
}

/** Prints a file that the controller has. */
function send(dataDir: string, name: string) {
  const file = `${folderIn(dataDir)}/${INCOMING_FOLDER}/${name}`
  mustBeOwn(`${folderIn(dataDir)}/${INCOMING_FOLDER}`, 'isDirectory')
  mustBeOwn(file, 'isFile')
  const from = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const chunk = Buffer.alloc(1 << 20)
  for (let read = 0, all = 0; (read = readSync(from, chunk)) > 0; ) {
    all += read
    if (all > MOST_RELEASE_BYTES) throw new Error(`${file} is too large for a release`)
    for (let at = 0; at < read; ) at += writeSync(1, chunk, at, read - at)
  }
}

/** Nothing of an upgrade stays, but requests and files for the next. */
function forget(dataDir: string) {
  for (const name of ['before', 'before.part', TRIAL_FILE])
    rmSync(`${folderIn(dataDir)}/${name}`, { recursive: true, force: true })
}

/** Throws for a link or anything else that somebody put there. */
function mustBeOwn(path: string, kind: 'isFile' | 'isDirectory') {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found && !found[kind]()) throw new Error(`${path} is no ${kind === 'isFile' ? 'file' : 'directory'} of its own`)
}

/** Takes the lock of the data directory, as the controller does: no process has the database open meanwhile. */
function exclusively(dataDir: string, work: () => void) {
  const file = new Database(`${dataDir}/controller.lock`, { create: true })
  try {
    file.run(`PRAGMA busy_timeout=${LOCK_WAIT_MS}`)
    try {
      file.run('BEGIN EXCLUSIVE')
    } catch {
      throw new Error(`Another process has the data in ${dataDir}`)
    }
    work()
  } finally {
    file.close()
  }
}
