// Circles between features: groups of features of which each needs every other one, also through others. There is
// none: test/every/layers.test.ts refuses it. `.tools/bun test/lint/feature-circles.ts` prints what makes a new one:
// each circle with the imports inside it, the fewest first. It exits with 1 where there is one.
import { dirname, join } from 'node:path'

/** The sources by their path from the repository, such as `src/fleet/nodes/model.ts`. */
export type Sources = ReadonlyMap<string, string>
/** `words`: the import in words. */
type Edge = { from: string; to: string; words: string }

const GROUPS = 'identity|catalog|compute|network|fleet|billing|imports|platform'
/** The feature of a source, such as `fleet/nodes`; a file beside the features of a group stands for itself. */
export const featureOf = (path: string): string | undefined =>
  new RegExp(`^src/((?:${GROUPS})/[^/]+)(?:/|$)`).exec(path)?.[1]

/** Imports from one feature into another, those of types and those at run time included. */
export function edgesBetween(sources: Sources): Edge[] {
  return [...sources].flatMap(([path, text]) =>
    [
      ...text.matchAll(/^(?:import|export) (?:type )?([^'"]*?) ?from '(\.[^']+)'/gm),
      ...text.matchAll(/\bimport(\(| )'(\.[^']+)'/g),
    ].flatMap(([, names = '', target]) => {
      const to = join(dirname(path), target!)
      const [own, other] = [featureOf(path), featureOf(to)]
      if (own === undefined || other === undefined || own === other) return []
      const taken = names.replace(/\s+/g, ' ').trim()
      return [{ from: own, to: other, words: `${path} takes ${taken === '(' || !taken ? 'all' : taken} from ${to}` }]
    }),
  )
}

/** Each circle as the names of its features in their order. */
export function featureCircles(edges: readonly Pick<Edge, 'from' | 'to'>[]): string[][] {
  const next = new Map<string, Set<string>>()
  for (const { from, to } of edges) {
    next.set(from, (next.get(from) ?? new Set()).add(to))
    next.set(to, next.get(to) ?? new Set())
  }
  return circles(next).map((group) => group.toSorted())
}

/** Groups of things that lead to each other, by Tarjan's algorithm for strongly connected components. */
export function circles(next: ReadonlyMap<string, Iterable<string>>): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  const visit = (path: string) => {
    order.set(path, order.size)
    lowest.set(path, order.get(path)!)
    stack.push(path)
    for (const to of next.get(path)!) {
      if (!order.has(to)) visit(to)
      if (stack.includes(to)) lowest.set(path, Math.min(lowest.get(path)!, lowest.get(to)!))
    }
    if (lowest.get(path) !== order.get(path)) return
    const group = stack.splice(stack.indexOf(path))
    if (group.length > 1) found.push(group)
  }
  for (const path of next.keys()) if (!order.has(path)) visit(path)
  return found
}

if (import.meta.main) {
  const sources = new Map<string, string>()
  for (const path of new Bun.Glob('src/**/*.ts').scanSync('.')) sources.set(path, await Bun.file(path).text())
  const edges = edgesBetween(sources)
  const found = featureCircles(edges)
  if (found.length) process.exitCode = 1
  for (const group of found) {
    console.log(`\n${group.length} features: ${group.join(', ')}`)
    const inside = edges.filter(({ from, to }) => group.includes(from) && group.includes(to))
    const pairs = [...Map.groupBy(inside, ({ from, to }) => `${from} → ${to}`)]
    for (const [pair, list] of pairs.toSorted(([, a], [, b]) => a.length - b.length))
      console.log([`  ${pair}: ${list.length}`, ...list.map(({ words }) => `    ${words}`)].join('\n'))
  }
}
