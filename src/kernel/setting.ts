// A number or a switch of the installation that staff may change. Its feature declares it with its default; the
// settings page lists all of them, and the code that needs one reads it by its declaration.
import { type TSchema, Type as t } from 'typebox'
import type { Db } from './db/open.ts'
import { getSetting } from './db/queries.ts'

/**
 * The direction in which a change weakens a protection of data, of addresses or of accounts; such a change waits, see
 * `identity/weakenings`. `never`: no value protects less than another.
 */
export type Weakens = 'higher' | 'lower' | 'on' | 'off' | 'never'

export type Setting<T extends number | boolean | null = any> = {
  /** `group.name`, unique over all features. */
  name: string
  title: string
  /** The effect of it, in one sentence. */
  words: string
  default: T
  schema: TSchema
  /** Of a number, such as `hours`. */
  unit?: string
  weakens: Weakens
  /** The words for a default of null. */
  defaultWords?: string
  /** The number for which a value of null stands now. */
  automatic?(tx: Db): number
}

declare module './feature.ts' {
  interface FeatureFields {
    settings?: readonly Setting[]
  }
}

type About = Pick<Setting, 'name' | 'title' | 'words' | 'weakens'>
type Whole = { unit?: string; minimum: number; maximum: number }
/** A whole number between `minimum` and `maximum`. */
export const wholeSetting = (about: About & Whole & { default: number }): Setting<number> => ({
  ...about,
  schema: t.Integer({ minimum: about.minimum, maximum: about.maximum }),
})
/** A whole number, or null for what `defaultWords` says. */
export const automaticSetting = (
  about: About & Whole & Required<Pick<Setting, 'defaultWords' | 'automatic'>>,
): Setting<number | null> => ({
  ...about,
  default: null,
  schema: t.Integer({ minimum: about.minimum, maximum: about.maximum }),
})
export const switchSetting = (about: About & { default: boolean }): Setting<boolean> => ({
  ...about,
  schema: t.Boolean(),
})

/** The value that staff set, or the default. */
export const settingValue = <T extends number | boolean | null>(tx: Db, { name, default: usual }: Setting<T>): T =>
  (getSetting(tx, name) as T | undefined) ?? usual

/** Would this value, null for the default, protect less than the one in force? */
export function isWeaker(tx: Db, setting: Setting, value: number | boolean | null): boolean {
  const { weakens, automatic, default: usual } = setting
  const [before, after] = [settingValue(tx, setting), value ?? usual].map((one) => one ?? automatic?.(tx) ?? 0)
  if (weakens === 'higher') return after > before
  if (weakens === 'lower') return after < before
  return weakens !== 'never' && before !== after && after === (weakens === 'on')
}

/** `24 hours`, `On`, or the words of a default that is no value. */
export function settingInWords(
  { unit, defaultWords }: { unit?: string | null | undefined; defaultWords?: string | null | undefined },
  value: number | boolean | null,
): string {
  if (value === null) return defaultWords ?? 'None'
  if (typeof value === 'boolean') return value ? 'On' : 'Off'
  return `${value.toLocaleString('en')}${unit ? ` ${unit}` : ''}`
}
