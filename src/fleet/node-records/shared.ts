// Reads of all nodes, which a large company would repeat for each who looks.
import { type Db, prepared } from '../../kernel/db/open.ts'

const SHARED_MS = 2000
/** Reads of more nodes than these are large. */
export const MANY_NODES = 1000

/**
 * Answers a function that reads once for all who look within two seconds, where `isLarge` holds of what was read: of
 * little everybody reads what is so now. `key`: what the value depends on beside the database; only the newest is kept
 * for each `place`.
 */
export function shared<V>(isLarge: (value: V) => boolean) {
  const kept = prepared(() => new Map<string, { key: string; until: number; value: V }>())
  return (tx: Db, { place = '', key = '' }: { place?: string; key?: string }, read: () => V): V => {
    const known = kept(tx).get(place)
    if (known?.key === key && performance.now() < known.until) return known.value
    const value = read()
    if (isLarge(value)) kept(tx).set(place, { key, until: performance.now() + SHARED_MS, value })
    else kept(tx).delete(place)
    return value
  }
}
