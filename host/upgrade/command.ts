// `berth upgrade`: brings the controller of this machine to a release, or says what that would do.
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ReleaseRefused } from '../../agent/protocol/release/manifest.ts'
import { trustedKeys } from '../../agent/protocol/release/trusted-keys.ts'
import {
  isUnderWay,
  type PastUpgrade,
  readUpgradeHistory,
  type UpgradeJournal,
} from '../../agent/protocol/release/upgrade.ts'
import { bytes as bytesInWords } from '../../src/kernel/words.ts'
import { type Machine, makeDirectory, openMachine } from '../machine/machine.ts'
import { Failed } from '../machine/report.ts'
import { ANSWER_SECONDS, begin, rehearse, TRIAL_SECONDS } from './controller.ts'
import { goBack } from './go-back.ts'
import { UpgradeRefused } from './prepare.ts'
import { checked, mustBeUpgradable } from './release/checks.ts'
import { downloaded, forgetDownload } from './release/download.ts'
import { startWatching } from './start.ts'
import { folderOf, isWatched, journalOf } from './store.ts'

const usage = `berth upgrade FILE|ADDRESS    brings the controller of this machine to a signed release (docs/upgrade.md)
berth upgrade FILE --check    checks everything and says for how long changes would be refused; nothing is changed
berth upgrade --status        the upgrade under way, and those that were
berth upgrade --go-back --discard-newer
                              after an upgrade that went well: the program of before, and its database of that time

  An address is that of one file, https://…: a download that broke off goes on where it was.

  --allow-downgrade           the release may be older than what runs here
  --trial SECONDS             the new version answers reads alone for so long (${TRIAL_SECONDS})
  --answer-within SECONDS     it must begin to answer by then, its migrations included (${ANSWER_SECONDS})

A version that does not work is taken back by itself, with its database. The upgrade goes on when this terminal is
closed. Run it as root. Exit 0 done, 1 refused or went back (code and message on standard error), 2 wrong use.`

const options = {
  check: { type: 'boolean', default: false },
  status: { type: 'boolean', default: false },
  'go-back': { type: 'boolean', default: false },
  'discard-newer': { type: 'boolean', default: false },
  'allow-downgrade': { type: 'boolean', default: false },
  trial: { type: 'string', default: String(TRIAL_SECONDS) },
  'answer-within': { type: 'string', default: String(ANSWER_SECONDS) },
  help: { type: 'boolean', short: 'h', default: false },
} as const
type Values = ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>['values']

/** Runs `berth upgrade ARGS`. Answers the exit code. */
export async function upgradeCommand(args: readonly string[]): Promise<number> {
  let given: { values: Values; positionals: string[] }
  try {
    given = parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    return wrongUse((error as Error).message)
  }
  const { values, positionals } = given
  if (values.help) {
    console.log(usage)
    return 0
  }
  const deeds = Number(values.status) + Number(values['go-back']) + positionals.length
  if (deeds !== 1) return wrongUse('Give one release, or --status, or --go-back.')
  for (const flag of ['trial', 'answer-within'] as const)
    if (!/^[1-9]\d{0,4}$/.test(values[flag])) return wrongUse(`--${flag} is a number of seconds.`)
  if (values['go-back'] && !values['discard-newer'])
    return wrongUse(
      '--go-back restores the database of before: what was changed since is lost. Add --discard-newer to confirm it.',
    )
  process.umask(0o022)
  if (values.status) return showStatus(openMachine('/dev/null'))
  if (process.getuid?.() !== 0) return failed('not_root', 'Run this as root: sudo berth upgrade …')
  return inWords(() => run(positionals[0], values))
}

async function run(source: string | undefined, values: Values): Promise<number> {
  const { paths } = openMachine('/dev/null')
  makeDirectory(paths.logs, 0o750)
  const machine = openMachine(`${paths.logs}/upgrade.log`)
  await mustBeUpgradable(machine)
  await mustBeIdle(machine)
  if (source === undefined) {
    await goBack(machine, 'command line')
    return follow(machine)
  }
  const file = await localFile(machine, source)
  try {
    if (await upgradeTo(machine, { file, source }, values)) return 0
    if (file !== source) forgetDownload(machine)
  } catch (error) {
    // A file that is no release is of no use in the next call either.
    if (file !== source && error instanceof ReleaseRefused) forgetDownload(machine)
    throw error
  }
  return follow(machine)
}

