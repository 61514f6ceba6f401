// `berth search`: compares what searches find with what there is, and makes their index anew.
import { constants, Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { CannotStart } from '../kernel/command-line/startup-errors.ts'
import { mustFit } from '../kernel/db/migrate.ts'
import { type Difference, differencesIn, rebuildIn } from '../kernel/search/verify.ts'
import { databaseOf, installation, isRunning, noDatabase } from './commands/data-dir.ts'
import { inUse, lockDataDir } from './commands/data-dir-lock.ts'

const usage = `berth search verify     compares the texts that searches read, and their index, with what there is;
                        while the controller runs, changes wait for it: 2 s for 400,000 servers and customers
berth search rebuild    mends each text that differs and makes the index anew; the controller must be stopped

It works on the installation of this host, or on the one whose data directory PANEL_DATA_DIR names.
Exit 0 nothing differs or it is made anew, 1 something differs or refused, 2 wrong use.`

/** Differences that are named; of more than this many it is said that there are more. */
const MOST_NAMED = 20

export async function search(args: readonly string[]): Promise<number> {
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    console.log(usage)
    return 0
  }
  const [command, ...more] = args
  if (more.length || (command !== 'verify' && command !== 'rebuild')) {
    console.error(usage)
    return 2
  }
  const { dataDir } = installation()
  if (!existsSync(databaseOf(dataDir))) throw noDatabase(dataDir)
  return command === 'verify' ? verify(dataDir) : await rebuild(dataDir)
}

function verify(dataDir: string): number {
  const differences = inDatabase(dataDir, (file) => differencesIn(file, MOST_NAMED + 1))
  if (!differences.length) console.log('Searches find what there is: no text and no part of the index differs.')
  for (const one of differences.slice(0, MOST_NAMED)) console.log(said(one))
  if (differences.length > MOST_NAMED) console.log('and more')
  if (differences.length) console.error('Stop the controller and run: berth search rebuild')
  return differences.length ? 1 : 0
}
const said = ({ kind, id, what }: Difference): string =>
  what === 'index' ? 'The index is not that of the texts.' : `The text of ${kind} ${id} ${words[what]}.`
const words = { missing: 'is missing', 'left over': 'is left over', differs: 'is another one' } as const

async function rebuild(dataDir: string): Promise<number> {
  if (await isRunning(dataDir))
    throw new CannotStart('controller_running', 'The controller is running. Stop it first, and start it afterwards.')
  const lock = await lockDataDir(dataDir, 'exclusive', 0)
  if (!lock) throw new CannotStart('controller_running', inUse(dataDir))
  try {
    const mended = inDatabase(dataDir, rebuildIn)
    console.log(`The index is made anew. ${mended} ${mended === 1 ? 'text differed' : 'texts differed'}.`)
    return 0
  } finally {
    lock.release()
  }
}

function inDatabase<T>(dataDir: string, work: (file: Database) => T): T {
  const file = new Database(databaseOf(dataDir), { readwrite: true, create: false })
  try {
    file.run('PRAGMA busy_timeout=5000')
    // The log stays where a replica reads on from it.
    file.run('PRAGMA wal_autocheckpoint=0')
    file.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1)
    mustFit(file)
    return work(file)
  } finally {
    file.close()
  }
}
