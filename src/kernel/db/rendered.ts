// The JSON of rows, kept while the rows keep their version: a list is put together from rows that were encoded before.
import { type Db, isChanging } from './open.ts'

declare const value: unique symbol
/** JSON of a `T`. */
export class JsonRow<T> {
  declare readonly [value]: T
  private encoded: Buffer<ArrayBuffer> | undefined
  private written: string | undefined
  /** `made`: what it is the JSON of, where nobody else has it. */
  constructor(
    text: string | undefined,
    private readonly made?: T,
  ) {
    this.written = text
  }

  get isMade(): boolean {
    return this.made !== undefined
  }
  get text(): string {
    return (this.written ??= JSON.stringify(this.made))
  }
  get value(): T {
    return this.made ?? JSON.parse(this.text)
  }

  /** As UTF-8, encoded at the first use: joining 50 rows takes 5 µs of processor, joining their texts 23. */
  get bytes(): Buffer<ArrayBuffer> {
    return (this.encoded ??= Buffer.from(this.text))
  }
}

/** A page is put together from this: the keys of its rows as text, and how many rows there are in all. */
type PageState = { keys: string; total: number }
/** Of 50 to 100 rows: 60 to 120 kB each. */
const MOST_PAGES = 200

/** A row has few kinds of readers: staff, its owner, the roles of a team. */
const MOST_READERS = 20

/** One version of a row: the facts of it that decide what a reader sees, and the JSON for each kind of reader. */
export class RenderedRow<Facts> {
  private readonly byReader = new Map<string, JsonRow<unknown>>()
  constructor(
    readonly version: number,
    readonly facts: Facts,
  ) {}

  /** The JSON of what `make` answers. `reader` is everything about the reader on which the record depends. */
  json<T>(reader: string, make: () => T): JsonRow<T> {
    let json = this.byReader.get(reader) as JsonRow<T> | undefined
    if (!json) {
      if (this.byReader.size >= MOST_READERS) this.byReader.clear()
      this.byReader.set(reader, (json = new JsonRow(JSON.stringify(make()))))
    }
    return json
  }
}

/**
 * Holds `most` rows in two generations. A use moves a row to the young one; when that is full it becomes the old one,
 * and the rows that were in the old one unused are dropped.
 */
export class RenderedRows {
  private young = new Map<string, RenderedRow<unknown>>()
  private old = new Map<string, RenderedRow<unknown>>()
  /** The one used longest ago is first. */
  private readonly pages = new Map<string, PageState & { page: object }>()
  constructor(private readonly most: number) {}

  /**
   * The row at this version. It is made again with what `facts` answers when `version` is another: whatever a record
   * shows has to change the version, or be in the reader that `json` is called with.
   */
  row<Facts>(tx: Db, id: string, version: number, facts: () => Facts): RenderedRow<Facts> {
    const recent = this.young.get(id)
    if (recent?.version === version) return recent as RenderedRow<Facts>
    const older = recent ? undefined : this.old.get(id)
    const isCurrent = older?.version === version
    const row = isCurrent ? older : new RenderedRow(version, facts())
    // A version that a transaction may still roll back would come again for another row.
    if (isCurrent || !isChanging(tx)) this.keep(id, row)
    return row as RenderedRow<Facts>
  }

  /**
   * The page that `put` puts together, as it was the last time where its keys and the total are still the same. `name`
   * tells apart pages that are kept beside each other, and says everything else that decides what stands in them.
   */
  page<P extends object>(tx: Db, name: string, { keys, total }: PageState, put: () => P): P {
    const kept = this.pages.get(name)
    if (kept) this.pages.delete(name)
    const isCurrent = kept?.keys === keys && kept.total === total
    const page = isCurrent ? (kept.page as P) : put()
    // See `row`.
    if (!isCurrent && isChanging(tx)) return page
    if (this.pages.size >= MOST_PAGES) this.pages.delete(this.pages.keys().next().value!)
    this.pages.set(name, isCurrent ? kept : { keys, total, page })
    return page
  }

  private keep(id: string, row: RenderedRow<unknown>) {
    if (this.young.size >= this.most / 2 && !this.young.has(id)) {
      this.old = this.young
      this.young = new Map()
    }
    this.young.set(id, row)
  }
}

/** Each row is made for the one who asks: to keep what is read once costs more than to make it. */
export class UnkeptRows extends RenderedRows {
  override row<Facts>(_: Db, __: string, version: number, facts: () => Facts): RenderedRow<Facts> {
    return new UnkeptRow(version, facts())
  }
  override page<P extends object>(_: Db, __: string, ___: PageState, put: () => P): P {
    return put()
  }
}
class UnkeptRow<Facts> extends RenderedRow<Facts> {
  override json<T>(_: string, make: () => T): JsonRow<T> {
    return new JsonRow<T>(undefined, make())
  }
}
