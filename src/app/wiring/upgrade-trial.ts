// A controller that an upgrade has started answers reads alone, until the process that watches the upgrade accepts it:
// a change or a message could not be undone. Where nobody watches any more it ends, and the work before its
// next start puts the former program and its database back.
import { readFileSync, rmSync } from 'node:fs'
import {
  isUnderWay,
  readUpgradeJournal,
  readUpgradeTrial,
  TRIAL_PATH,
  trialFile,
  UNWATCHED_SECONDS,
  type UpgradeTrial,
  type UpgradeTrialState,
} from '../../../agent/protocol/release/upgrade.ts'
import { CannotStart } from '../../kernel/command-line/startup-errors.ts'
import { second } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { log } from '../../kernel/log.ts'
import { VERSION } from '../../kernel/version.ts'
import type { Config } from '../config.ts'

const LOOK_EVERY_MS = 500
/** A listener that takes longer does not work. */
const PROBE_MS = 3 * second
/** The timer of a controller that works is not this late. */
const LATE_MS = 5 * second

/** Seconds since the boot, in which the journal counts. */
const uptime = () => Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])

/** Undefined where no upgrade waits for this controller. A trial of another version or time is forgotten. */
export function trialOf(dataDir: string): Trial | undefined {
  const trial = readUpgradeTrial(dataDir)
  const journal = trial && readUpgradeJournal(trial.folder)
  if (trial && trial.version === VERSION && journal?.id === trial.id && isUnderWay(journal))
    return new Trial(trial, dataDir)
  rmSync(trialFile(dataDir), { force: true })
  return undefined
}

export class Trial {
  #problem: string | undefined = 'It has not looked at itself yet.'
  #lookedAt = performance.now()

  constructor(
    private trial: UpgradeTrial,
    private dataDir: string,
  ) {}

  /** Reads the whole database. Throws `CannotStart` for one that an upgrade has left damaged. */
  mustBeSound(db: Db) {
    const found = db.$client.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get()?.quick_check
    if (found !== 'ok') throw new CannotStart('database_damaged', `After its migrations the database says: ${found}`)
  }

  /** Resolves to whether somebody accepted this controller. `listen`: where it listens. */
  async decided(db: Db, { listen, tls }: Pick<Config, 'listen' | 'tls'>): Promise<boolean> {
    log.info('a trial of this version has begun: reads are answered, and changes when it is accepted')
    const canRead = db.$client.prepare('SELECT count(*) FROM sqlite_schema')
    for (;;) {
      const journal = readUpgradeJournal(this.trial.folder)
      if (journal?.id === this.trial.id && journal.state === 'done') break
      const { triedAt = uptime(), answerSeconds = 0, trialSeconds = 0 } = journal ?? {}
      if (!journal || uptime() > triedAt + answerSeconds + trialSeconds + UNWATCHED_SECONDS) return false
      try {
        canRead.get()
        await probe(listen, tls !== undefined)
        this.#problem = undefined
      } catch (error) {
        this.#problem = (error as Error).message
      }
      this.#lookedAt = performance.now()
      await Bun.sleep(LOOK_EVERY_MS)
    }
    rmSync(trialFile(this.dataDir), { force: true })
    log.info('this version is accepted')
    return true
  }

  /** Answers the process that watches; undefined for any other request. */
  response(request: Request): Response | undefined {
    if (new URL(request.url).pathname !== TRIAL_PATH) return undefined
    const isLate = performance.now() - this.#lookedAt > LATE_MS + PROBE_MS
    const problem = isLate ? 'Its timers do not run.' : this.#problem
    return Response.json({ version: VERSION, ...(problem && { problem }) } satisfies UpgradeTrialState)
  }
}

/** Asks the listener as a client would. Throws where it does not answer. */
async function probe({ hostname, port }: Config['listen'], isEncrypted: boolean) {
  const host =
    { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[hostname] ?? (hostname.includes(':') ? `[${hostname}]` : hostname)
  const response = await fetch(`${isEncrypted ? 'https' : 'http'}://${host}:${port}/api/v1/status`, {
    proxy: '',
    keepalive: false,
    signal: AbortSignal.timeout(PROBE_MS),
    // The certificate is for the name that clients use.
    ...(isEncrypted && { tls: { rejectUnauthorized: false } }),
  } as RequestInit)
  if (!response.ok) throw new Error(`Its listener answers ${response.status}.`)
}
