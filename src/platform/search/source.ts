// A feature declares how its things are found by name, address or id.
import type { ReadContext } from '../../kernel/api/operation.ts'

export type SearchRow = {
  id: string | null
  title: string
  detail: string | null
  /** The whole text is its id, address or name. */
  exact?: boolean
  terminated?: boolean
}
/** A page to open for a hit, an operation that is called on it, or a text of it that is copied. */
export type HitAction = { title: string; href: string | null; operation: string | null; copies?: string | null }
export type SearchSource = {
  /** The kind of thing, such as `server`. */
  type: string
  /** Smaller comes first in a result. */
  position: number
  /** The path before the row's id; undefined when the actor has no such page. */
  place(call: ReadContext): string | undefined
  /** Behind the id, for a part of its page. */
  behind?: string
  /** At most `most` rows that every word of the text is in, or that have the text as their id. */
  find(call: ReadContext, text: string, most: number): SearchRow[]
  /** The actions on a hit that are open to the actor now. */
  actions?(call: ReadContext, id: string): HitAction[]
}

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    /** Sources of the search. */
    search?: readonly SearchSource[]
  }
}
