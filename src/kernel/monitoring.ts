// Figures for a monitoring system. Each feature declares its own; `GET /metrics` writes them in the text format of
// Prometheus. Names follow its conventions: base units, and `_total` behind what only grows.
import type { AppContext } from './api/operation.ts'
import type { Db } from './db/open.ts'

export type Sample = { labels?: Readonly<Record<string, string>>; value: number }
/** One name with its values. A value that is not known is left out, and is never 0. */
export type Figure = {
  name: `berth_${string}`
  help: string
  type: 'gauge' | 'counter'
  samples: readonly Sample[]
}
export type FigureParts = { db: Db; app: AppContext }

declare module './feature.ts' {
  interface FeatureFields {
    /** Figures of this feature, read at each scrape: counts that are stored, and nothing that grows with customers. */
    figures?(parts: FigureParts): readonly Figure[]
  }
}

/** A figure with one value. */
export const gauge = (name: Figure['name'], help: string, value: number): Figure => ({
  name,
  help,
  type: 'gauge',
  samples: [{ value }],
})
/** A figure with a value per label. */
export const gauges = (
  name: Figure['name'],
  help: string,
  label: string,
  values: Readonly<Record<string, number | undefined>>,
): Figure => ({
  name,
  help,
  type: 'gauge',
  samples: Object.entries(values).flatMap(([of, value]) =>
    value === undefined ? [] : [{ labels: { [label]: of }, value }],
  ),
})

const escapes: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }
const escaped = (text: string) => text.replace(/[\\"\n]/g, (one) => escapes[one]!)
const labelsOf = (labels: Sample['labels']) =>
  labels
    ? `{${Object.entries(labels)
        .map(([name, value]) => `${name}="${escaped(value)}"`)
        .join(',')}}`
    : ''

/** The figures in Prometheus's text format, version 0.0.4; a part per figure. */
export function* asText(figures: readonly Figure[]): Generator<string> {
  for (const { name, help, type, samples } of figures) {
    let text = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
    for (const { labels, value } of samples) text += `${name}${labelsOf(labels)} ${value}\n`
    yield text
  }
}
