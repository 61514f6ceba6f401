// The dry runs at work. What stands in the database decides: an import that is `checking` and not at work here is taken
// up where it was, also after a crash; one that is at work and not `checking` any more is broken off.
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { log } from '../../kernel/log.ts'
import { count } from '../../kernel/words.ts'
import { checkCounts, clearChecks } from '../import-records/checks/queries.ts'
import { leftToDecide } from '../import-records/choices/queries.ts'
import { changeImport, type ImportRecord, importsBeingChecked, noteIn } from '../import-records/queries.ts'
import { compare } from '../mapping/compare.ts'
import type { NodeLink } from '../source-access/ask.ts'
import { PanelDisks } from './panel-disks.ts'
import { planAgain, planServers } from './plan.ts'
import { Run, Superseded } from './run.ts'
import { survey } from './survey.ts'

const AT_ONCE = 2
const CLEARED_AT_ONCE = 200

declare module '../../kernel/register.ts' {
  interface Services {
    dryRuns: DryRuns
  }
}

export class DryRuns {
  private atWork = new Map<string, { number: number; stop: AbortController; ended: Promise<void> }>()

  /** Begins what is to be checked, and breaks off what is not wanted any more. */
  turn(hub: NodeLink, db: Db, app: AppContext) {
    const wanted = importsBeingChecked(db)
    for (const [id, { number, stop }] of this.atWork)
      if (!wanted.some((row) => row.id === id && row.dryRun === number)) stop.abort()
    for (const row of wanted) {
      if (this.atWork.size >= AT_ONCE) break
      if (this.atWork.has(row.id)) continue
      const stop = new AbortController()
      const run = new Run(db, app, row.id, row.dryRun, stop.signal)
      const ended = this.work(run, hub, row).finally(() => this.atWork.delete(row.id))
      this.atWork.set(row.id, { number: row.dryRun, stop, ended })
    }
  }

  /** Resolves when nothing is at work: for tests and an orderly stop. */
  settled = async () => void (await Promise.all([...this.atWork.values()].map(({ ended }) => ended)))
  /** Breaks off every dry run; the next start takes them up. */
  async stop() {
    for (const { stop } of this.atWork.values()) stop.abort()
    await this.settled()
  }

  private async work(run: Run, hub: NodeLink, row: ImportRecord) {
    try {
      await check(run, hub, row)
    } catch (error) {
      if (error instanceof Superseded || run.signal.aborted) return
      log.error('a dry run failed', { error })
      try {
        end(run, 'The dry run ended with an error of Berth itself. The journal says more.')
      } catch (again) {
        // It is still wanted in the database: the next turn takes it up.
        if (!(again instanceof Superseded)) log.error('a dry run could not be ended', { error: again })
      }
    }
  }
}

/** Each phase leaves what it has done in the database, so that a crash costs only the questions that were out. */
async function check(run: Run, hub: NodeLink, { checkPhase }: ImportRecord) {
  let phase = checkPhase
  const enter = (next: NonNullable<typeof phase>) => {
    phase = next
    run.write((tx) => changeImport(tx, run.importId, { checkPhase: next }))
  }
  if (phase === 'clearing') {
    while (run.write((tx) => clearChecks(tx, run.importId, CLEARED_AT_ONCE))) await run.slices.rest()
    enter('comparing')
  }
  if (phase === 'comparing') {
    await compare(run.db, run.app, run.importId)
    enter('checking')
  }
  const disks = new PanelDisks(run.app, run.mustBeCurrent(run.db), run.signal)
  await planServers(run)
  for (let round = 0; ; round++) {
    await survey({ run, hub, disks })
    if (!(await planAgain(run, round))) break
  }
  end(run)
}

/** The import is ready where a server can come and nothing is left to decide; otherwise it is mapped again. */
function end(run: Run, failure?: string) {
  run.write((tx, row) => {
    const at = run.app.clock()
    const counts = checkCounts(tx, row.id)
    const ready = (counts.ready ?? 0) + (counts.remark ?? 0)
    const left = Object.values(leftToDecide(tx, row.id)).reduce((sum, { rows }) => sum + rows, 0)
    const isReady = !failure && ready > 0 && left === 0
    changeImport(tx, row.id, {
      status: isReady ? 'ready' : 'mapping',
      checkPhase: null,
      ...(!failure && { checkedAt: at, checkedVersion: row.mappingVersion }),
    })
    const toFix = counts.to_fix ? `, ${count(counts.to_fix, 'server')} to fix` : ''
    const words = `The dry run has ended: ${count(ready, 'server')} ready${toFix}.`
    const more = left ? ` ${count(left, 'decision')} left.` : ''
    noteIn(tx, row.id, at, failure ? 'error' : isReady ? 'info' : 'warning', failure ?? words + more)
  })
}
