// Everything that is known about an upgrade of the controller before anything changes.
import { statfsSync, statSync } from 'node:fs'
import type { OpenRelease } from '../../../agent/protocol/release/archive.ts'
import { openRelease } from '../../../agent/protocol/release/archive.ts'
import { mustFollow, platformHere, ReleaseRefused } from '../../../agent/protocol/release/manifest.ts'
import { trustedKeys } from '../../../agent/protocol/release/trusted-keys.ts'
import { expectedStopSeconds } from '../../../agent/protocol/release/upgrade.ts'
import { bytes as inWords } from '../../../src/kernel/words.ts'
import type { Machine } from '../../machine/machine.ts'
import { preparesStarts } from '../../services/command.ts'
import { dataDirOf } from '../data.ts'
import { type Described, describedBy, UpgradeRefused } from '../prepare.ts'
import { hasController } from '../store.ts'

/** Beside the files of the upgrade this must stay free. */
const SPARE_BYTES = 64 << 20
const ANSWER_MS = 3000

export type Checked = {
  release: OpenRelease
  program: OpenRelease['manifest']['programs'][number]
  running: Described
  stopSeconds: number
}

/** Can the controller of this machine be upgraded at all? Throws `UpgradeRefused`. */
export async function mustBeUpgradable(machine: Machine) {
  const { exec, hasSystemd, paths } = machine
  if (!Bun.file(paths.program).size && Bun.file('/usr/bin/berth').size)
    throw new UpgradeRefused('program_of_package', 'This program came with a package: update it with apt.')
  if (!hasController(paths))
    throw new UpgradeRefused(
      'no_controller',
      'There is no controller on this machine. A node gets its program from its controller; without it, install.sh ' +
        'of the release brings it.',
    )
  if (await standsBy(dataDirOf(paths)))
    throw new UpgradeRefused(
      'stands_by',
      'This host stands by for another controller, and has nothing that could go back: run install.sh of the release.',
    )
  const isPrepared = hasSystemd
    ? exec.ask('systemctl', ['show', '-P', 'ExecStartPre', 'berth']).out.includes('before-start')
    : await preparesStarts(machine)
  if (isPrepared) return
  throw new UpgradeRefused(
    'service_not_prepared',
    'The service of the controller is of a version that does not upgrade itself. Run install.sh of the version that ' +
      `is installed once${hasSystemd ? '' : ', then /usr/local/lib/berth/services stop and start'}.`,
  )
}

async function standsBy(dataDir: string): Promise<boolean> {
  try {
    const options = { unix: `${dataDir}/admin.sock`, proxy: '', signal: AbortSignal.timeout(ANSWER_MS) } as RequestInit
    return ((await (await fetch('http://localhost/', options)).json()) as { standby?: unknown }).standby === true
  } catch {
    return false
  }
}

/** Opens the release and compares it with what runs here. Throws `UpgradeRefused` and `ReleaseRefused`. */
export function checked(
  machine: Machine,
  file: string,
  { allowsDowngrade, trialSeconds }: { allowsDowngrade: boolean; trialSeconds: number },
): Checked {
  const { paths } = machine
  const keys = trustedKeys()
  if (!keys.length)
    throw new UpgradeRefused('no_release_keys', 'This program was built without keys of releases, so it trusts none.')
  const release = openRelease(file, keys)
  try {
    const running = describedBy(machine, paths.program)
    const { manifest } = release
    mustFollow(manifest, { version: running.version, platform: platformHere }, { allowsDowngrade })
    if (manifest.schema < running.schema)
      throw new UpgradeRefused(
        'schema_older',
        `Its database is that of ${manifest.schema}, and the one here has ${running.schema}: that version could not ` +
          'read it. Put its program back with its own install.sh, and restore a backup that it made (docs/upgrade.md).',
      )
    const program = manifest.programs.find(({ platform }) => platform === platformHere)
    if (!program) throw new ReleaseRefused('release_wrong_platform', `It has no program for ${platformHere}.`)
    const databaseBytes = databaseSize(dataDirOf(paths))
    mustHaveSpace(paths.library, 2 * program.sizeBytes)
    mustHaveSpace(dataDirOf(paths), 2 * databaseBytes)
    return { release, program, running, stopSeconds: expectedStopSeconds(databaseBytes, trialSeconds) }
  } catch (error) {
    release.close()
    throw error
  }
}

const databaseSize = (dataDir: string) =>
  ['', '-wal'].reduce(
    (sum, end) => sum + (statSync(`${dataDir}/berth.db${end}`, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )

function mustHaveSpace(folder: string, bytes: number) {
  const { bavail, bsize } = statfsSync(folder)
  const needed = bytes + SPARE_BYTES
  if (bavail * bsize >= needed) return
  throw new UpgradeRefused(
    'not_enough_space',
    `${folder} has ${inWords(bavail * bsize)} free, and the upgrade needs ${inWords(needed)} there.`,
  )
}
