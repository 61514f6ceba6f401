// A number or a switch of the installation that staff may change. Its feature declares it with its default; the
// settings page lists all of them, and the code that needs one reads it by its declaration.
import { type TSchema, Type as t } from 'typebox'
import type { Db } from './db/open.ts'
import { getSetting } from './db/queries.ts'

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
  /** The words for a default of null. */
  defaultWords?: string
}

declare module './feature.ts' {
  interface FeatureFields {
    settings?: readonly Setting[]
  }
}

type About = Pick<Setting, 'name' | 'title' | 'words'>
type Whole = { unit?: string; minimum: number; maximum: number }
/** A whole number between `minimum` and `maximum`. */
export const wholeSetting = (about: About & Whole & { default: number }): Setting<number> => ({
  ...about,
  schema: t.Integer({ minimum: about.minimum, maximum: about.maximum }),
})
/** A whole number, or null for what `defaultWords` says. */
export const automaticSetting = (about: About & Whole & { defaultWords: string }): Setting<number | null> => ({
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
