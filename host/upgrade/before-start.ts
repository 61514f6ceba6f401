// The work before each start of the controller and of the agent, by the last good program: `berth-host host
// before-start SERVICE`. It puts the new program in its place, and the former one back. A start that fails here is
// tried again by systemd or the supervisor: every part can be done twice, and a service never runs on data of the
// other version.
import {
  isUnderWay,
  type UpgradedService,
  type UpgradeJournal,
  type UpgradeReason,
  type UpgradeTrial,
  upgradeReasons,
} from '../../agent/protocol/release/upgrade.ts'
import { putProgram } from '../machine/durable.ts'
import type { Machine } from '../machine/machine.ts'
import { controlOf } from './control.ts'
import { asOwner } from './data.ts'
import { finish, putBack } from './ending.ts'
import { steps } from './steps.ts'
import { bootId, folderOf, isWatched, journalOf, lockStart, newProgram, note, programOf, uptime } from './store.ts'

/** A new program may start so often before somebody accepts it. */
const MOST_STARTS = 3
/** Another start that is being prepared ends by then. */
const LOCK_WAIT_MS = 60_000

export const reasonOf = (code: keyof typeof upgradeReasons, words = ''): UpgradeReason => ({
  code,
  words: words ? `${upgradeReasons[code]} ${words}` : upgradeReasons[code],
})

/** Throws where the service must not be started now. */
export function beforeStart(machine: Machine, service: UpgradedService) {
  const { paths } = machine
  if (!journalOf(paths, service)) return
  const lock = lockStart(paths, service, LOCK_WAIT_MS)
  if (!lock) throw new Error('another start is being prepared')
  try {
    const journal = journalOf(paths, service)!
    if (!isUnderWay(journal)) return finish(machine, journal)
    if (journal.state === 'switching') return begin(machine, journal)
    if (journal.state === 'trying') return goOn(machine, journal)
    putBack(machine, journal, reasonOf('interrupted'))
  } finally {
    lock.release()
  }
}

/** The former program has ended: its database is copied, and the new program takes its place. */
function begin(machine: Machine, journal: UpgradeJournal) {
  const { paths } = machine
  const { service, id, to, dataDir } = journal
  if (!isWatched(paths, service)) return putBack(machine, journal, reasonOf('interrupted'))
  if (dataDir !== undefined) {
    try {
      const trial: UpgradeTrial = { format: 1, version: to, id, folder: folderOf(paths, service) }
      asOwner(machine, 'keep', dataDir, { input: JSON.stringify(trial) })
    } catch (error) {
      return putBack(machine, journal, reasonOf('copy_failed', `${(error as Error).message}.`))
    }
    steps.passed('copied')
  }
  const copied = dataDir !== undefined
  note(paths, journal, { state: 'trying', copied, triedAt: uptime(), boot: bootId(), starts: 1 })
  steps.passed('trying')
  putProgram(newProgram(paths, service), programOf(paths, service))
  steps.passed('switched')
}

/** The new program is started again during its trial. */
function goOn(machine: Machine, journal: UpgradeJournal) {
  const { paths } = machine
  const { service, starts = 0, boot } = journal
  if (boot !== bootId() || !isWatched(paths, service)) return putBack(machine, journal, reasonOf('interrupted'))
  if (starts >= MOST_STARTS) {
    const words = controlOf(machine, service).lastWords()
    return putBack(machine, journal, reasonOf('does_not_start', words && `It said: ${words}`))
  }
  note(paths, journal, { starts: starts + 1 })
  putProgram(newProgram(paths, service), programOf(paths, service))
}
