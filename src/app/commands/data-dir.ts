// The installation that a command on this host works on: its settings, its data directory, and whose that is.
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { settingsIn } from '../../kernel/command-line/settings-file.ts'
import { CannotStart, SettingError } from '../../kernel/command-line/startup-errors.ts'
import { type Config, configFrom } from '../config.ts'
import { createController } from '../controller.ts'
import { aboutData, notUsable } from './startup-errors.ts'

/** The settings files of the installed service: that of install.sh, then the operator's own, which wins. */
const installed = ['/etc/berth/controller.env', '/etc/berth/controller.local.env']

export const databaseOf = (dataDir: string) => `${dataDir}/berth.db`
/** `berth admin` reaches a running controller here. */
export const socketOf = (dataDir: string) => `${dataDir}/admin.sock`

type Env = Readonly<Record<string, string | undefined>>

/**
 * The settings of the installed service, so that `sudo berth …` finds it wherever its data lies. Who names a data
 * directory means another installation, and then what is installed has no say.
 */
export function environment(env: Env = process.env, files: readonly string[] = installed): Env {
  if (env['PANEL_DATA_DIR']) return env
  return Object.assign({}, ...files.map(controllerSettings), env)
}

/** Those of the controller alone: a PATH that stands there is for the service. */
function controllerSettings(file: string): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(settingsIn(file)).filter(([name]) => name.startsWith('PANEL_')))
  } catch (error) {
    const { code } = error as { code?: string }
    throw new SettingError(`${file} cannot be read (${code}). Run this as root: sudo berth …; or set PANEL_DATA_DIR.`)
  }
}

/** The file whose owner the controller runs as: the database, or the directory before there is a database. */
const whoServes = (dataDir: string) => (existsSync(databaseOf(dataDir)) ? databaseOf(dataDir) : dataDir)

/**
 * For a command other than `serve`. As root it goes on as the owner of what `whose` names: what it writes is the
 * controller's to read, and what somebody put there to trap root traps nobody. Throws `CannotStart` where there is no
 * such directory, or it is not ours.
 */
export function installation(whose: (dataDir: string) => string = whoServes): Config {
  const config = configFrom(environment())
  const { dataDir } = config
  try {
    const { uid, gid } = statSync(whose(dataDir))
    if (process.getuid?.() === 0 && uid !== 0) become(uid, gid)
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code = '' } = error as { code?: string }
    throw code === 'ENOENT' ? noDatabase(dataDir) : notUsable(dataDir, code)
  }
  return config
}

function become(uid: number, gid: number) {
  process.setgroups!([gid])
  process.setgid!(gid)
  process.setuid!(uid)
}

/** A mistyped directory must not become a second, empty installation that answers as if it were the first. */
export const noDatabase = (dataDir: string) =>
  new CannotStart(
    'no_database',
    `There is no database at ${databaseOf(dataDir)}. Set PANEL_DATA_DIR to the controller's data directory, or ` +
      'start the controller once: it makes one.',
  )

/** The directory for the first start, or one in it. Throws `CannotStart`. */
export function makeDataDir(dataDir: string, inside = '') {
  try {
    mkdirSync(`${dataDir}/${inside}`, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw aboutData(error, dataDir)
  }
}

/** A controller over the data directory. Throws `CannotStart`, `NotOurDatabase` and `KeyFileError`. */
export async function openController(parts: Parameters<typeof createController>[0]) {
  try {
    return await createController(parts)
  } catch (error) {
    throw aboutData(error, parts.config.dataDir)
  }
}

/** Error codes of connecting to a socket file behind which no controller listens. */
const nobodyThere = new Set(['ECONNREFUSED', 'ENOENT'])
export const isNobodyThere = (error: unknown) => nobodyThere.has((error as { code?: string } | undefined)?.code ?? '')

/** Is a controller at the socket of this directory? One that does not answer is there all the same. */
export const isRunning = async (dataDir: string): Promise<boolean> =>
  existsSync(socketOf(dataDir)) &&
  (await fetch('http://localhost/api/v1/status', {
    unix: socketOf(dataDir),
    signal: AbortSignal.timeout(5000),
  } as RequestInit).then(
    () => true,
    (error) => !isNobodyThere(error),
  ))
