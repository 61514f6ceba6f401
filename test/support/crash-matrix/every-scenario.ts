// Scenarios and measures of all features: each has a scenarios.ts in its folder of test/, or in a folder of that.
import { resolve } from 'node:path'
import { commonMeasures } from './common-measures.ts'
import type { Measures, Scenario } from './scenario.ts'

type Contributed = { scenarios?: readonly Scenario[]; measures?: Measures }

const root = resolve(import.meta.dir, '../..')
const paths = [...new Bun.Glob('*/**/scenarios.ts').scanSync(root)]
const contributed: Contributed[] = await Promise.all(paths.map((path) => import(`${root}/${path}`)))

/** Sorted by name: which crashes a short run plays depends on the order, and files are found in any. */
export const scenarios: readonly Scenario[] = contributed
  .flatMap(({ scenarios }) => scenarios ?? [])
  .sort((a, b) => (a.name < b.name ? -1 : 1))

/** Throws where two features call a measure the same. */
function gathered(): Measures {
  const all: Record<string, Measures[string]> = {}
  for (const more of [commonMeasures, ...contributed.map(({ measures }) => measures ?? {})])
    for (const [name, measure] of Object.entries(more)) {
      if (Object.hasOwn(all, name)) throw new Error(`two features declare the measure ${name}`)
      all[name] = measure
    }
  return all
}
export const measures = gathered()
