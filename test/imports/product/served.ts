// The whole product against a simulated panel: the drivers of the product, and HTTPS where a test wants it.
import { solusvm2 } from '../../../src/imports/sources/solusvm2/source.ts'
import type { Source, SourceOptions } from '../../../src/imports/sources/source.ts'
import { virtualizor } from '../../../src/imports/sources/virtualizor/source.ts'
import { scratch } from '../../support/world/fresh-db.ts'
import { type World, world } from '../../support/world/panel.ts'
import type { Panel } from '../simulators/panel.ts'
import { lookUp } from '../simulators/reading.ts'
import { TOKEN } from '../simulators/solusvm2.ts'
import { KEY, PASS } from '../simulators/virtualizor.ts'
import { turn } from '../world.ts'

export { scratch }

/** A panel of ours that reads others without long pauses. `send`: answers in this process. */
export async function reading(options: SourceOptions = {}, from?: Parameters<typeof world>[0]): Promise<World> {
  const p = await world(from)
  const quick = (source: Source): Source => ({
    ...source,
    connect: (address, credentials, trust, given = {}) =>
      source.connect(address, credentials, trust, { ...given, lookUp, retryPausesMs: [0, 0], ...options }),
  })
  Object.assign(p.controller.app, {
    importPanels: new Map([solusvm2, virtualizor].map((one) => [one.kind, quick(one)] as const)),
  })
  return p
}

export const credentials = { solusvm2: { token: TOKEN }, virtualizor: { key: KEY, pass: PASS } } as const
export type Kind = keyof typeof credentials
export const kinds = Object.keys(credentials) as Kind[]

export const beginAt = async (p: World, kind: Kind, address: string, body: object = {}): Promise<string> =>
  (await p.admin('POST', '/admin/migrations', { kind, address, credentials: credentials[kind], ...body })).id

/** Reads the panel once; answers the import, whose reading has ended. */
export async function discover(p: World, id: string) {
  await p.admin('POST', `/admin/migrations/${id}/actions/discover`)
  // Once to read and once to compare.
  await turn(p)
  await turn(p)
  return await p.admin('GET', `/admin/migrations/${id}`)
}
/** Trusts the certificate that it asks for. */
export const trust = (p: World, id: string, sha256: string) =>
  p.admin('POST', `/admin/migrations/${id}/actions/trust`, { sha256 })

/** An import of this panel that answers in this process, read once. */
export async function importOf(panel: Panel, kind: Kind) {
  const p = await reading({ send: panel.send })
  const id = await beginAt(p, kind, 'https://panel.test:8443')
  return Object.assign(p, { id, read: await discover(p, id) })
}

/** Everything that was read, without what Berth makes up itself. */
export async function inventory(p: World, id: string) {
  const all = async (path: string) => {
    const found: any[] = []
    for (let cursor = ''; ; ) {
      const page = await p.admin('GET', `/admin/migrations/${id}/${path}?limit=200${cursor && `&cursor=${cursor}`}`)
      found.push(...page.data)
      if (!page.nextCursor) return found.toSorted((a, b) => (a.sourceId < b.sourceId ? -1 : 1))
      cursor = page.nextCursor
    }
  }
  const [hypervisors, packages, ranges, owners] = await Promise.all(
    ['hypervisors', 'packages', 'ranges', 'owners'].map((part) => all(`mapping/${part}`)),
  )
  return {
    hypervisors: hypervisors!,
    packages: packages!,
    ranges: ranges!,
    owners: owners!,
    servers: await all('servers'),
  }
}
export const sizes = (all: Awaited<ReturnType<typeof inventory>>) =>
  Object.fromEntries(Object.entries(all).map(([name, rows]) => [name, rows.length]))
