// The controller runs without the rights to replace its program. Its page leaves a request and a release in its data
// directory; root takes both, verifies them itself, and never goes to an older version: `berth-host host
// upgrade-requested`.
import { closeSync, openSync, rmSync } from 'node:fs'
import { ReleaseRefused } from '../../agent/protocol/release/manifest.ts'
import { requestFrom, type UpgradeRequest } from '../../agent/protocol/release/upgrade.ts'
import { type Machine, makeDirectory } from '../machine/machine.ts'
import { reasonOf } from './before-start.ts'
import { ANSWER_SECONDS, begin, TRIAL_SECONDS } from './controller.ts'
import { asOwner, dataDirOf } from './data.ts'
import { describedBy, UpgradeRefused } from './prepare.ts'
import { checked, mustBeUpgradable } from './release/checks.ts'
import { addToHistory, folderOf } from './store.ts'

/** Answers the exit code: 0 begun, 1 refused, which the history says too. */
export async function takeRequest(machine: Machine): Promise<number> {
  const { paths } = machine
  const dataDir = dataDirOf(paths)
  const startedAt = new Date().toISOString()
  let request: UpgradeRequest | undefined
  try {
    request = requestFrom(asOwner(machine, 'request', dataDir))
    if (!request) throw new UpgradeRefused('request_invalid', reasonOf('request_invalid').words)
    await mustBeUpgradable(machine)
    const file = takeFile(machine, dataDir, request.file)
    const found = checked(machine, file, { allowsDowngrade: false, trialSeconds: TRIAL_SECONDS })
    await begin(machine, found, { by: request.by, trialSeconds: TRIAL_SECONDS, answerSeconds: ANSWER_SECONDS })
    return 0
  } catch (error) {
    const { message } = error as Error
    const code = error instanceof UpgradeRefused || error instanceof ReleaseRefused ? error.code : 'request_invalid'
    makeDirectory(folderOf(paths, 'berth'))
    addToHistory(paths, {
      ...{ service: 'berth', from: versionHere(machine), to: '', by: request?.by ?? '', startedAt },
      ...{ endedAt: new Date().toISOString(), result: 'refused', reason: { code, words: message } },
    })
    console.error(`${code}: ${message}`)
    return 1
  } finally {
    rmSync(requestedFile(machine), { force: true })
  }
}

const requestedFile = ({ paths }: Machine) => `${folderOf(paths, 'berth')}/requested`

/** Copied before it is verified, by a process that can read no more than the controller can. */
function takeFile(machine: Machine, dataDir: string, name: string): string {
  const { paths } = machine
  const file = requestedFile(machine)
  makeDirectory(folderOf(paths, 'berth'))
  rmSync(file, { force: true })
  const to = openSync(file, 'wx', 0o600)
  try {
    asOwner(machine, 'send', dataDir, { input: name, to })
  } finally {
    closeSync(to)
  }
  return file
}

function versionHere(machine: Machine): string {
  try {
    return describedBy(machine, machine.paths.program).version
  } catch {
    return ''
  }
}
