// How a new program says that it works: the controller at its socket file, the agent in a file, because its controller
// decides.
import { rmSync } from 'node:fs'
import {
  TRIAL_PATH,
  trialStateFrom,
  type UpgradeJournal,
  type UpgradeReason,
} from '../../agent/protocol/release/upgrade.ts'
import { textOf } from '../machine/machine.ts'
import type { Paths } from '../machine/paths.ts'
import { reasonOf } from './before-start.ts'
import { steps } from './steps.ts'
import { change, note, uptime } from './store.ts'

export type Verdict = 'accepted' | UpgradeReason | undefined
/** Asked again and again while the new program is in its trial. */
export type Acceptance = (journal: UpgradeJournal) => Promise<Verdict>

const ANSWER_MS = 4000
/** After its first answer it may be silent, or unwell, for this long. */
const SILENT_SECONDS = 10

const acceptanceFiles = ({ agentState }: Paths) =>
  ['accepted', 'rejected'].map((name) => `${agentState}/update/${name}.json`) as [string, string]

/** Before a switch: what is there is of an earlier upgrade. */
export const forgetAcceptance = (paths: Paths) => {
  for (const file of acceptanceFiles(paths)) rmSync(file, { force: true })
}

export const acceptanceOf = (paths: Paths, { service, dataDir }: UpgradeJournal): Acceptance =>
  service === 'berth' ? byController(paths, dataDir!) : byAgent(paths)

function byController(paths: Paths, dataDir: string): Acceptance {
  let wellAt: number | undefined
  let problem = ''
  return async (journal) => {
    const { to, triedAt = 0, answerSeconds, trialSeconds } = journal
    let { answeredAt } = journal
    const state = await askController(dataDir)
    const isWell = state?.version === to && state.problem === undefined
    const now = uptime()
    if (isWell) wellAt = now
    else problem = state?.problem ?? 'It does not answer.'
    if (isWell && answeredAt === undefined) {
      answeredAt = now
      change(paths, 'berth', 'trying', (latest) => note(paths, latest, { answeredAt: now }))
      steps.passed('answered')
    }
    if (answeredAt === undefined)
      return now - triedAt > answerSeconds ? reasonOf('does_not_answer', problem) : undefined
    wellAt ??= now
    if (now - wellAt > SILENT_SECONDS) return reasonOf('stopped_answering', problem)
    return isWell && now - answeredAt >= trialSeconds ? 'accepted' : undefined
  }
}

async function askController(dataDir: string) {
  try {
    const response = await fetch(`http://localhost${TRIAL_PATH}`, {
      unix: `${dataDir}/admin.sock`,
      proxy: '',
      keepalive: false,
      signal: AbortSignal.timeout(ANSWER_MS),
    } as RequestInit)
    return trialStateFrom(await response.text())
  } catch {
    return undefined
  }
}

function byAgent(paths: Paths): Acceptance {
  const [accepted, rejected] = acceptanceFiles(paths)
  return async ({ to, triedAt = 0, trialSeconds }) => {
    const no = fields(rejected)
    if (no['version'] === to)
      return { code: String(no['code'] ?? 'not_accepted'), words: String(no['words'] ?? 'It was not accepted.') }
    if (fields(accepted)['version'] === to) return 'accepted'
    return uptime() - triedAt > trialSeconds ? reasonOf('not_accepted') : undefined
  }
}

function fields(path: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(textOf(path) ?? '{}'))
  } catch {
    return {}
  }
}
