// The JSON of rows, kept while the rows keep their version: a list is put together from texts that were written before.
import { type Db, isChanging } from './open.ts'

declare const value: unique symbol
/** JSON of a `T`. */
export type JsonOf<T> = string & { readonly [value]: T }

type Kept = { version: number; text: string }

/** Holds `most` texts; the one used longest ago makes room for the next. */
export class RenderedRows {
  private texts = new Map<string, Kept>()
  constructor(private readonly most: number) {}

  /**
   * The JSON of what `make` answers. It is made again when `version` is another: whatever the record shows has to change the version, or
   * be in `key`, which names the row and everything about the reader on which the record depends.
   */
  text<T>(tx: Db, key: string, version: number, make: () => T): JsonOf<T> {
    const kept = this.texts.get(key)
    // The order of a Map is that of insertion: what is used goes to its end.
    if (kept) this.texts.delete(key)
    const isCurrent = kept?.version === version
    const entry = isCurrent ? kept : { version, text: JSON.stringify(make()) }
    // A version that a transaction may still roll back would come again for another row.
    if (isCurrent || !isChanging(tx)) this.texts.set(key, entry)
    if (this.texts.size > this.most) this.texts.delete(this.texts.keys().next().value!)
    return entry.text as JsonOf<T>
  }
}
