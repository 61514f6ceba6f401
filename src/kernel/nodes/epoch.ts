// The epoch of a controller: raised whenever a database is put in place of another one, by a takeover or a restore. A
// node that has seen a higher one refuses this controller, which is then the one from before.
import type { Database } from 'bun:sqlite'
import type { Db } from '../db/open.ts'
import { getSetting, putSettingIn, settingIn } from '../db/queries.ts'

const EPOCH = 'controller.epoch'

/** 0 until the first takeover or restore. */
export const epochOf = (db: Db): number => numberFrom(getSetting(db, EPOCH))

/** Of a file that is no open controller's. */
export const epochIn = (file: Database): number => numberFrom(JSON.parse(settingIn(file, EPOCH) ?? '0'))

/**
 * Gives the file an epoch above all that came before. It is a time in ms, so that it is higher also where the database
 * with the last one is lost.
 */
export const raiseEpochIn = (file: Database, before: readonly number[], now: number) =>
  putSettingIn(file, EPOCH, Math.max(now, ...before.map((epoch) => epoch + 1)))

const numberFrom = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0)
