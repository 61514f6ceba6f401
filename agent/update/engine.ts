// The parts of an update that are outside of this program: it cannot replace itself and watch whether the next one
// works. The last good program of the host does that (host/upgrade/), apart from the agent and from its sandbox.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../failure.ts'
import { replaceFile } from '../host/directories.ts'
import { find, run } from '../host/exec.ts'
import { readUpgradeJournal, upgradeFolder } from '../protocol/release/upgrade.ts'
import type { AgentUpdate, Facts } from '../protocol/wire.ts'
import { VERSION } from '../version.ts'

/** A verified program that waits in a file of the agent's. */
export type NextProgram = { path: string; version: string; sha256: string }

/** `none`: nothing is known of an update, or the last one ended well. `leftMs`: until it goes back. */
export type UpdateStatus =
  | { state: 'none' }
  | { state: 'switching'; version: string }
  | { state: 'trial'; version: string; from: string; leftMs: number }
  | { state: 'went_back'; version: string; at: number; code: string; reason: string }

export interface Engine {
  readonly updatedBy: NonNullable<Facts['updatedBy']>
  /** The version that runs. */
  readonly version: string
  /** A file with the program that runs, of which a patch makes the next one; undefined: there is none. */
  readonly running: string | undefined
  status(): UpdateStatus
  /**
   * Puts the program in place of this one, which is ended for it, and takes it back where it is not accepted in time.
   * Throws `release_not_started`; then nothing has changed.
   */
  start(next: NextProgram, trialSeconds: number): Promise<void>
  /** The program on trial stays. */
  accept(version: string): void
  /** The program on trial goes back now. */
  reject(version: string, code: string, words: string): void
  /** Ends a trial that nobody watches. */
  giveUp(): void
  /** Of a fake node: it is not connected, says nothing, or leaves every vm out of its reports. */
  readonly fault?: 'away' | 'mute' | 'lies' | undefined
}

/** The folder of the data directory in which an agent and the one who watches it meet. */
export const updateFolder = (dataDir: string) => join(dataDir, 'update')
export const writeVerdict = (dataDir: string, name: 'accepted' | 'rejected', verdict: Record<string, string>) =>
  replaceFile(join(updateFolder(dataDir), `${name}.json`), `${JSON.stringify(verdict)}\n`)

/** A file to itself, so that an update of the agent is none of a controller on the same machine. */
const AGENT_PROGRAM = '/usr/local/lib/berth/berth-agent'
const PACKAGED = '/usr/bin/berth'
const START_LIMIT_SECONDS = 60
/** systemd and the supervisor start the program again after this. */
const UNWATCHED_EXIT_CODE = 1

/** `program`: the path with which the agent was started, which an update puts another file at. */
export function openEngine(dataDir: string, program = process.execPath): Engine {
  const updatedBy = program === PACKAGED ? 'package' : program === AGENT_PROGRAM ? 'itself' : 'hand'
  return {
    updatedBy: updatedBy === 'itself' && !find('berth-host') ? 'hand' : updatedBy,
    version: VERSION,
    running: '/proc/self/exe',
    status() {
      const journal = readUpgradeJournal(upgradeFolder('berth-agent'))
      if (!journal) return { state: 'none' }
      const { state, from, to, triedAt, trialSeconds, endedAt, reason } = journal
      if (state === 'switching') return { state, version: to }
      if (state === 'trying' && to === VERSION) {
        const leftMs = ((triedAt ?? uptime()) + trialSeconds - uptime()) * 1000
        return { state: 'trial', version: to, from, leftMs: Math.max(0, leftMs) }
      }
      if (state !== 'went_back' || from !== VERSION) return { state: 'none' }
      const at = Date.parse(endedAt ?? '') || 0
      return { state, version: to, at, code: reason?.code ?? 'not_accepted', reason: reason?.words ?? '' }
    },
    async start({ path, version, sha256 }, trialSeconds) {
      const given = ['--program', path, '--version', version, '--sha256', sha256, '--trial', String(trialSeconds)]
      const options = { limitSeconds: START_LIMIT_SECONDS, mayFail: true }
      const { code, err } = await run('berth-host', ['host', 'upgrade-start', 'berth-agent', ...given], options)
      if (code !== 0) throw new Failure('release_not_started', err.trim().split('\n').at(-1) || `exit code ${code}`)
    },
    accept: (version) => writeVerdict(dataDir, 'accepted', { version }),
    reject: (version, code, words) => writeVerdict(dataDir, 'rejected', { version, code, words }),
    giveUp: () => process.exit(UNWATCHED_EXIT_CODE),
  }
}

const uptime = () => Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])

/** The status as facts tell it; nothing where there is nothing to tell. */
export function toldOf(status: UpdateStatus, now: number): AgentUpdate | undefined {
  if (status.state === 'none') return undefined
  if (status.state === 'went_back') return status
  if (status.state === 'switching') return { ...status, at: now }
  const { state, version, from } = status
  return { state, version, from, at: now }
}
