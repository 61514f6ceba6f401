// The data of the controller in an upgrade. All of it is done by a process of the data's own user, so that nothing
// which somebody put there reaches files of root: `berth-host host upgrade-data keep|restore|forget FOLDER [VERSION]`.
import { Database } from 'bun:sqlite'
import { existsSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { TRIAL_FILE, trialFile, type UpgradeTrial } from '../../agent/protocol/release/upgrade.ts'
import { settingsIn } from '../../src/kernel/command-line/settings-file.ts'
import { copyFlushed, flush, writeDurably } from '../machine/durable.ts'
import type { Machine } from '../machine/machine.ts'
import { controllerEnv, hostProgram, type Paths } from '../machine/paths.ts'

/** The database, its log, and the signed end of its audit log. */
const DATABASE = 'berth.db'
const kept = [DATABASE, `${DATABASE}-wal`, 'audit.head'] as const
/** Another process that holds the database ends by then. */
const LOCK_WAIT_MS = 30_000

/** The data directory of the installed controller. */
export const dataDirOf = ({ settings }: Paths): string =>
  settingsIn(`${settings}/controller.local.env`)['PANEL_DATA_DIR'] ||
  settingsIn(controllerEnv({ settings } as Paths))['PANEL_DATA_DIR'] ||
  '/var/lib/berth'

type Deed = 'keep' | 'restore' | 'forget'

/** Does it as the owner of the data. Throws an Error in words. */
export function asOwner({ exec, paths }: Machine, deed: Deed, dataDir: string, trial?: UpgradeTrial) {
  const owner = lstatSync(dataDir)
  if (!owner.isDirectory()) throw new Error(`${dataDir} is no directory`)
  const user = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', '--no-new-privs']
  const command = [hostProgram(paths), 'host', 'upgrade-data', deed, dataDir]
  const { code, err } = exec.ask('setpriv', [...user, ...command], {
    cwd: '/',
    ...(trial && { input: JSON.stringify(trial) }),
  })
  if (code !== 0) throw new Error(err.trim() || `upgrade-data ${deed} ended with ${code}`)
}

/** `berth-host host upgrade-data …`. Answers the exit code. */
export async function upgradeData([deed, dataDir = '']: readonly string[]): Promise<number> {
  process.umask(0o077)
  try {
    const isOpen = dataDir.startsWith('/') && lstatSync(dataDir).isDirectory()
    if (!isOpen) throw new Error(`${dataDir} is no data directory`)
    if (deed === 'keep') keep(dataDir, await Bun.stdin.text())
    else if (deed === 'restore') restore(dataDir)
    else if (deed === 'forget') forget(dataDir)
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
