// The end of an upgrade: what is left to do when the journal says that it went well or that it went back. Each part can
// be done again.
import { existsSync, rmSync } from 'node:fs'
import type { UpgradeJournal, UpgradeReason } from '../../agent/protocol/release/upgrade.ts'
import { putProgram } from '../machine/durable.ts'
import type { Machine } from '../machine/machine.ts'
import { hostProgram, type Paths } from '../machine/paths.ts'
import { asOwner, isLeft } from './data.ts'
import { steps } from './steps.ts'
import { addToHistory, formerProgram, hasController, newProgram, note, programOf, uptime } from './store.ts'

/** Changes were refused, or commands not taken, since the restart. */
const stoppedMs = ({ restartedAt }: UpgradeJournal) =>
  restartedAt === undefined ? {} : { stoppedMs: Math.max(0, Math.round((uptime() - restartedAt) * 1000)) }

/** The new program stays. */
export function accept(machine: Machine, journal: UpgradeJournal) {
  const endedAt = new Date().toISOString()
  const done = note(machine.paths, journal, { state: 'done', endedAt, ...stoppedMs(journal) })
  steps.passed('done')
  finish(machine, done)
}

/** The former program is put back with its database. Throws where that is not possible: then nothing may start. */
export function putBack(machine: Machine, journal: UpgradeJournal, reason: UpgradeReason) {
  const { paths } = machine
  const { service, copied, dataDir } = journal
  const going = note(paths, journal, { state: 'going_back', reason: journal.reason ?? reason })
  steps.passed('going back')
  if (copied && dataDir !== undefined) {
    asOwner(machine, 'restore', dataDir)
    steps.passed('database restored')
  }
  if (existsSync(formerProgram(paths, service))) {
    putProgram(formerProgram(paths, service), programOf(paths, service))
    if (going.reason?.code === 'taken_back') putOthers(paths, service, formerProgram(paths, service))
  }
  steps.passed('program put back')
  const endedAt = new Date().toISOString()
  finish(machine, note(paths, going, { state: 'went_back', endedAt, ...stoppedMs(journal) }))
}

/** For an upgrade that has ended. */
export function finish(machine: Machine, journal: UpgradeJournal) {
  const { paths } = machine
  const { service, from, to, by, startedAt, endedAt = startedAt, state, dataDir } = journal
  const result = state === 'done' ? 'done' : 'went_back'
  const { reason, stoppedMs } = journal
  addToHistory(paths, {
    ...{ service, from, to, by, startedAt, endedAt, result },
    ...(stoppedMs !== undefined && { stoppedMs }),
    ...(reason && { reason }),
  })
  steps.passed('history')
  // An upgrade that went well leaves both, for an operator who goes back later.
  if (result === 'went_back' && dataDir !== undefined && isLeft(dataDir)) asOwner(machine, 'forget', dataDir)
  const program = newProgram(paths, service)
  if (!existsSync(program)) return
  if (result === 'done') putOthers(paths, service, program)
  steps.passed('last good program')
  rmSync(program, { force: true })
}

/** The last good program of a machine is that of its controller, or of its agent where there is none. */
function putOthers(paths: Paths, service: UpgradeJournal['service'], program: string) {
  if (service === 'berth-agent' && hasController(paths)) return
  putProgram(program, hostProgram(paths))
  if (service === 'berth-agent' && existsSync(paths.program)) putProgram(program, paths.program)
}
