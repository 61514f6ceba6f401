// A list that a panel gives in pages, read as a whole. Nobody else's pager is trusted to end, to count or to stand
// still: a list is believed when the panel's own count agrees, or when two readings in a row are the same.
import { SourceFailure } from '../failure.ts'
import type { JsonObject } from '../values/scalars.ts'

export type Page = {
  rows: readonly JsonObject[]
  /** Null where the panel does not say it: then the list ends with a page that adds nothing. */
  isLast: boolean | null
  /** The panel's count of the whole list; null where it gives none. */
  total: number | null
}

export type WholeList<T> = {
  /** For people: "servers". */
  things: string
  page: (number: number) => Promise<Page>
  /** The record of a row with its id; null where the row has no id that can be used. */
  record: (row: JsonObject) => { id: string; value: T } | null
  /** A count of the list that the panel gives elsewhere: one reading is enough where it agrees. */
  expected?: number | null
  onProgress?: (read: number, total: number | null) => void
}

const MOST_READINGS = 4
const MOST_PAGES = 5000
const MOST_RECORDS = 300_000

type Reading<T> = {
  records: Map<string, T>
  /** Pages that had something new. */
  pages: number
  /** The panel's counts, each once. */
  totals: ReadonlySet<number>
}

/** All records of the list by their ids. Throws `SourceFailure`. */
export async function wholeList<T>(list: WholeList<T>): Promise<ReadonlyMap<string, T>> {
  let before: ReadonlySet<string> | undefined
  for (let readings = 1; ; readings++) {
    const { records, pages, totals } = await reading(list)
    const [total] = totals
    if (totals.size === 1 && total === records.size) return records
    const isUncounted = totals.size === 0
    const { expected = null } = list
    // A list of one page is one answer; its rows may still be fewer than the panel counts elsewhere.
    if (isUncounted && (expected === null ? pages <= 1 : expected === records.size)) return records
    const isSame =
      before !== undefined && before.size === records.size && [...records.keys()].every((id) => before!.has(id))
    if (isSame && isUncounted) return records
    if (isSame && totals.size === 1) throw new SourceFailure('broken_pager', list.things)
    if (readings === MOST_READINGS) throw new SourceFailure('changed_while_reading', list.things)
    before = new Set(records.keys())
  }
}

async function reading<T>({ things, page, record, onProgress }: WholeList<T>): Promise<Reading<T>> {
  const records = new Map<string, T>()
  const totals = new Set<number>()
  let pages = 0
  for (let number = 1; ; number++) {
    if (number > MOST_PAGES) throw new SourceFailure('broken_pager', things)
    const { rows, isLast, total } = await page(number)
    if (total !== null) totals.add(total)
    const had = records.size
    for (const row of rows) {
      const found = record(row)
      if (!found) throw new SourceFailure('unusable_record', things)
      records.set(found.id, found.value)
    }
    if (records.size > had) pages++
    if (records.size > MOST_RECORDS) throw new SourceFailure('too_many', things)
    onProgress?.(records.size, total)
    const isBeyondCount = total !== null && records.size > total
    if (isLast === true || records.size === had || isBeyondCount) return { records, pages, totals }
  }
}
