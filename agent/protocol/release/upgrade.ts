// The upgrade of a service on its machine, as root writes it and everybody there may read it: the journal of the last
// one, the history, and the request with which a controller asks root for one.
import { readFileSync } from 'node:fs'
import { type Static, Type as t } from 'typebox'
import { Compile } from 'typebox/compile'

export const upgradedServices = ['berth', 'berth-agent'] as const
export type UpgradedService = (typeof upgradedServices)[number]

/** The folder of a service's upgrades, below the folder of Berth's own programs. */
export const upgradeFolder = (service: UpgradedService, library = '/usr/local/lib/berth') =>
  `${library}/upgrade/${service}`
export const journalFile = (folder: string) => `${folder}/journal.json`
export const historyFile = (folder: string) => `${folder}/history.jsonl`

/** Why a service went back to its former program, or why root refused a request. `words` say it for this case. */
export const upgradeReasons = {
  does_not_start: 'The new program ended again and again.',
  does_not_answer: 'The new program did not answer in time.',
  stopped_answering: 'The new program answered, and then it did not any more.',
  not_accepted: 'The new program was not accepted in time.',
  not_switched: 'The service could not be stopped or started.',
  copy_failed: 'The database could not be copied before.',
  interrupted: 'The machine stopped, or the upgrade was ended, before the trial was over.',
  stopped: 'The service was stopped during its trial.',
  taken_back: 'An operator went back.',
  request_invalid: 'The request could not be read.',
} as const

const version = t.String()
const reason = t.Object({ code: t.String(), words: t.String() })
/**
 * `switching`: the new program is not in its place yet. `trying`: it is, and nobody has accepted it. `going_back`: it
 * was not accepted, and the former one is not in its place yet. Times are ISO texts; `At` on the clock of the boot
 * (/proc/uptime) in seconds. `copied`: the database of before is kept. `starts`: of the new program. `trialSeconds`: of
 * the controller from its first answer, of an agent from the switch; `answerSeconds`: until the first answer.
 */
const Journal = t.Object({
  format: t.Literal(1),
  id: t.String(),
  service: t.Enum([...upgradedServices]),
  from: version,
  to: version,
  by: t.String(),
  startedAt: t.String(),
  endedAt: t.Optional(t.String()),
  state: t.Enum(['switching', 'trying', 'going_back', 'done', 'went_back']),
  reason: t.Optional(reason),
  trialSeconds: t.Number(),
  answerSeconds: t.Number(),
  stoppedMs: t.Optional(t.Number()),
  boot: t.Optional(t.String()),
  restartedAt: t.Optional(t.Number()),
  triedAt: t.Optional(t.Number()),
  answeredAt: t.Optional(t.Number()),
  starts: t.Optional(t.Number()),
  copied: t.Optional(t.Boolean()),
  dataDir: t.Optional(t.String()),
})
export type UpgradeJournal = Static<typeof Journal>
export type UpgradeReason = Static<typeof reason>
const checkJournal = Compile(Journal)

/** A line of the history. `refused`: root did not begin what a request wanted; `to` may be empty then. */
const Past = t.Object({
  service: t.Enum([...upgradedServices]),
  from: version,
  to: version,
  by: t.String(),
  startedAt: t.String(),
  endedAt: t.String(),
  stoppedMs: t.Optional(t.Number()),
  result: t.Enum(['done', 'went_back', 'refused']),
  reason: t.Optional(reason),
})
export type PastUpgrade = Static<typeof Past>
const checkPast = Compile(Past)

/** Of the controller's page: `DATA_DIR/upgrade/request.json`; `file` is a name in `DATA_DIR/upgrade/incoming`. */
const Request = t.Object(
  {
    format: t.Literal(1),
    file: t.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' }),
    by: t.String({ maxLength: 200 }),
    at: t.String({ maxLength: 40 }),
  },
  { additionalProperties: false },
)
export type UpgradeRequest = Static<typeof Request>
const checkRequest = Compile(Request)

export const requestFolder = (dataDir: string) => `${dataDir}/upgrade`
export const REQUEST_FILE = 'request.json'
export const INCOMING_FOLDER = 'incoming'

export const TRIAL_FILE = 'trial.json'
export const trialFile = (dataDir: string) => `${requestFolder(dataDir)}/${TRIAL_FILE}`
/** The controller of this version answers reads alone until the journal in `folder` with this `id` is `done`. */
const Trial = t.Object({ format: t.Literal(1), version, id: t.String(), folder: t.String() })
export type UpgradeTrial = Static<typeof Trial>
const checkTrial = Compile(Trial)

/** Answers the trial that the work before the start left for a new controller, or undefined. */
export const readUpgradeTrial = (dataDir: string): UpgradeTrial | undefined =>
  parsed(textOf(trialFile(dataDir)), checkTrial)

/** On the socket file of a controller: how a trial goes, and nothing outside of one. */
export const TRIAL_PATH = '/upgrade-trial'
/** `problem`: what does not work; left out where everything does. */
const TrialState = t.Object({ version, problem: t.Optional(t.String()) })
export type UpgradeTrialState = Static<typeof TrialState>
const checkTrialState = Compile(TrialState)
export const trialStateFrom = (text: string): UpgradeTrialState | undefined => parsed(text, checkTrialState)

/** A new program that nobody accepts ends this long after its trial; before its next start the former is put back. */
export const UNWATCHED_SECONDS = 30

/** Undefined for a text that is no request. */
export const requestFrom = (text: string): UpgradeRequest | undefined => parsed(text, checkRequest)

/** The journal of the last upgrade, or undefined where there was none. */
export const readUpgradeJournal = (folder: string): UpgradeJournal | undefined =>
  parsed(textOf(journalFile(folder)), checkJournal)

/** The newest first. */
export const readUpgradeHistory = (folder: string, most = 100): PastUpgrade[] =>
  textOf(historyFile(folder))
    .split('\n')
    .slice(-most - 1)
    .flatMap((line) => parsed(line, checkPast) ?? [])
    .toReversed()

/** Is a new program in its place, or about to be, that may still go back? */
export const isUnderWay = ({ state }: UpgradeJournal) => state !== 'done' && state !== 'went_back'

/** A restart without an upgrade takes this long. */
const RESTART_SECONDS = 3
/** Measured with cold disks: the copy of the database, then its check. */
const [COPIED_BYTES, CHECKED_BYTES] = [150e6, 300e6]
/** How long changes are refused in an upgrade that ends well, migrations of a large database apart. */
export const expectedStopSeconds = (databaseBytes: number, trialSeconds: number): number =>
  Math.ceil(RESTART_SECONDS + databaseBytes / COPIED_BYTES + databaseBytes / CHECKED_BYTES + trialSeconds)

function parsed<T>(text: string, check: { Check(value: unknown): value is T }): T | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return check.Check(value) ? value : undefined
  } catch {
    return undefined
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
