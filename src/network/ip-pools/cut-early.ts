// Prefixes that are claimed before their pool was cut there. A node may claim a thousand, and every order of an IPv6
// prefix looks at them: each text is parsed once (16 µs), and a report is compared with a sorted list.
import { type Db, prepared } from '../../kernel/db/open.ts'
import { toNetwork } from './ranges.ts'

/** Addresses as numbers, both ends included. */
export type Range = { first: bigint; last: bigint }
export const byFirst = (a: Range, b: Range) => (a.first < b.first ? -1 : 1)

/** Several pools with as many as a node can claim. */
const MOST_PARSED = 10_000

const statements = prepared(({ $client }) => ({
  ofPool: $client.prepare<{ prefix: string }, [string]>(
    `SELECT address || '/' || prefix_length AS prefix FROM addresses INDEXED BY addresses_cut_early
     WHERE pool_id = +? AND cut_early = 1`,
  ),
}))
const parsed = prepared(() => new Map<string, Range>())

function rangeOf(tx: Db, prefix: string): Range {
  const known = parsed(tx)
  const found = known.get(prefix)
  if (found) return found
  if (known.size >= MOST_PARSED) known.clear()
  const { first, last } = toNetwork(prefix)!
  const range = { first, last }
  known.set(prefix, range)
  return range
}

/** The prefixes that have an address of their own before the pool was cut there, in their order. None overlaps. */
export const cutEarly = (tx: Db, poolId: string): Range[] =>
  statements(tx)
    .ofPool.all(poolId)
    .map(({ prefix }) => rangeOf(tx, prefix))
    .sort(byFirst)

/** The same for a transaction that changes many of them: the caller says which come and go. */
export class EarlyCuts {
  private read = new Map<string, Range[]>()

  constructor(private tx: Db) {}

  private of(poolId: string): Range[] {
    let ranges = this.read.get(poolId)
    if (!ranges) this.read.set(poolId, (ranges = cutEarly(this.tx, poolId)))
    return ranges
  }

  overlaps(poolId: string, { first, last }: Range): boolean {
    const ranges = this.of(poolId)
    const next = ranges[placeOf(ranges, first)]
    return next !== undefined && next.first <= last
  }

  add(poolId: string, range: Range) {
    const ranges = this.of(poolId)
    ranges.splice(placeOf(ranges, range.first), 0, range)
  }

  remove(poolId: string, { first }: Range) {
    const ranges = this.of(poolId)
    const place = placeOf(ranges, first)
    if (ranges[place]?.first === first) ranges.splice(place, 1)
  }
}

/** The place of the first range that does not end before this address. */
function placeOf(ranges: readonly Range[], first: bigint): number {
  let [from, to] = [0, ranges.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (ranges[middle]!.last < first) from = middle + 1
    else to = middle
  }
  return from
}
