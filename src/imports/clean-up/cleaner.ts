// Removes from source hypervisors what ended imports have left there, beside all jobs: kept definitions first, the keys
// of nodes last, because nobody gets in without them. Nothing else of the other panel is touched.
import { day, hour, minute, second } from '../../kernel/db/clock.ts'
import { type Db, write } from '../../kernel/db/open.ts'
import { CommandFailed } from '../../kernel/jobs/failures.ts'
import { log } from '../../kernel/log.ts'
import { count } from '../../kernel/words.ts'
import { cleanUpOf, dueCleanUps, type ImportCleanUp, putCleanUp } from '../import-records/clean-ups/queries.ts'
import { importById, noteIn } from '../import-records/queries.ts'
import { ask, type NodeLink } from '../source-access/ask.ts'
import { findingOfFailure } from '../source-access/hosts.ts'
import { nodeName } from '../source-access/logins.ts'

const AT_ONCE = 4
const LIMIT_MS = minute
const AWAY_MS = second
/** After that a person removes the rest. */
const GIVEN_UP_AFTER_MS = 7 * day

declare module '../../kernel/register.ts' {
  interface Services {
    sourceCleaner: SourceCleaner
  }
}
type App = { clock: () => number }
type Key = Pick<ImportCleanUp, 'importId' | 'hypervisorId'>

/** After so many tries: every minute for ten minutes, then every hour. */
const pauseMs = (tries: number) => (tries < 10 ? minute : hour)
const keyOf = ({ importId, hypervisorId }: Key) => `${importId} ${hypervisorId}`

export class SourceCleaner {
  private going = new Map<string, Promise<void>>()
  private stopping = new AbortController()

  /** Begins what is due. */
  turn(hub: NodeLink, db: Db, app: App) {
    for (const row of dueCleanUps(db, app.clock(), AT_ONCE * 2)) {
      if (this.going.size >= AT_ONCE) break
      const key = keyOf(row)
      if (this.going.has(key)) continue
      const ended = this.clean(hub, db, app, row)
        .catch((error) => log.error('a source hypervisor could not be cleaned up', { error }))
        .finally(() => this.going.delete(key))
      this.going.set(key, ended)
    }
  }
  /** Resolves when nothing is at work. */
  async settled() {
    while (this.going.size) await Promise.all(this.going.values())
  }
  async stop() {
    this.stopping.abort()
    await this.settled()
  }

  private async clean(hub: NodeLink, db: Db, app: App, row: ImportCleanUp) {
    const nodes = row.nodeIds.filter((id) => hub.connected(id))
    let words = nodes.length
      ? ''
      : `None of its nodes is connected: ${row.nodeIds.map((id) => nodeName(db, id)).join(', ')}.`
    for (const nodeId of nodes) {
      const failed = await this.cleanBy(hub, db, app, row, nodeId)
      if (failed === 'stopped') return
      if (failed === null) return
      words = failed
    }
    write(db, (tx) => {
      const now = app.clock()
      const before = cleanUpOf(tx, row.importId, row.hypervisorId)!
      const isGivenUp = now - before.since >= GIVEN_UP_AFTER_MS
      const tries = before.tries + 1
      const state = isGivenUp ? ('given_up' as const) : before.state
      putCleanUp(tx, { ...before, tries, words, state, nextAt: now + pauseMs(tries) })
    })
  }

  /** Answers why it has not ended, in words; null: it has. */
  private async cleanBy(hub: NodeLink, db: Db, app: App, row: ImportCleanUp, nodeId: string) {
    const { importId, hypervisorId, host } = row
    const options = { limitMs: LIMIT_MS, awayMs: AWAY_MS, signal: this.stopping.signal }
    const note = (change: (before: ImportCleanUp) => Partial<ImportCleanUp>) =>
      write(db, (tx) => {
        const before = cleanUpOf(tx, importId, hypervisorId)!
        putCleanUp(tx, { ...before, ...change(before) })
        return cleanUpOf(tx, importId, hypervisorId)!
      })
    try {
      for (const domain of cleanUpOf(db, importId, hypervisorId)!.domains) {
        await ask(hub, nodeId, 'source-host.forget', { host, domain }, options)
        note(({ domains, definitionsRemoved }) => ({
          domains: domains.filter((one) => one !== domain),
          definitionsRemoved: definitionsRemoved + 1,
        }))
      }
      let removed = 0
      if (row.hasKeys && host) {
        // The key of the node that signs in goes last, which the node sees to.
        const nodeIds = [...row.nodeIds]
        removed = (await ask(hub, nodeId, 'source-host.remove-keys', { host, nodeIds }, options)).removed
      }
      const ended = note(({ keysRemoved }) => ({
        ...{ state: 'done', keysRemoved: keysRemoved + removed, endedAt: app.clock() },
        words: row.hasKeys ? null : row.words,
      }))
      write(db, (tx) => tell(tx, ended, app.clock()))
      return null
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error
      if (error.failure === 'stopping') return 'stopped'
      const found = findingOfFailure(error.failure, nodeName(db, nodeId), error.message).words
      return `${found[0]!.toUpperCase()}${found.slice(1)}.`
    }
  }
}

function tell(tx: Parameters<typeof noteIn>[0], row: ImportCleanUp, now: number) {
  // A cancelled import has no log any more.
  if (importById(tx, row.importId) === undefined) return
  const { definitionsRemoved, keysRemoved, name } = row
  const words = `${count(definitionsRemoved, 'kept definition')} and ${count(keysRemoved, 'key')} of nodes were removed`
  noteIn(tx, row.importId, now, 'info', `${words} on ${name}.`)
}
