import { describe, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { registry } from '../../src/app/features.ts'
import { circles, edgesBetween, featureCircles } from '../lint/feature-circles.ts'

/** Where each file imports from; `types`: only for types, of which nothing is left at run time. */
type Import = { from: string; to: string; types: boolean; names: string }
const sources = new Map<string, string>()
for (const path of new Bun.Glob('{src,agent,backup-server,host,views}/**/*.{ts,tsx,sh,asc,php}').scanSync('.'))
  sources.set(path, await Bun.file(path).text())
const imports: Import[] = [...sources].flatMap(([from, text]) =>
  [...text.matchAll(/^(?:import|export) (type )?([^'"]*?) ?from '(\.[^']+)'/gm)].map(([, type, names = '', to]) => ({
    from,
    to: join(dirname(from), to!),
    types: !!type || /^\{(\s*type \w+( as \w+)?,?\s*)+\}$/.test(names),
    names,
  })),
)
const processOf = (path: string) => path.split('/')[0]
const featureOf = (path: string) => path.split('/').slice(0, 3).join('/')
const isInFeature = (path: string) =>
  /^src\/(identity|catalog|compute|network|fleet|billing|imports|platform)\/[^/]+\/.+$/.test(path)
/** The file of an action holds its operation or job: nothing else calls it. A shared one makes one for each kind. */
const isAction = (path: string) =>
  /\b(operation|saga)\(/.test(sources.get(path) ?? '') && !path.startsWith('src/compute/workloads/')
const described = (found: Import[]) => found.map(({ from, to, names }) => `${from} takes ${names.trim()} from ${to}`)

describe('the layout', () => {
  test('is looked at through all of its imports', () => {
    expect(sources.size).toBeGreaterThan(250)
    expect(imports.length).toBeGreaterThan(1000)
    for (const { to } of imports)
      expect(sources.has(to) || !/^(src|agent|backup-server|host|views)\//.test(to)).toBe(true)
  })
  test('keeps the two processes apart but for the wire between them', () => {
    const crossing = imports.filter(
      ({ from, to }) =>
        processOf(from) !== processOf(to) && sources.has(to) && [from, to].some((path) => processOf(path) === 'agent'),
    )
    expect(
      described(
        crossing.filter(
          ({ from, to, types }) => !types && !/^(agent|src)\/main\.ts$/.test(from) && !to.startsWith('agent/protocol/'),
        ),
      ),
    ).toEqual([])
  })
  test('has programs of their own in backup-server/ and host/: they take of src/ what has no state', () => {
    const own = /^(backup-server|host)\//
    const crossing = imports.filter(
      ({ from, to }) =>
        sources.has(to) && processOf(from) !== processOf(to) && [from, to].some((path) => own.test(path)),
    )
    const isShared = (to: string) =>
      to.startsWith('agent/protocol/') || /^src\/kernel\/(log|words|version|command-line\/.+)\.ts$/.test(to)
    expect(described(crossing.filter(({ from, to }) => from !== 'src/main.ts' && !isShared(to)))).toEqual([])
  })
  test('has a kernel that imports no feature, not even a type', () => {
    const outward = imports.filter(
      ({ from, to }) => from.startsWith('src/kernel/') && /^(src|views)\//.test(to) && !to.startsWith('src/kernel/'),
    )
    expect(described(outward)).toEqual([])
  })
  test('lists features in one place: nothing else imports a feature.ts', () => {
    const listed = imports.filter(
      ({ to, types }) => !types && /\/feature\.ts$/.test(to) && to !== 'src/kernel/feature.ts',
    )
    expect(described(listed.filter(({ from }) => from !== 'src/app/features.ts'))).toEqual([])
    const features = [...sources.keys()].filter(
      (path) => /^src\/.+\/feature\.ts$/.test(path) && path !== 'src/kernel/feature.ts',
    )
    expect(listed.map(({ to }) => to).toSorted()).toEqual(features.toSorted())
  })
  test('has no circle of imports, types included', () => {
    const next = new Map<string, string[]>([...sources.keys()].map((path) => [path, []]))
    for (const { from, to } of imports) if (sources.has(to)) next.get(from)!.push(to)
    expect(circles(next)).toEqual([])
    expect(
      circles(
        new Map([
          ['a', ['b']],
          ['b', ['c']],
          ['c', ['a', 'd']],
          ['d', []],
        ]),
      ),
    ).toEqual([['a', 'b', 'c']])
  })
  test('has no circle of features, also not through others', () => {
    const edges = edgesBetween(sources)
    expect(edges.length).toBeGreaterThan(500)
    expect(featureCircles(edges)).toEqual([])
    const small = edgesBetween(
      new Map([
        ['src/fleet/a/x.ts', "import type { B } from '../b/y.ts'\n"],
        ['src/fleet/b/y.ts', "import {\n  type C,\n} from '../../billing/c/z.ts'\n"],
        ['src/billing/c/w.ts', "export { A } from '../../fleet/a/x.ts'\n"],
        ['src/billing/c/z.ts', "const d = await import('../d/z.ts')\n"],
      ]),
    )
    expect(small.map(({ from, to }) => [from, to])).toEqual([
      ['fleet/a', 'fleet/b'],
      ['fleet/b', 'billing/c'],
      ['billing/c', 'fleet/a'],
      ['billing/c', 'billing/d'],
    ])
    expect(featureCircles(small)).toEqual([['billing/c', 'fleet/a', 'fleet/b']])
  })
  test('has no folder with more than 15 files', () => {
    const files = [...new Bun.Glob('{src,agent,backup-server,host,views,public,migrations,test}/**/*').scanSync('.')]
    const folders = Map.groupBy(
      files.filter((path) => !generated.test(path)),
      dirname,
    )
    expect(
      [...folders]
        .filter(([, list]) => list.length > 15)
        .map(([path]) => path)
        .toSorted(),
    ).toEqual(toSplit)
  })
  test('has for each feature its own entry among the names: `feature()` then asks for the values', () => {
    const entries = [...sources].flatMap(([path, text]) =>
      [...text.matchAll(/interface Names \{\n\s+'?([^':\n]+)'?: /g)].map(([, name]) => ({
        name,
        feature: /feature\(\{\s*name: '([^']+)'/.exec(text)?.[1],
        path,
      })),
    )
    expect(entries.length).toBeGreaterThan(50)
    expect(entries.filter(({ name, feature }) => name !== feature)).toEqual([])
    const inNames = new Set(entries.map(({ name }) => name))
    const named = registry.features.filter(
      ({ ids, errors, scopes, permissions, events, notices }) =>
        ids ?? errors ?? scopes ?? permissions ?? events ?? notices,
    )
    expect(named.map(({ name }) => name).filter((name) => !inNames.has(name))).toEqual([])
  })
  test('has features that import the models of others, never their tables', () => {
    const taken = imports.filter(
      ({ from, to, types }) => !types && isInFeature(from) && isInFeature(to) && featureOf(from) !== featureOf(to),
    )
    expect(taken.length).toBeGreaterThan(100)
    expect(described(taken.filter(({ to }) => to.endsWith('/tables.ts')))).toEqual([])
  })
  test('has features that import no actions of others, but for those that are about all of them', () => {
    const taken = imports.filter(
      ({ from, to, types }) => !types && isInFeature(from) && isInFeature(to) && featureOf(from) !== featureOf(to),
    )
    expect(
      described(taken.filter(({ from, to }) => isAction(to) && !aboutAll.some((path) => from.startsWith(path)))),
    ).toEqual([])
  })
  test('has one order: what stands lower imports nothing from above it', () => {
    const layerOf = (path: string) => {
      const folder = layers
        .flat()
        .filter((folder) => path.startsWith(folder))
        .toSorted((a, b) => b.length - a.length)[0]
      return layers.findIndex((layer) => layer.includes(folder ?? ''))
    }
    const upward = imports.filter(({ from, to }) => {
      const [a, b] = [layerOf(from), layerOf(to)]
      return sources.has(to) && a >= 0 && b >= 0 && a < b
    })
    expect(described(upward)).toEqual([])
    expect([...sources.keys()].filter((path) => layerOf(path) < 0)).toEqual([])
  })
  test('has views that read no tables', () => {
    expect(
      described(
        imports.filter(({ from, to, types }) => !types && processOf(from) === 'views' && to.endsWith('tables.ts')),
      ),
    ).toEqual([])
  })
})

/** From the ground up. A lower layer gets what it needs of a higher one by a field of `Feature` that it declares. */
const layers: readonly string[][] = [
  ['agent/'],
  ['src/kernel/'],
  ['backup-server/', 'host/'],
  ['src/network/ip-pools/'],
  ['src/fleet/'],
  ['src/catalog/'],
  ['src/identity/'],
  ['src/billing/'],
  ['src/compute/', 'src/network/'],
  ['src/imports/'],
  ['src/imports/'],
  ['src/platform/'],
  ['views/'],
  ['src/app/'],
  ['src/main.ts'],
]
/** Still to be split: this list only becomes shorter. */
const toSplit: string[] = []
/** Files that the installation and the tests write, and migrations: they are one sequence, which nobody splits. */
const generated = /^public\/vendor\/|^test\/artefacts\/|^migrations\/[0-9]{4}_/

/**
 * The overview shows each part to who may call the operation behind it; activity tells how somebody came in; the record
 * of a server says which actions its reader may call.
 */
const aboutAll = [
  'src/compute/servers/actions.ts',
  'src/compute/bulk-actions/',
  'src/platform/overview/',
  'src/platform/audit/activity.ts',
  'src/platform/search/',
  'src/platform/messages/audience.ts',
]
