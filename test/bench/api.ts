// Rate and times of the API against a reference written by hand (reference.ts), turn by turn in the same run.
//
//   bun test/bench/api.ts [--rounds 3] [--seconds 6] [--servers 10000] [--connections 32] [--only 0]
//
// --only 1 … 6 measures one of the six alone.
import { Database } from 'bun:sqlite'
import { copyFileSync, mkdirSync } from 'node:fs'
import { freePort } from '../support/world/program.ts'
import { type Seeded, seed } from '../support/world/seed.ts'
import { allConnected, startAgents } from './agents.ts'
import { atEnd, cpuSeconds, memoryMb, start, tempDir } from './cleanup.ts'
import { firstAnswer, program, script, startController, stopController } from './controller.ts'
import { client, load, type Plan, type Result } from './load.ts'
import { flags, goal, median, ms, percentile, round, say, table } from './words.ts'

const { rounds, seconds, servers, connections, only } = flags(
  'Measures reads, lists and orders of the API against a hand-written reference.',
  {
    rounds: 3,
    seconds: 6,
    servers: 10_000,
    connections: 32,
    only: 0,
  },
)

const NODES = 20
/** An order runs ten times the code of a read, and its rate still rises after 5 000 of them. */
const WARM_CALLS = 10_000
/** A job that is going is looked for this long before the next measurement begins. */
const DRAIN_SECONDS = 120

type Measure = {
  name: string
  method: Plan['method']
  connections: number
  targets: Plan['targets']
  met(product: Result, ratio: number): string
  leavesJobs?: true
  /** So many changes a second are made beside it. */
  changesPerSecond?: number
}

function measures(seeded: Seeded): Measure[] {
  const order = (n: number, more: object) => ({
    path: '/api/v1/admin/servers',
    body: JSON.stringify({
      ownerId: seeded.customers[n]!.id,
      packageId: seeded.packageId,
      nodeGroupId: seeded.locationId,
      ...more,
    }),
  })
  const withImage = (access: (n: number) => object) =>
    seeded.customers.map((_, n) => order(n, { imageId: seeded.imageId, hostname: 'bench#', access: access(n) }))
  const orders = (r: Result, ratio: number) =>
    `${goal(r.perSecond >= 300, '300/s')}, ${goal(ratio >= 0.5, 'ratio 0.5')}, ${goal(r.p99Ms <= 60, '60 ms')}`
  const list = (r: Result, ratio: number) =>
    `${goal(r.perSecond >= 1500, '1500/s')}, ${goal(ratio >= 0.6, 'ratio 0.6')}, ${goal(r.p99Ms <= 40, '40 ms')}`
  return [
    {
      name: 'GET /servers/{id}',
      method: 'GET',
      connections,
      targets: seeded.servers.filter((_, i) => i % 5 === 0).map((id) => ({ path: `/api/v1/servers/${id}` })),
      met: (r, ratio) => `${goal(ratio >= 0.8, 'ratio 0.8')}, ${goal(r.p99Ms <= 25, '25 ms')}`,
    },
    {
      name: 'GET /admin/servers?limit=50',
      method: 'GET',
      connections,
      targets: [{ path: '/api/v1/admin/servers?limit=50' }],
      met: list,
    },
    {
      name: 'the same, 20 changes/s beside it',
      method: 'GET',
      connections,
      changesPerSecond: 20,
      targets: [{ path: '/api/v1/admin/servers?limit=50' }],
      met: list,
    },
    {
      name: 'the same, each node in turn, 20 changes/s beside it',
      method: 'GET',
      connections,
      changesPerSecond: 20,
      targets: seeded.nodes.map(({ id }) => ({ path: `/api/v1/admin/servers?limit=50&nodeId=${id}` })),
      met: list,
    },
    {
      name: 'POST order, no image',
      method: 'POST',
      connections: Math.min(connections, 16),
      targets: seeded.customers.map((_, n) => order(n, {})),
      met: orders,
    },
    {
      name: 'POST order, image, SSH key',
      method: 'POST',
      connections: Math.min(connections, 16),
      leavesJobs: true,
      met: orders,
      targets: withImage((n) => ({ mode: 'ssh_keys', sshKeyIds: [seeded.customers[n]!.sshKeyId] })),
    },
  ]
}

const mark = (data: string) => new Database(`${data}/berth.db`, { readonly: true })

/** Waits until the controller has nothing left to do; answers the jobs it ended a second. */
async function drained(data: string): Promise<void> {
  const db = mark(data)
  const open = db.query<{ n: number }, []>(
    "SELECT count(*) AS n FROM jobs WHERE state IN ('queued', 'running', 'undoing')",
  )
  const [before, began] = [open.get()!.n, performance.now()]
  while (open.get()!.n && performance.now() - began < DRAIN_SECONDS * 1000) await Bun.sleep(250)
  const left = open.get()!.n
  db.close()
  if (before)
    say(
      `  then ${before - left} jobs ended at ${round((before - left) / ((performance.now() - began) / 1000))}/s, ` +
        `with nothing else to do${left ? `; ${left} are left and go on` : ''}`,
    )
}

say(
  `Product: ${program.words}\nClient: ${client}, on the same machine\nSeeding ${servers} servers, 500 customers, ` +
    `${NODES} nodes …`,
)
const data = `${tempDir}/data`
const seeded = seed(data, { servers, customers: 500, nodes: NODES, tokens: 4000, freeAddresses: 200_000 })
mkdirSync(`${tempDir}/reference`)
copyFileSync(`${data}/berth.db`, `${tempDir}/reference/berth.db`)

