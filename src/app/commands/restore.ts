// `berth restore`: the database from its replica, as it is there now or as it was at a time. Nodes are left as they
// are: what they did meanwhile shows as differences.
import { existsSync, rmSync } from 'node:fs'
import { hostTime } from '../../../agent/protocol/monotonic-clock.ts'
import { CannotStart } from '../../kernel/command-line/startup-errors.ts'
import { KeyFileError } from '../../kernel/crypto/key-ring.ts'
import { secretsFromFile } from '../../kernel/crypto/secrets.ts'
import { second } from '../../kernel/db/clock.ts'
import { claim, keepHeld, TakenOver } from '../../kernel/replica/claims.ts'
import { Copy, NotInReplica } from '../../kernel/replica/copy.ts'
import { basePoints, ObjectDamaged } from '../../kernel/replica/objects.ts'
import { StoreError } from '../../kernel/stores/store.ts'
import { replicaStore } from '../../platform/replica/store.ts'
import { type Config, replicaFrom } from '../config.ts'
import { mustBeWhole, putInPlace, signHeadIn } from './backup.ts'
import { databaseOf, environment, installation, isRunning } from './data-dir.ts'
import { lockDataDir } from './data-dir-lock.ts'
import { mustNotBeNewer, noteRestored, shown } from './newer.ts'

const usage = `berth restore                  restores the database as it is in the replica (PANEL_REPLICA)
berth restore --at TIME        as it was at TIME, like 2026-11-22T14:05:00Z or 2026-11-22T15:05:00+01:00
berth restore --list           lists the whole copies from which a restore can begin

--from ADDRESS takes it from there in place of PANEL_REPLICA: of a daily backup the folder berth-controller in its
target, such as --from /srv/backups/berth-controller. SFTP and S3 take PANEL_REPLICA_LOGIN and the files beside it.

The controller must be stopped. The database that was there is kept beside it. One that is newer than what would be
restored is left alone, unless --discard-newer says otherwise. The key file (PANEL_KEY_FILE) must be there.`

const failed = (words: string) => new CannotStart('restore_failed', words)

export async function restore(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(usage)
    return 0
  }
  const options = optionsFrom(args)
  if (!options) {
    console.error(usage)
    return 2
  }
  const config = installation((dir) => dir)
  try {
    const from = options.from ? { ...config, replica: replicaFrom(settingsFor(options.from)) } : config
    return await (options.list ? list(from) : put(from, options))
  } catch (error) {
    throw inWords(error)
  }
}

/** Expected errors of a replica as an end with words. */
export function inWords(error: unknown): unknown {
  const isExpected = [StoreError, NotInReplica, ObjectDamaged, TakenOver].some((kind) => error instanceof kind)
  return isExpected ? failed((error as Error).message) : error
}

/** The settings of this host, with another address. */
function settingsFor(address: string) {
  const env = environment()
  return (name: string) => (name === 'PANEL_REPLICA' ? address : env[name]) || undefined
}

/** With its zone: one without would be that of this host, and what comes back another hour than was meant. */
const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/

type Options = { list: boolean; until: number; discardNewer: boolean; from: string | undefined }
function optionsFrom(args: readonly string[]): Options | undefined {
  const options: Options = { list: false, until: Number.POSITIVE_INFINITY, discardNewer: false, from: undefined }
  const left = [...args]
  for (let arg = left.shift(); arg !== undefined; arg = left.shift())
    if (arg === '--list') options.list = true
    else if (arg === '--discard-newer') options.discardNewer = true
    else if (arg === '--from') {
      options.from = left.shift()
      if (!options.from) return undefined
    } else if (arg === '--at') {
      const at = left.shift() ?? ''
      options.until = MOMENT.test(at) ? Date.parse(at) : Number.NaN
      if (Number.isNaN(options.until)) return undefined
    } else return undefined
  return options
}

/** Of this host's settings. Throws `CannotStart`. */
export function openReplica(config: Config) {
  if (!config.replica) throw failed('PANEL_REPLICA is not set: there is no replica (docs/standby.md).')
  if (!existsSync(config.keyFile))
    throw new KeyFileError(
      `There is no key file ${config.keyFile}. Put the one of the controller there: without it the replica cannot be ` +
        'read.',
    )
  return { store: replicaStore(config.replica, hostTime.wall), secrets: secretsFromFile(config.keyFile) }
}

async function list(config: Config): Promise<number> {
  const { store } = openReplica(config)
  const points = await basePoints(store)
  for (const { at } of points) console.log(shown(at))
  if (!points.length) console.log('There is none yet.')
  store.close()
  return 0
}

async function put(config: Config, { until, discardNewer, from }: Options): Promise<number> {
  const { dataDir } = config
  const { store, secrets } = openReplica(config)
  const lock = await lockDataDir(dataDir, 'exclusive', second)
  if (!lock || (await isRunning(dataDir)))
    throw failed('The controller is running. Stop it first: what it writes now would be lost.')
  const began = hostTime.monotonic()
  const copy = new Copy(store, secrets, `${databaseOf(dataDir)}.from-replica`)
  await copy.begin(until)
  await copy.follow(until)
  if (until === Number.POSITIVE_INFINITY) await copy.mustBeWithoutGap()
  const { at } = copy.state!
  await copy.finish()
  mustBeWhole(copy.path)
  if (!discardNewer) mustNotBeNewer(databaseOf(dataDir), copy.path, failed)
  // From here on the controller that shipped until now stops, wherever it runs.
  if (!from) keepHeld(dataDir, await claim(store, secrets, hostTime.wall()))
  const kept = prepareAndPut(copy.path, { dataDir, keyFile: config.keyFile, upTo: at })
  store.close()
  lock.release()
  const seconds = ((hostTime.monotonic() - began) / second).toFixed(1)
  console.log(`Restored as it was at ${shown(at)}, in ${seconds} s. ${kept ? `The one before is ${kept}.` : ''}`.trim())
  return 0
}

/** Notes in the database that it was restored, and puts it in place. */
export function prepareAndPut(part: string, about: { dataDir: string; keyFile: string; upTo: number }) {
  const { dataDir, keyFile, upTo } = about
  noteRestored(part, upTo)
  signHeadIn(part, keyFile)
  for (const end of ['-wal', '-shm']) rmSync(part + end, { force: true })
  return putInPlace(part, dataDir)
}
