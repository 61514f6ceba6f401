// From the request logs of both panels: only reads, only allowed parameters, and no more of them than needed.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Panel, PanelRequest } from '../simulators/panel.ts'
import { SolusPanel } from '../simulators/solusvm2.ts'
import { VirtualizorPanel } from '../simulators/virtualizor.ts'
import { map, refused } from '../world.ts'
import { beginAt, discover, inventory, type Kind, kinds, reading, scratch, trust } from './served.ts'

let dir = ''
beforeAll(() => {
  dir = mkdtempSync(`${scratch}/berth-sources-`)
})
afterAll(() => rmSync(dir, { recursive: true }))

const nameOf: Readonly<Record<Kind, (request: PanelRequest) => string>> = {
  solusvm2: ({ path, query }) =>
    path.replace('/api/v1/', '').replace(/\d+/, '{id}') + (query.has('filter[compute_resource_id]') ? ' of one' : ''),
  virtualizor: ({ query }) => (query.has('vs_status') ? 'states' : query.get('act')!),
}
const counted = (panel: Panel, kind: Kind) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(panel.requests, nameOf[kind])).map(([name, all]) => [name, all!.length]),
  )

/** A list of one page is one answer and an empty one; a longer one that nobody counts is read until two agree. */
const readTwice = (pages: number) => (pages > 1 ? 2 : 1) * (pages + 1)
/** Each list once, with its pages. Virtualizor counts nothing: a list ends with a page that adds nothing. */
const needed: Readonly<Record<Kind, (servers: number) => Record<string, number>>> = {
  solusvm2: (servers) => ({
    ...{ account: 1, compute_resources: 1, 'compute_resources/{id}/networks': 2, plans: 1, ip_blocks: 1 },
    // Only the loose list of addresses has no bounds.
    ...{ 'ip_blocks/{id}/ips': 1, users: 1, os_images: 1 },
    servers: Math.ceil(servers / 100),
    'servers of one': 2 * Math.ceil(servers / 200),
  }),
  virtualizor: (servers) => ({
    ...{ servers: 4, plans: 2, ippool: 2, ipranges: 2, users: 2 },
    vs: Math.ceil(servers / 500) + 1,
    states: Math.ceil(servers / 250),
    ips: readTwice(Math.ceil((2 * servers + 2) / 500)),
  }),
}
const parametersOf: Readonly<Record<Kind, readonly string[]>> = {
  solusvm2: ['page', 'per_page', 'filter[compute_resource_id]'],
  virtualizor: ['act', 'api', 'adminapikey', 'adminapipass', 'apikey', 'page', 'reslen', 'vs_status'],
}

describe('Imports only read the source API and change nothing there.', () => {
  for (const kind of kinds)
    for (const servers of [7, 250, 1100])
      test(`${kind}, ${servers} servers: only the requests that are needed, and each is a read`, async () => {
        const panel = kind === 'solusvm2' ? new SolusPanel({ servers }) : new VirtualizorPanel({ servers })
        const rows = () => JSON.stringify([panel.servers, panel.hypervisors, panel.packages, panel.owners])
        const before = rows()
        await using served = await panel.serve(dir)
        using p = await reading()
        const id = await beginAt(p, kind, served.address)
        expect(panel.requests).toEqual([])
        await trust(p, id, (await discover(p, id)).asksFor.sha256)
        const read = await discover(p, id)
        expect(counted(panel, kind)).toEqual(needed[kind](servers))
        expect(read.sent).toMatchObject({ requests: panel.requests.length, refused: 0 })
        expect(read.servers.total).toBe(servers)
        // The panel is not asked again by anything that is looked at or decided afterwards.
        const sent = panel.requests.length
        await inventory(p, id)
        await map(p, id, { owners: [{ sourceId: '12', choice: 'leave_out' }] })
        await p.admin('GET', `/admin/migrations/${id}/plan`)
        await p.call(p.owner, 'GET', `/admin/migrations/${id}/mapping.csv`)
        await p.admin('POST', `/admin/migrations/${id}/actions/cancel`)
        expect(panel.requests.length).toBe(sent)
        expect(rows()).toBe(before)
        expect(panel.violations).toEqual([])
        expect(new Set(panel.requests.map(({ method }) => method))).toEqual(new Set(['GET']))
        const names = new Set(panel.requests.flatMap(({ query }) => [...query.keys()]))
        expect([...names].filter((name) => !parametersOf[kind].includes(name))).toEqual([])
      }, 60_000)

  test('beginning, renaming and refusing an import sends nothing', async () => {
    const panel = new SolusPanel()
    await using served = await panel.serve(dir)
    using p = await reading()
    const id = await beginAt(p, 'solusvm2', served.address)
    await p.admin('PATCH', `/admin/migrations/${id}`, { name: 'Old' })
    expect(
      await refused(p, 'POST', '/admin/migrations', { kind: 'solusvm2', address: served.address, credentials: {} }),
    ).toEqual([422, 'validation_failed'])
    await p.admin('GET', `/admin/migrations/${id}/plan`)
    expect([panel.requests.length, served.connections()]).toEqual([0, 0])
  })
})