const referencePort = freePort()
const reference = start(script('reference.ts', `${tempDir}/reference/berth.db`, String(referencePort)))
await firstAnswer(`http://127.0.0.1:${referencePort}/api/v1/status`, reference)
const product = await startController(data, freePort(), { PANEL_TRUSTED_PROXIES: '127.0.0.1/32' })
const agents = await startAgents(product.url, seeded.nodes)
say(`${NODES} nodes connected after ${round(await allConnected(agents, NODES, 30), 1)} s`)
atEnd(() => agents.process.kill())

const sides = [
  { name: 'product', url: product.url, pid: product.process.pid },
  { name: 'reference', url: `http://127.0.0.1:${referencePort}`, pid: reference.pid },
] as const

await mustAnswerAlike()
const head = [
  '',
  'product /s',
  'p50',
  'p99',
  'CPU per call',
  'reference /s',
  'p50',
  'p99',
  'CPU per call',
  'ratio (min…max)',
  'goal',
]
const rows: (string | number)[][] = []
let first = 1
for (const measure of measures(seeded).filter((_, i) => !only || i === only - 1)) {
  const results = { product: [] as (Result & { cpuUs: number })[], reference: [] as (Result & { cpuUs: number })[] }
  for (const side of sides) await warmUp(measure, side)
  for (let i = 0; i < rounds; i++)
    for (const side of sides) {
      results[side.name].push(await run(measure, side, seconds))
      if (measure.leavesJobs && side.name === 'product') await drained(data)
    }
  rows.push(summary(measure, results.product, results.reference))
}
table(head, rows)
say(`Controller: ${round(memoryMb(product.process.pid))} MB resident after all of it. ${stored()}`)
await agents.stop()
await stopController(product)
process.exit(0)

/**
 * Neither side is measured cold: code that has run a few hundred times only is several times slower, and the first use
 * of a token is noted.
 */
async function warmUp(measure: Measure, side: (typeof sides)[number]) {
  for (let [calls, tries] = [0, 0]; calls < WARM_CALLS && tries < 10; tries++)
    calls += (await run(measure, side, 2)).requests
  if (measure.leavesJobs && side.name === 'product') await drained(data)
}

async function run(
  { method, targets, name, connections, changesPerSecond }: Measure,
  side: (typeof sides)[number],
  seconds: number,
) {
  const cpu = cpuSeconds(side.pid)
  const changes = changesPerSecond ? changing(side.url, changesPerSecond) : undefined
  const result = await load({ url: side.url, method, targets, tokens: seeded.tokens, connections, seconds, first })
  await changes?.stop()
  first += result.requests + connections
  const cpuUs = ((cpuSeconds(side.pid) - cpu) / result.requests) * 1e6
  say(
    `  ${name}, ${side.name}: ${round(result.perSecond)}/s, p50 ${ms(result.p50Ms)}, p99 ${ms(result.p99Ms)}, ` +
      'longest ' +
      `${ms(result.maxMs)}${result.refused ? `, ${result.refused} REFUSED` : ''}${
        result.broken ? `, ${result.broken} ` + 'BROKEN' : ''
      }`,
  )
  return { ...result, cpuUs }
}

/** Renames customers, one after the other. */
function changing(url: string, perSecond: number) {
  const calls: Promise<unknown>[] = []
  const timer = setInterval(() => {
    const n = calls.length
    const call = fetch(`${url}/api/v1/customers/${seeded.customers[n % seeded.customers.length]!.id}`, {
      method: 'PATCH',
      headers: {
        Authorization: `Bearer ${seeded.tokens[n % seeded.tokens.length]}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ name: `Customer ${crypto.randomUUID()}` }),
    })
    calls.push(call.then((response) => response.ok || say(`    a change was refused: ${response.status}`)))
  }, 1000 / perSecond)
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(calls)
    },
  }
}

function summary(
  { name, met }: Measure,
  product: (Result & { cpuUs: number })[],
  reference: (Result & { cpuUs: number })[],
) {
  const of = (results: (Result & { cpuUs: number })[], what: 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuUs') =>
    median(results.map((r) => r[what]))
  const ratios = product.map((r, i) => r.perSecond / reference[i]!.perSecond)
  const side = (results: (Result & { cpuUs: number })[]) => [
    round(of(results, 'perSecond')),
    ms(of(results, 'p50Ms')),
    ms(of(results, 'p99Ms')),
    `${round(of(results, 'cpuUs'))} µs`,
  ]
  const typical = { ...product[0]!, perSecond: of(product, 'perSecond'), p99Ms: of(product, 'p99Ms') }
  return [
    name,
    ...side(product),
    ...side(reference),
    `${round(median(ratios), 2)} (${round(Math.min(...ratios), 2)}…${round(percentile(ratios, 100), 2)})`,
    met(typical, median(ratios)),
  ]
}

/** Throws when the two sides do not say the same of the same server: then the ratio would be of different work. */
async function mustAnswerAlike() {
  const headers = { Authorization: `Bearer ${seeded.tokens[0]}` }
  for (const id of [seeded.servers[0]!, seeded.servers[1]!, seeded.servers[2]!]) {
    const [a, b] = await Promise.all(
      sides.map(async ({ url }) => (await fetch(`${url}/api/v1/servers/${id}`, { headers })).json()),
    )
    if (!Bun.deepEquals(a, b))
      throw new Error(`product and reference answer differently:\n${JSON.stringify(a)}\n${JSON.stringify(b)}`)
  }
}

function stored() {
  const db = mark(data)
  const count = (name: string) => db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${name}`).get()!.n
  const words =
    `The database holds ${count('servers')} servers, ${count('audit')} audit lines, ${count('events')} ` + 'events.'
  db.close()
  return words
}
