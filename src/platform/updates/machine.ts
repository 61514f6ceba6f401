// The files by which root of this machine and the controller speak of updates. Root writes the journal of an update
// and the history; the controller writes a request, which root checks by itself.
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  type PastUpgrade,
  REQUEST_FILE,
  readUpgradeHistory,
  readUpgradeJournal,
  requestFolder,
  type UpgradeJournal,
  type UpgradeRequest,
  upgradeFolder,
} from '../../../agent/protocol/release/upgrade.ts'

/** Where things are. `folder`: of root, for the updates of the controller. */
export type MachineFiles = { folder: string; hostProgram: string; program: string }
export const thisMachine: MachineFiles = {
  folder: upgradeFolder('berth'),
  hostProgram: '/usr/local/lib/berth/berth-host',
  program: process.execPath,
}
const PACKAGED_PROGRAM = '/usr/bin/berth'

export class UpdateMachine {
  private readonly request: string

  constructor(
    dataDir: string,
    private readonly files: MachineFiles,
  ) {
    this.request = `${requestFolder(dataDir)}/${REQUEST_FILE}`
  }

  /** Why nothing on this machine carries out requests; undefined: something does. */
  disabledReason(): string | undefined {
    if (this.files.program === PACKAGED_PROGRAM) return 'This program came with a Debian package. Update it with apt.'
    if (existsSync(this.files.hostProgram)) return undefined
    return 'Berth was not installed by install.sh here, so nothing takes the request. Install the new version by hand.'
  }

  /** The folder below which root stores programs, or the nearest one above it. */
  get storage(): string {
    let path = this.files.folder
    while (!existsSync(path)) path = dirname(path)
    return path
  }

  /** The last update, which may be under way. */
  journal = (): UpgradeJournal | undefined => readUpgradeJournal(this.files.folder)

  /** Updates that have ended, the newest first. */
  history = (): PastUpgrade[] => readUpgradeHistory(this.files.folder)

  /** Since when a request waits for root; undefined: none does. */
  requestedAt(): number | undefined {
    return statSync(this.request, { throwIfNoEntry: false })?.mtimeMs
  }

  /** Root takes the request whole or not at all. */
  ask(request: UpgradeRequest) {
    mkdirSync(dirname(this.request), { recursive: true, mode: 0o750 })
    const part = `${this.request}.part`
    rmSync(part, { force: true })
    const file = openSync(part, 'wx', 0o640)
    try {
      writeSync(file, `${JSON.stringify(request)}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(part, this.request)
  }

  withdraw() {
    rmSync(this.request, { force: true })
  }
}
