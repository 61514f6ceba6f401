// The beginning of an upgrade: the new program lies verified in root's folder, the former one has a second name, and
// the journal says `switching`. Until then nothing that runs has changed.
import { randomUUID } from 'node:crypto'
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { platformHere } from '../../agent/protocol/release/manifest.ts'
import { isUnderWay, type UpgradedService, type UpgradeJournal } from '../../agent/protocol/release/upgrade.ts'
import { flush, putProgram } from '../machine/durable.ts'
import type { Ended } from '../machine/exec.ts'
import { type Machine, makeDirectory } from '../machine/machine.ts'
import { forgetAcceptance } from './acceptance.ts'
import { dataDirOf } from './data.ts'
import { steps } from './steps.ts'
import { folderOf, formerProgram, journalOf, lockWatch, newProgram, note, programOf } from './store.ts'

/** An upgrade does not begin; `code` is one of `releaseRefusals`, or of the list below. Nothing was changed. */
export class UpgradeRefused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/** A program says this of itself to `version --json`. */
export type Described = { version: string; protocol: number; schema: string; platform: string }
/** A program for another processor, or one that hangs, says nothing by then. */
const ANSWER_SECONDS = 10

/** Throws `UpgradeRefused` for a program that does not run here. */
export function describedBy({ exec }: Machine, program: string): Described {
  const silent = (words: string) => new UpgradeRefused('program_silent', `${program} does not run here: ${words}.`)
  let ended: Ended
  try {
    ended = exec.ask(program as '/', ['version', '--json'], {
      limitSeconds: ANSWER_SECONDS,
      env: { BUN_OPTIONS: undefined, BUN_BE_BUN: undefined },
      cwd: '/',
    })
  } catch (error) {
    // A file that is no program for this processor.
    throw silent((error as Error).message)
  }
  try {
    if (ended.code === 0) return JSON.parse(ended.out)
  } catch {
    throw silent('it does not say what it is')
  }
  throw silent(ended.err.trim() || `it ended with ${ended.code}`)
}

type Content = {
  /** The program must say this of itself. */
  says: Partial<Described> & { version: string }
  /** Writes the program, and throws where it is not the right one. */
  take(write: (chunk: Uint8Array) => void): Promise<void>
}
export type Wanted = Content & {
  service: UpgradedService
  by: string
  trialSeconds: number
  answerSeconds: number
}

/** Takes the program and asks it what it is; nothing of it stays. Throws `UpgradeRefused` and what `take` throws. */
export async function tried(machine: Machine, content: Content) {
  const file = `${folderOf(machine.paths, 'berth')}/tried`
  makeDirectory(folderOf(machine.paths, 'berth'))
  try {
    await takeProgram(machine, file, content)
  } finally {
    rmSync(file, { force: true })
  }
}

/** Throws `UpgradeRefused` and what `take` throws; then nothing has changed. */
export async function prepare(machine: Machine, wanted: Wanted): Promise<UpgradeJournal> {
  const { paths } = machine
  const { service, says, by, trialSeconds, answerSeconds } = wanted
  const folder = folderOf(paths, service)
  makeDirectory(folder)
  for (const above of [dirname(folder), paths.library]) flush(above)
  const lock = lockWatch(paths, service, 500)
  if (!lock) throw underWayAlready(journalOf(paths, service))
  try {
    const before = journalOf(paths, service)
    if (before && isUnderWay(before)) throw underWayAlready(before)
    const program = programOf(paths, service)
    const from = describedBy(machine, program).version
    await takeProgram(machine, newProgram(paths, service), wanted)
    // A program of the upgrade before may have another file.
    putProgram(program, formerProgram(paths, service))
    if (service === 'berth-agent') forgetAcceptance(paths)
    const journal = note(paths, {
      ...{ format: 1, id: randomUUID(), service, from, to: says.version, by, startedAt: new Date().toISOString() },
      ...{ state: 'switching', trialSeconds, answerSeconds },
      ...(service === 'berth' && { dataDir: dataDirOf(paths) }),
    })
    steps.passed('prepared')
    return journal
  } catch (error) {
    rmSync(newProgram(paths, service), { force: true })
    throw error
  } finally {
    lock.release()
  }
}

const underWayAlready = (journal: UpgradeJournal | undefined) =>
  new UpgradeRefused(
    'upgrade_under_way',
    `An upgrade${journal ? ` to ${journal.to}` : ''} is under way: berth upgrade --status shows it.`,
  )

/** The file is whole and checked, or it is not there. */
async function takeProgram(machine: Machine, to: string, { take, says }: Content) {
  const part = `${to}.part`
  rmSync(part, { force: true })
  const file = openSync(part, 'wx', 0o600)
  try {
    await take((chunk) => {
      for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at)
    })
    // Before the flush: a program that nobody may run is none after a loss of power.
    fchmodSync(file, 0o755)
    fsyncSync(file)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  renameSync(part, to)
  flush(dirname(to))
  mustSay(describedBy(machine, to), { platform: platformHere, ...says })
}

function mustSay(found: Described, wanted: Partial<Described>) {
  for (const [field, value] of Object.entries(wanted))
    if (found[field as keyof Described] !== value)
      throw new UpgradeRefused(
        'program_differs',
        `The program says that its ${field} is ${found[field as keyof Described]}, and the release says ${value}.`,
      )
}
