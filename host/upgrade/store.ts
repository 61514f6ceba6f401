// The records of a service's upgrades, which root alone writes: its journal, its history, and its locks.
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import {
  historyFile,
  isUnderWay,
  journalFile,
  type PastUpgrade,
  readUpgradeHistory,
  readUpgradeJournal,
  type UpgradedService,
  type UpgradeJournal,
  upgradedServices,
  upgradeFolder,
} from '../../agent/protocol/release/upgrade.ts'
import { writeDurably } from '../machine/durable.ts'
import { agentProgram, controllerEnv, type Paths } from '../machine/paths.ts'
import { lock } from '../services/listening.ts'

/** Lines of the history that stay. */
const MOST_PAST = 200
const CHANGE_WAIT_MS = 3000

export const folderOf = ({ library }: Paths, service: UpgradedService) => upgradeFolder(service, library)
export const journalOf = (paths: Paths, service: UpgradedService) => readUpgradeJournal(folderOf(paths, service))

/** The program that the service runs. */
export const programOf = (paths: Paths, service: UpgradedService) =>
  service === 'berth' ? paths.program : agentProgram(paths)
/** The verified program that is to run. */
export const newProgram = (paths: Paths, service: UpgradedService) => `${folderOf(paths, service)}/new`
/** The program that ran before. */
export const formerProgram = (paths: Paths, service: UpgradedService) => `${folderOf(paths, service)}/former`

/** Does this machine run a controller? Then the program that people call is updated with it, else with the agent. */
export const hasController = (paths: Paths) => existsSync(controllerEnv(paths))

/** Writes the journal with these changes. Answers it. */
export function note(paths: Paths, journal: UpgradeJournal, changes: Partial<UpgradeJournal> = {}): UpgradeJournal {
  const written = { ...journal, ...changes }
  writeDurably(journalFile(folderOf(paths, journal.service)), `${JSON.stringify(written, null, 2)}\n`)
  return written
}

/** Adds a line to the history, once. */
export function addToHistory(paths: Paths, line: PastUpgrade) {
  const folder = folderOf(paths, line.service)
  const before = readUpgradeHistory(folder, MOST_PAST).toReversed()
  if (before.some(({ startedAt, result }) => startedAt === line.startedAt && result === line.result)) return
  const lines = [...before, line].slice(-MOST_PAST)
  writeDurably(historyFile(folder), lines.map((each) => `${JSON.stringify(each)}\n`).join(''))
}

/** An upgrade of any service that may still go back. */
export const underWay = (paths: Paths): UpgradeJournal | undefined =>
  upgradedServices.flatMap((service) => journalOf(paths, service) ?? []).find(isUnderWay)

/** Held until `release`, or until the process ends. */
export type Lock = { release(): void }

/** The lock of the one who watches an upgrade, or begins one; undefined while another has it. */
export const lockWatch = (paths: Paths, service: UpgradedService, waitMs = 0) =>
  locked(`${folderOf(paths, service)}/lock`, waitMs)
/** The lock of the work before a start of the service. */
export const lockStart = (paths: Paths, service: UpgradedService, waitMs = 0) =>
  locked(`${folderOf(paths, service)}/start.lock`, waitMs)

export const isWatched = (paths: Paths, service: UpgradedService) => isLocked(`${folderOf(paths, service)}/lock`)
export const isStarting = (paths: Paths, service: UpgradedService) => isLocked(`${folderOf(paths, service)}/start.lock`)

/** Changes the journal in this state, and not while the work before a start changes it. */
export function change(
  paths: Paths,
  service: UpgradedService,
  state: UpgradeJournal['state'],
  make: (journal: UpgradeJournal) => unknown,
) {
  const lock = lockStart(paths, service, CHANGE_WAIT_MS)
  const journal = journalOf(paths, service)
  if (lock && journal?.state === state) make(journal)
  lock?.release()
}

function locked(path: string, waitMs: number): Lock | undefined {
  const file = openSync(path, 'a', 0o600)
  for (const end = performance.now() + waitMs; ; Bun.sleepSync(20)) {
    if (lock(file)) return { release: () => closeSync(file) }
    if (performance.now() >= end) break
  }
  closeSync(file)
  return undefined
}

function isLocked(path: string): boolean {
  const held = locked(path, 0)
  held?.release()
  return !held
}

/** Seconds since the boot, and the boot: a time of another boot says nothing here. */
export const uptime = () => Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])
export const bootId = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
