// Starting the one who watches, apart from whoever wants it; and the start that an agent asks for, with its program.
import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { VERSION_PATTERN } from '../../agent/protocol/release/manifest.ts'
import { isUnderWay, type UpgradedService, upgradedServices } from '../../agent/protocol/release/upgrade.ts'
import { startService } from '../machine/exec.ts'
import { becomes, type Machine } from '../machine/machine.ts'
import { hostProgram } from '../machine/paths.ts'
import { reasonOf } from './before-start.ts'
import { putBack } from './ending.ts'
import { prepare, UpgradeRefused } from './prepare.ts'
import { change, isWatched, journalOf } from './store.ts'

const STARTS_WITHIN_SECONDS = 10

/** Throws `UpgradeRefused` where nobody watches in the end; then the service goes on as it is. */
export async function startWatching(machine: Machine, service: UpgradedService) {
  const { exec, hasSystemd, paths } = machine
  const command = [hostProgram(paths), 'host', 'upgrade-watch', service]
  if (hasSystemd) {
    const properties = ['Restart=on-failure', 'RestartSec=1', 'StartLimitIntervalSec=0']
    const unit = `berth-upgrade-of-${service}-${journalOf(paths, service)?.id.slice(0, 8) ?? 'none'}`
    const given = ['--quiet', '--collect', `--unit=${unit}`, ...properties.map((each) => `--property=${each}`)]
    exec.try('systemd-run', [...given, '--', ...command])
  } else {
    const env = Object.fromEntries(
      Object.entries(process.env).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    )
    startService(command, { cwd: '/', env, log: `${paths.logs}/upgrade.log` })
  }
  const isThere = () => {
    const journal = journalOf(paths, service)
    return isWatched(paths, service) || !journal || !isUnderWay(journal)
  }
  if (await becomes(STARTS_WITHIN_SECONDS, isThere)) return
  // Nothing has changed yet where the service was not restarted.
  change(paths, service, 'switching', (journal) => putBack(machine, journal, reasonOf('interrupted')))
  throw new UpgradeRefused('not_watched', 'The process that watches the upgrade does not start.')
}

const options = {
  program: { type: 'string' },
  version: { type: 'string' },
  sha256: { type: 'string' },
  trial: { type: 'string' },
  by: { type: 'string', default: 'the controller' },
  here: { type: 'boolean', default: false },
} as const

const usage = 'host upgrade-start SERVICE --program FILE --version V --sha256 HASH --trial SECONDS [--by NAME]'

/**
 * `berth-host host upgrade-start …`: takes a program that its caller has verified and begins the upgrade. Answers the
 * exit code: 0 somebody watches it now, 1 refused with code and words, 2 wrong use.
 */
export async function upgradeStart(machine: Machine, args: readonly string[]): Promise<number> {
  const { exec, hasSystemd, paths } = machine
  const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true })
  const service = upgradedServices.find((each) => each === positionals[0])
  const { program, version = '', sha256 = '', trial = '', by, here } = values
  const isValid = new RegExp(VERSION_PATTERN).test(version) && /^[0-9a-f]{64}$/.test(sha256) && /^\d{1,4}$/.test(trial)
  if (!service || !program || !isValid) {
    console.error(usage)
    return 2
  }
  if (hasSystemd && !here) {
    // The sandbox of the service that calls this cannot write where programs lie.
    const outside = ['--quiet', '--collect', '--wait', '--pipe', '--', hostProgram(paths), 'host', 'upgrade-start']
    const { code, err } = exec.ask('systemd-run', [...outside, ...args, '--here'])
    process.stderr.write(err)
    return code
  }
  try {
    await prepare(machine, {
      ...{ service, says: { version }, by, trialSeconds: Number(trial), answerSeconds: Number(trial) },
      take: async (write) => takeFile(program, sha256, write),
    })
    await startWatching(machine, service)
    return 0
  } catch (error) {
    const code = error instanceof UpgradeRefused ? error.code : 'upgrade_failed'
    console.error(`${code}: ${(error as Error).message}`)
    return 1
  }
}

const CHUNK_BYTES = 1 << 20

/** The file itself, and not one that a link leads to; the copy is what was checked. */
function takeFile(path: string, sha256: string, write: (chunk: Uint8Array) => void) {
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    throw new UpgradeRefused('file_not_usable', (error as Error).message)
  }
  try {
    if (!fstatSync(file).isFile()) throw new UpgradeRefused('release_checksum_differs', `${path} is no file.`)
    const hash = createHash('sha256')
    const chunk = Buffer.alloc(CHUNK_BYTES)
    for (let read = 0; (read = readSync(file, chunk)) > 0; ) {
      hash.update(chunk.subarray(0, read))
      write(chunk.subarray(0, read))
    }
    if (hash.digest('hex') !== sha256)
      throw new UpgradeRefused('release_checksum_differs', `${path} is not the program that was verified.`)
  } finally {
    closeSync(file)
  }
}
