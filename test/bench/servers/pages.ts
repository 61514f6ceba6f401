// A page costs the controller this processor time, from the request to the markup, in process.
//
//   bun test/bench/servers/pages.ts [--servers 50] [--pages 400] [--budget 50]
import { threadMs } from '../../support/load/event-loop.ts'
import { world } from '../../support/world/panel.ts'
import { flags, goal, median, ms, percentile, say, table } from '../words.ts'

const { servers, pages, budget } = flags(
  'Measures the processor time of a page. --budget is the most in ms that the slowest of a hundred may take.',
  {
    servers: 50,
    pages: 400,
    budget: 50,
  },
)
const p = await world()
// The world has few addresses, and memory for a few servers.
const small = { name: 'Small', vcpus: 1, memoryMb: 128, diskGb: 1 }
const { id: packageId } = await p.admin('POST', '/admin/packages', small)
await p.admin('POST', '/admin/ip-pools', {
  name: 'wide',
  network: '10.99.0.0/16',
  gateway: '10.99.0.1',
  first: '10.99.1.0',
  last: '10.99.9.0',
  nodeIds: [p.node.id],
})
for (let i = 0; i < servers; i++)
  await p.admin('POST', '/admin/servers', { ...p.order, packageId, hostname: `web${i}` })
await p.settle()

/** Draws the page once; throws for one that is not drawn. Answers its length. */
async function draw(path: string, cookie: string | undefined) {
  const request = new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${cookie}` } })
  const response = await p.controller.router.fetch(request)
  const { length } = await response.text()
  if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
  return length
}

const readers = [
  ['/admin/servers', p.owner.cookie],
  ['/servers', p.customer.cookie],
  ['/admin/servers/new', p.owner.cookie],
  ['/admin', p.owner.cookie],
] as const
const BATCH = 20
const rows: (string | number)[][] = []
const measured = readers.map(() => ({ kB: 0, busy: [] as number[], took: [] as number[] }))
// Batches of the pages in turns. The first batch of each only warms up.
for (let batch = 0; batch <= pages / BATCH; batch++)
  for (const [i, [path, cookie]] of readers.entries()) {
    const of = measured[i]!
    const before = threadMs()
    for (let n = 0; n < BATCH; n++) {
      const began = performance.now()
      of.kB = Math.round((await draw(path, cookie)) / 1000)
      if (batch) of.took.push(performance.now() - began)
    }
    if (batch) of.busy.push((threadMs() - before) / BATCH)
  }
for (const [i, { kB, busy, took }] of measured.entries()) {
  const slowest = percentile(took, 99)
  rows.push([
    readers[i]![0],
    `${kB} kB`,
    ms(median(busy)),
    ms(median(took)),
    ms(slowest),
    goal(slowest <= budget, '').trim(),
  ])
}
table(['page', 'size', 'processor time', 'p50', 'p99', `p99 of ${budget} ms`], rows)
say(`Lists have ${servers} servers.`)
p.close()
process.exit(0)
