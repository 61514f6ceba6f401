// Watches an upgrade to its end: `berth-host host upgrade-watch SERVICE`. It runs apart from the terminal, the page and
// the service that wanted the upgrade. Killed and started again, it goes on where the journal is; where nobody starts
// it again, the work before the next start of the service puts the former program back.
import {
  isUnderWay,
  type UpgradedService,
  type UpgradeJournal,
  type UpgradeReason,
} from '../../agent/protocol/release/upgrade.ts'
import type { Machine } from '../machine/machine.ts'
import { acceptanceOf } from './acceptance.ts'
import { beforeStart, reasonOf } from './before-start.ts'
import { type Control, controlOf, type ServiceState } from './control.ts'
import { accept } from './ending.ts'
import { steps } from './steps.ts'
import { change, isStarting, journalOf, lockWatch, note, uptime } from './store.ts'

const LOOK_MS = 300
/** Another that watches, or somebody who only asks, lets go by then. */
const LOCK_WAIT_MS = 3000
/** The former program stops within this time, or is killed by who keeps it. */
const SWITCH_SECONDS = 60
/** A program that goes back has nothing that is worth waiting for. */
const STOP_SECONDS = 12

/** Answers the exit code: 0 when the upgrade has ended, either way. */
export async function watch(machine: Machine, service: UpgradedService): Promise<number> {
  const { paths } = machine
  const lock = lockWatch(paths, service, LOCK_WAIT_MS)
  if (!lock) return 0
  steps.passed('watched')
  const control = controlOf(machine, service)
  for (;;) {
    const journal = journalOf(paths, service)
    if (!journal || !isUnderWay(journal)) break
    if (journal.state === 'switching') await untilSwitched(machine, journal, control)
    else if (journal.state === 'trying') await untilDecided(machine, journal, control)
    else await untilBack(machine, journal, control)
  }
  lock.release()
  return 0
}

async function untilSwitched(machine: Machine, journal: UpgradeJournal, control: Control) {
  const { paths } = machine
  const { service } = journal
  change(paths, service, 'switching', (now) => note(paths, now, { restartedAt: now.restartedAt ?? uptime() }))
  control.restart()
  steps.passed('restarted')
  if (await leaves(machine, service, 'switching', SWITCH_SECONDS)) return
  change(paths, service, 'switching', (now) =>
    note(paths, now, { state: 'going_back', reason: reasonOf('not_switched') }),
  )
}

async function untilDecided(machine: Machine, { service, ...begun }: UpgradeJournal, control: Control) {
  const { paths } = machine
  const look = acceptanceOf(paths, { service, ...begun })
  // A service that is started again passes through states in which nothing of it runs.
  let before: ServiceState = 'active'
  for (;;) {
    const journal = journalOf(paths, service)
    if (journal?.state !== 'trying') return
    const verdict = await look(journal)
    if (verdict === 'accepted') return change(paths, service, 'trying', (now) => accept(machine, now))
    const state = isStarting(paths, service) ? 'active' : await control.state()
    const reason = verdict ?? (state === before ? reasonOfEnd(state, control) : undefined)
    before = state
    if (reason) return change(paths, service, 'trying', (now) => note(paths, now, { state: 'going_back', reason }))
    await Bun.sleep(LOOK_MS)
  }
}

function reasonOfEnd(state: ServiceState, control: Control): UpgradeReason | undefined {
  if (state === 'active') return undefined
  if (state === 'stopped') return reasonOf('stopped')
  const words = control.lastWords()
  return reasonOf('does_not_start', words && `It said: ${words}`)
}

/** Goes on until it is done: anything else would leave a program that nobody accepted. */
async function untilBack(machine: Machine, { service }: UpgradeJournal, control: Control) {
  // Stopped by a person, it stays stopped.
  if ((await control.state()) === 'stopped') return beforeStart(machine, service)
  control.restart()
  if (await leaves(machine, service, 'going_back', STOP_SECONDS)) return
  control.kill()
  await leaves(machine, service, 'going_back', STOP_SECONDS)
}

/** Does the journal leave this state in time? The work before a start may take as long as its database needs. */
async function leaves(machine: Machine, service: UpgradedService, state: UpgradeJournal['state'], seconds: number) {
  for (let end = uptime() + seconds; uptime() < end; await Bun.sleep(LOOK_MS)) {
    if (journalOf(machine.paths, service)?.state !== state) return true
    if (isStarting(machine.paths, service)) end = uptime() + seconds
  }
  return false
}
