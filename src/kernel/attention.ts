// Needs attention: one form for every kind of account. Each feature declares its own sources (`attention` in its
// feature.ts).
import { type Static, Type as t } from 'typebox'
import { described, namedSchema, nullable, type ReadContext, time } from './api/operation.ts'

/** In the order in which they are shown. */
const attentionLevels = ['down', 'bad', 'warn'] as const
/** A trouble: since when, what it means, and one action where there is one. */
export const attention = namedSchema('Attention', {
  level: described(
    t.Enum(attentionLevels),
    'down: something does not work now. bad: it is broken, or soon will be. warn: it can wait for a working day.',
  ),
  what: t.String(),
  effect: described(t.String(), 'What it means.'),
  since: nullable(time),
  action: described(
    nullable(t.String()),
    'What to do about it, and in href the page where; null where there is nothing that you can do.',
  ),
  href: nullable(t.String()),
})
export type Attention = Static<typeof attention>

/** Returns only what the actor may see, by the operation behind it; an empty list for an actor it does not concern. */
export type Source = (call: ReadContext) => Attention[]

declare module './feature.ts' {
  interface FeatureFields {
    /** Sources of troubles for the overview. */
    attention?: readonly Source[]
  }
}

/** One line of a checklist. `done` is read from the database: nobody ticks it. */
export const step = namedSchema('Step', { title: t.String(), words: t.String(), done: t.Boolean(), href: t.String() })
export type Step = Static<typeof step>

/** The rows of one kind that a source returns at most. */
export const MOST_SHOWN = 20

/** The worst first; of one level in the order in which they stand. */
export const worstFirst = (rows: readonly Attention[]): Attention[] =>
  rows.toSorted((a, b) => attentionLevels.indexOf(a.level) - attentionLevels.indexOf(b.level))

/** Every source of every feature asked, the worst first. */
export const needsAttention = (call: ReadContext): Attention[] =>
  worstFirst(call.registry.features.flatMap(({ attention = [] }) => attention.flatMap((source) => source(call))))