/** Begins, or answers true where it was only checked. */
async function upgradeTo(machine: Machine, { file, source }: { file: string; source: string }, values: Values) {
  const { report } = machine
  const trialSeconds = Number(values.trial)
  const answerSeconds = Number(values['answer-within'])
  let found: ReturnType<typeof checked> | undefined
  await report.step(`Release ${source}`, () => {
    found = checked(machine, file, { allowsDowngrade: values['allow-downgrade'], trialSeconds })
    return `Berth ${found.release.manifest.version} of ${found.release.manifest.date}`
  })
  const { release, running, stopSeconds } = found!
  const { version } = release.manifest
  if (values.check) {
    await report.step('Its program', () => rehearse(machine, found!))
    report.say(
      `\nBerth ${running.version} can be upgraded to ${version}. Changes would be refused for about ${stopSeconds} ` +
        's, while reads are answered; servers are not touched. Nothing was changed.',
    )
    return true
  }
  await report.step('Its program', () => begin(machine, found!, { by: 'command line', trialSeconds, answerSeconds }))
  return false
}

/** An upgrade that nobody watches any more is ended first, one way or the other. */
async function mustBeIdle(machine: Machine) {
  const { paths, report } = machine
  const journal = journalOf(paths, 'berth')
  if (!journal || !isUnderWay(journal)) return
  if (isWatched(paths, 'berth'))
    throw new UpgradeRefused('upgrade_under_way', `An upgrade to ${journal.to} is under way: berth upgrade --status.`)
  report.say(`The upgrade to ${journal.to} was interrupted. It is ended first.`)
  await startWatching(machine, 'berth')
  await follow(machine)
}

/** The release as a file of this machine. */
async function localFile(machine: Machine, source: string): Promise<string> {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(source)) {
    if (!existsSync(source)) throw new UpgradeRefused('file_not_usable', `There is no file ${source}.`)
    return source
  }
  let file = ''
  await machine.report.step(`Fetching ${source}`, async () => {
    file = await downloaded(machine, source, trustedKeys())
    return bytesInWords(Bun.file(file).size)
  })
  return file
}

const LOOK_MS = 300
/** Prints how the upgrade goes until it has ended. Answers the exit code. */
async function follow(machine: Machine): Promise<number> {
  const { paths, report } = machine
  const words: Record<UpgradeJournal['state'], string> = {
    switching: 'Stopping the controller and copying its database',
    trying: 'Trial of the new version: reads are answered',
    going_back: 'Going back to the former version',
    done: '',
    went_back: '',
  }
  for (;;) {
    const journal = journalOf(paths, 'berth')
    if (!journal) return 0
    const { state } = journal
    if (!isUnderWay(journal)) return sayEnd(machine, journal)
    await report.step(words[state], async () => {
      while (journalOf(paths, 'berth')?.state === state) {
        if (!isWatched(paths, 'berth')) await startWatching(machine, 'berth')
        await Bun.sleep(LOOK_MS)
      }
    })
  }
}

function sayEnd({ report }: Machine, { state, from, to, reason, stoppedMs = 0 }: UpgradeJournal): number {
  const seconds = (stoppedMs / 1000).toFixed(1)
  if (state === 'done') {
    report.say(`\nThe controller is Berth ${to}. Changes were refused for ${seconds} s.`)
    return 0
  }
  console.error(`\n${reason?.code}: ${reason?.words}\nThe controller is Berth ${from}, with its database of before.`)
  return 1
}

function showStatus({ paths }: Machine): number {
  const journal = journalOf(paths, 'berth')
  if (journal && isUnderWay(journal)) {
    const { from, to, state, startedAt } = journal
    const more = isWatched(paths, 'berth') ? '' : '; nobody watches it: a restart of the controller goes back'
    console.log(`An upgrade from ${from} to ${to} is ${inWord(state)} since ${startedAt}${more}.`)
  }
  const past = readUpgradeHistory(folderOf(paths, 'berth'))
  for (const each of past) console.log(lineOf(each))
  if (!past.length) console.log('The controller was not upgraded yet.')
  return 0
}

const inWord = (state: string) => state.replace('_', ' ')
const lineOf = ({ startedAt, from, to, result, by, reason }: PastUpgrade) =>
  [
    ...[startedAt, `${from} → ${to || '?'}`, `${inWord(result)}, by ${by}`],
    ...(reason ? [`(${reason.code}: ${reason.words})`] : []),
  ].join('  ')

function wrongUse(words: string): number {
  console.error(`${words}\n\n${usage}`)
  return 2
}

function failed(code: string, words: string): number {
  console.error(`${code}: ${words}`)
  return 1
}

async function inWords(work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof UpgradeRefused || error instanceof ReleaseRefused) return failed(error.code, error.message)
    if (error instanceof Failed) return failed('upgrade_failed', error.problem)
    const { code } = error as { code?: string }
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR' || code === 'ENOSPC')
      return failed('file_not_usable', (error as Error).message)
    throw error
  }
}
