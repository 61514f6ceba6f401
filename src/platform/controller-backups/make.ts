import { second } from '../../kernel/db/clock.ts'
import { isDatabaseError } from '../../kernel/db/health.ts'
import { write } from '../../kernel/db/open.ts'
import type { ScheduleContext } from '../../kernel/feature.ts'
import { log } from '../../kernel/log.ts'
import { removeWholeCopies, storeWholeCopy } from '../../kernel/replica/whole-copy.ts'
import { inFolder } from '../../kernel/stores/in-folder.ts'
import { StoreError } from '../../kernel/stores/store.ts'
import { dueTargets, FOLDER, keepResult, planOf, type Result, resultsOf, storeOfTarget } from './model.ts'

/**
 * Makes the backups that are due, one target after the other. A crash leaves a backup due: it is made anew, and the
 * parts that were stored are removed with the next.
 */
export class ControllerBackups {
  #running: Promise<void> | undefined

  /** Together with one that is on its way. */
  makeDue(context: ScheduleContext): Promise<void> {
    this.#running ??= this.#make(context).finally(() => (this.#running = undefined))
    return this.#running
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  async #make({ db, app }: ScheduleContext) {
    for (const targetId of dueTargets(db, app.wallClock())) {
      const at = app.wallClock()
      const began = performance.now()
      const goodAt = resultsOf(db)[targetId]?.goodAt ?? null
      const result: Result = { at, error: null, goodAt, bytes: 0, seconds: 0 }
      try {
        result.bytes = await this.#makeOne(targetId, { db, app }, at)
        result.goodAt = at
      } catch (error) {
        if (isDatabaseError(error)) throw error
        result.error = error instanceof StoreError ? error.message : 'The backup failed. The journal says why.'
        log.error('the backup of the controller failed', { targetId, error })
      }
      result.seconds = Math.round(((performance.now() - began) / second) * 10) / 10
      write(db, (tx) => keepResult(tx, targetId, result))
    }
  }

  async #makeOne(targetId: string, { db, app }: Pick<ScheduleContext, 'db' | 'app'>, at: number): Promise<number> {
    const { secrets, config, wallClock } = app
    const whole = storeOfTarget(db, targetId, { secrets, localServices: config.localServices, wallClock })
    const store = inFolder(whole, FOLDER)
    try {
      const bytes = await storeWholeCopy(db, store, secrets, at)
      await removeWholeCopies(store, at - planOf(db).keepDays * 24 * 3600 * second)
      return bytes
    } finally {
      store.close()
    }
  }
}
