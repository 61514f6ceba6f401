import { describe, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'

/** Where each file imports from; `types`: only for types, of which nothing is left at run time. */
type Import = { from: string; to: string; types: boolean; names: string }
const sources = new Map<string, string>()
for (const path of new Bun.Glob('{src,agent,views}/**/*.ts').scanSync('.'))
  sources.set(path, await Bun.file(path).text())
const imports: Import[] = [...sources].flatMap(([from, text]) =>
  [...text.matchAll(/^(?:import|export) (type )?([^'"]*?) ?from '(\.[^']+)'/gm)].map(([, type, names = '', to]) => ({
    from,
    to: join(dirname(from), to!),
    types: !!type || /^\{(\s*type \w+( as \w+)?,?\s*)+\}$/.test(names),
    names,
  })),
)
const half = (path: string) => path.split('/')[0]
const room = (path: string) => path.split('/').slice(0, 3).join('/')
const isRoom = (path: string) =>
  /^src\/(identity|catalog|compute|network|fleet|billing|imports|platform)\/[^/]+\/.+$/.test(path)
/** A file per verb holds the operation: it is nobody else's to call. */
const isVerb = (path: string) => /\b(operation|saga)\(/.test(sources.get(path) ?? '')
const described = (found: Import[]) => found.map(({ from, to, names }) => `${from} takes ${names.trim()} from ${to}`)

describe('the layout', () => {
  test('is looked at through all of its imports', () => {
    expect(sources.size).toBeGreaterThan(250)
    expect(imports.length).toBeGreaterThan(1000)
    for (const { to } of imports) expect(sources.has(to) || !/^(src|agent|views)\//.test(to)).toBe(true)
  })
  test('keeps the two halves apart but for the wire between them', () => {
    const crossing = imports.filter(
      ({ from, to }) => half(from) !== half(to) && sources.has(to) && [from, to].some((path) => half(path) === 'agent'),
    )
    expect(
      described(
        crossing.filter(
          ({ from, to, types }) => !types && !/^(agent|src)\/main\.ts$/.test(from) && !shared.includes(to),
        ),
      ),
    ).toEqual([])
  })
  test('has a kernel that knows no room', () => {
    const outward = imports.filter(
      ({ from, to }) => from.startsWith('src/kernel/') && to.startsWith('src/') && !to.startsWith('src/kernel/'),
    )
    expect(described(outward.filter(({ types }) => !types))).toEqual([])
  })
  test('has rooms that take the nouns of others, never their tables', () => {
    const taken = imports.filter(
      ({ from, to, types }) => !types && isRoom(from) && isRoom(to) && room(from) !== room(to),
    )
    expect(taken.length).toBeGreaterThan(100)
    expect(described(taken.filter(({ to }) => to.endsWith('/tables.ts')))).toEqual([])
  })
  test('has rooms that take no verbs of others, but for those that are about all of them', () => {
    const taken = imports.filter(
      ({ from, to, types }) => !types && isRoom(from) && isRoom(to) && room(from) !== room(to),
    )
    expect(
      described(taken.filter(({ from, to }) => isVerb(to) && !aboutAll.some((path) => from.startsWith(path)))),
    ).toEqual([])
  })
  test('has views that read no tables', () => {
    expect(
      described(imports.filter(({ from, to, types }) => !types && half(from) === 'views' && to.endsWith('tables.ts'))),
    ).toEqual([])
  })
})

/** What both halves have: the wire, commands as they are shown to people, and the journal that they write to. */
const shared = ['agent/protocol/wire.ts', 'agent/protocol/shell-quote.ts', 'agent/protocol/systemd.ts']
/** The overview shows each part to who may call the operation behind it; activity tells how somebody came in. */
const aboutAll = ['src/platform/overview/', 'src/platform/audit/activity.ts', 'src/platform/search/']
