// The update of a fake node. Nothing is replaced: the version that it runs is a line in a file of its data directory.
// Its controller sees the same as of a real one.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePassage, replaceFile } from '../host/directories.ts'
import { type FakeUpdateFault, updateFaultIn } from '../host/faults.ts'
import { VERSION } from '../version.ts'
import { type Engine, type NextProgram, type UpdateStatus, updateFolder } from './engine.ts'

type Stored = {
  version: string
  trial?: { from: string; until: number }
  wentBack?: { version: string; at: number; code: string; reason: string }
}

const SWITCH_MS = 500
const DEFAULT_FAULT_MS: Record<FakeUpdateFault['update'], number> = {
  does_not_start: 2000,
  cannot_connect: 0,
  lies: 0,
  hangs: 60_000,
}

export class FakeEngine implements Engine {
  readonly updatedBy = 'itself'
  /** The former program has ended. */
  onEnd = () => {}
  /** As a start of another program. */
  onRestart = () => {}
  private presence: 'away' | 'mute' | undefined
  private timers = new Set<Timer>()

  constructor(
    private dataDir: string,
    /** The file that it would run, of which a patch makes the next program. */
    private program?: string,
    private now: () => number = Date.now,
  ) {
    const { trial } = this.stored()
    if (trial) this.after(Math.max(0, trial.until - this.now()), () => this.goBack('not_accepted'))
  }

  get version() {
    return this.stored().version
  }

  get running() {
    return this.version === VERSION ? this.program : undefined
  }

  get fault() {
    const lies = this.stored().trial !== undefined && updateFaultIn(this.dataDir)?.update === 'lies'
    return this.presence ?? (lies ? 'lies' : undefined)
  }

  status(): UpdateStatus {
    const { version, trial, wentBack } = this.stored()
    if (trial) return { state: 'trial', version, from: trial.from, leftMs: Math.max(0, trial.until - this.now()) }
    return wentBack ? { state: 'went_back', ...wentBack } : { state: 'none' }
  }

  async start({ version }: NextProgram, trialSeconds: number) {
    const from = this.version
    this.store({ version, trial: { from, until: this.now() + trialSeconds * 1000 } })
    const fault = updateFaultIn(this.dataDir)
    const faultMs = fault?.ms ?? (fault ? DEFAULT_FAULT_MS[fault.update] : 0)
    this.presence = 'away'
    this.onEnd()
    this.after(trialSeconds * 1000, () => this.goBack('not_accepted'))
    if (fault?.update === 'does_not_start') return this.after(faultMs, () => this.goBack('does_not_start'))
    if (fault?.update === 'cannot_connect') return
    this.after(SWITCH_MS, () => this.restart())
    if (fault?.update === 'hangs')
      this.after(SWITCH_MS + faultMs, () => {
        this.presence = 'mute'
      })
  }

  accept(version: string) {
    this.endTimers()
    this.store({ version })
  }

  reject(_: string, code: string, words: string) {
    this.goBack(code, words)
  }

  giveUp() {
    this.goBack('not_accepted')
  }

  close() {
    this.endTimers()
  }

  private restart() {
    this.presence = undefined
    this.onRestart()
  }

  private goBack(code: string, reason = 'The fault of this fake node says so.') {
    const { version, trial } = this.stored()
    if (!trial) return
    this.endTimers()
    this.store({ version: trial.from, wentBack: { version, at: this.now(), code, reason } })
    this.restart()
  }

  private after(ms: number, work: () => void) {
    this.timers.add(setTimeout(work, ms))
  }

  private endTimers() {
    for (const timer of this.timers) clearTimeout(timer)
    this.timers.clear()
  }

  private stored(): Stored {
    try {
      return JSON.parse(readFileSync(join(updateFolder(this.dataDir), 'fake.json'), 'utf8')) as Stored
    } catch {
      return { version: VERSION }
    }
  }

  private store(stored: Stored) {
    replaceFile(join(makePassage(updateFolder(this.dataDir)), 'fake.json'), `${JSON.stringify(stored)}\n`)
  }
}
