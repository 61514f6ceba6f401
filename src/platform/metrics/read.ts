// The points of a span of time, from memory and from the blocks of the tier that fits.
import { minute, second } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { type Block, blockAt, minutes, sixHours, type Tier, tenMinutes } from './blocks.ts'
import { findBlock } from './queries.ts'
import type { Recent } from './recent.ts'
import { Mean, type Series, type SeriesName, series } from './series.ts'

/** Steps in which metrics are answered, in seconds. Each is a multiple of the tier that it is computed from. */
export const resolutions = [10, 60, 300, 600, 1800, 3600, 7200, 21_600, 86_400] as const
export type Resolution = (typeof resolutions)[number]
/** The most points of a response. */
export const MOST_POINTS = 1500

/** The stored points that a step is computed from. */
export const tierFor = (resolution: Resolution): Tier =>
  resolution >= 21_600 ? sixHours : resolution >= 600 ? tenMinutes : minutes

export type Span = { from: number; to: number; resolution: Resolution }
export type Values = Record<SeriesName, (number | null)[]>

/** Values in memory, which are not all stored yet. */
type InMemory = Pick<Recent, 'minute' | 'live'>
/** The values of a workload or a node. */
export const valuesOf = (tx: Db, recent: InMemory, id: string, span: Span): Values =>
  valuesIn(tx, recent, id, span, series)

/** One value of each series per step from `from` up to, and without, `to`; both are multiples of the resolution. */
export function valuesIn<Name extends string>(
  tx: Db,
  recent: InMemory,
  id: string,
  { from, to, resolution }: Span,
  all: readonly (Series & { name: Name })[],
): Record<Name, (number | null)[]> {
  const tier = tierFor(resolution)
  const stepMs = resolution * second
  const blocks = new Map<number, Block | undefined>()
  for (let n = blockAt(tier, from); n <= blockAt(tier, to - 1); n++)
    blocks.set(n, findBlock(tx, tier, n, id, all.length))
  const valueAt = (at: number, index: number) =>
    (tier === minutes ? recent.minute(id, at, index) : undefined) ?? blocks.get(blockAt(tier, at))?.get(at, index)
  const values = {} as Record<Name, (number | null)[]>
  for (const [index, { name, scale }] of all.entries()) {
    const found: (number | null)[] = []
    for (let at = from; at < to; at += stepMs) {
      const mean = new Mean()
      if (resolution < 60) mean.add(recent.live(id, at, index) ?? valueAt(at - (at % minute), index))
      else for (let slot = at; slot < at + stepMs; slot += tier.slotMs) mean.add(valueAt(slot, index))
      const value = mean.of(index)
      found.push(value === undefined ? null : Math.round((value / scale) * 100) / 100)
    }
    values[name] = found
  }
  return values
}
