// A hosting company of 300 000 servers: how long pages, calls, background work and orders take, beside their goals, and
// the slowest statements with their plans. Nodes have no agents.
//
//   bun test/bench/data/scale.ts [--servers 30000] [--auditLines 200000] [--tries 4] [--overMs 5]
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { configFrom } from '../../../src/app/config.ts'
import { createController } from '../../../src/app/controller.ts'
import { registry } from '../../../src/app/features.ts'
import { secretsWith } from '../../../src/kernel/crypto/secrets.ts'
import { openDb } from '../../../src/kernel/db/open.ts'
import { quieten } from '../../../src/kernel/log.ts'
import { longestHold } from '../../support/load/event-loop.ts'
import { recordStatements } from '../../support/load/statements.ts'
import { freePort } from '../../support/world/program.ts'
import type { Seeded } from '../../support/world/seed.ts'
import { allConnected, startAgents } from '../agents.ts'
import { tempDir } from '../cleanup.ts'
import { type Running, startController, stopController } from '../controller.ts'
import { flags, goal, median, ms, round, say, table } from '../words.ts'
import { askLongReads } from './scale/files.ts'
import { questionsOf } from './scale/questions.ts'
import { fillScale, sizeFor } from './scale/rows.ts'

const { servers, auditLines, tries, overMs } = flags(
  'Measures pages, calls and background work of a large company. --overMs: statements that take longer are listed.',
  { servers: 30_000, auditLines: 200_000, tries: 4, overMs: 5 },
)
const START_GOAL_MS = 1000
const TURN_GOAL_MS = 10
const STATEMENTS_SHOWN = 10
const SQL_SHOWN = 1200
const ORDERS = 20
const STEADY_MS = 60_000

const { data, seeded } = company()

const begun = await startController(data, freePort())
await orders(begun)
await askLongReads(begun, seeded.tokens[0]!)
await stopController(begun)

quieten(true)
const config = configFrom({ PANEL_DATA_DIR: data, PANEL_PUBLIC_URL: 'https://panel.test' })
const db = openDb(`${data}/berth.db`, registry.migrations)
const statements = recordStatements(db.$client, overMs)
const controller = await createController({
  config,
  registry,
  db,
  callsPerMinute: 1e9,
  secrets: secretsWith(Buffer.alloc(32, 7)),
})
const one = (sql: string) => db.$client.query<{ id: string }, []>(sql).get()!.id
const ids = {
  server: one('SELECT id FROM workloads ORDER BY id LIMIT 1 OFFSET 500'),
  owner: one('SELECT owner_id AS id FROM workloads ORDER BY id LIMIT 1 OFFSET 500'),
  node: one('SELECT node_id AS id FROM workloads ORDER BY id LIMIT 1 OFFSET 500'),
  pack: one('SELECT package_id AS id FROM servers LIMIT 1 OFFSET 500'),
  pool: one('SELECT id FROM pools WHERE version = 4'),
  location: seeded.locationId,
}

function kB(bytes: number): string {
  return `${round(bytes / 1000)} kB`
}

/** `BERTH_SCALE_DIR`: a folder that stays, so that the next run finds the database of this one. */
function company(): { data: string; seeded: Seeded } {
  const kept = process.env['BERTH_SCALE_DIR']
  const data = kept ?? `${tempDir}/data`
  const file = `${data}/seeded.json`
  if (existsSync(file)) return { data, seeded: JSON.parse(readFileSync(file, 'utf8')) }
  say(`Filling the database of ${servers} servers in ${data} …`)
  const seeded = fillScale(data, sizeFor(servers, auditLines))
  if (kept) writeFileSync(file, JSON.stringify(seeded))
  return { data, seeded }
}

type Answer = { status: number; bytes: number; sent: number; tookMs: number }
/** The answer to a signed-in owner, as a browser gets it: `sent` bytes, and `bytes` when it is unpacked. */
async function ask(path: string): Promise<Answer> {
  const began = performance.now()
  const headers = { Cookie: `__Host-panel=${seeded.session}`, 'Accept-Encoding': 'gzip' }
  const response = await controller.router.fetch(new Request(`http://localhost${path}`, { headers }))
  const content = new Uint8Array(await response.arrayBuffer())
  const tookMs = performance.now() - began
  const bytes = response.headers.get('Content-Encoding') === 'gzip' ? Bun.gunzipSync(content).length : content.length
  return { status: response.status, bytes, sent: content.length, tookMs }
}

const asked: (string | number)[][] = [
  [
    'start of the program to its first answer',
    '',
    '',
    ms(begun.startedMs),
    '',
    goal(begun.startedMs <= START_GOAL_MS, ms(START_GOAL_MS)),
  ],
]
for (const { what, path, goalMs, goalKb } of questionsOf(ids)) {
  const answers = []
  for (let n = 0; n <= tries; n++) answers.push(await ask(path))
  // The first one compiles its statements and draws what is kept.
  const took = answers.slice(1).map(({ tookMs }) => tookMs)
  const { status, bytes, sent } = answers[0]!
  const isMet = median(took) <= goalMs && (goalKb === undefined || sent <= goalKb * 1000)
  const words = goalKb === undefined ? ms(goalMs) : `${ms(goalMs)}, ${goalKb} kB`
  asked.push([
    what,
    status === 200 ? kB(bytes) : `status ${status}`,
    sent === bytes ? '' : kB(sent),
    ms(median(took)),
    ms(answers[0]!.tookMs),
    goal(isMet, words),
  ])
}
const { n: there } = db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM servers').get()!
table([`${there} servers`, 'size', 'sent', 'median', 'first', 'goal'], asked)

const { hub, runner, deliveries, app } = controller
const turns: { words: string; first: number; usual: number }[] = []
for (const { words, work } of registry.schedule) {
  const held = []
  for (let n = 0; n < 3; n++) held.push(await longestHold(async () => work({ hub, runner, deliveries, db, app })))
  turns.push({ words, first: held[0]!, usual: Math.min(...held.slice(1)) })
}
const longest = turns.toSorted((a, b) => b.usual - a.usual).slice(0, STATEMENTS_SHOWN)
table(
  ['background work', 'first turn', 'later turns', 'goal'],
  longest.map(({ words, first, usual }) => [
    words,
    ms(first),
    ms(usual),
    goal(usual <= TURN_GOAL_MS, ms(TURN_GOAL_MS)),
  ]),
)

for (const { sql, times, worstMs, allMs, plan } of statements.slowest(STATEMENTS_SHOWN)) {
  say(`\n${ms(worstMs)} at worst, ${times} times, ${ms(allMs)} together:`)
  say(sql.replace(/\s+/g, ' ').slice(0, SQL_SHOWN))
  for (const step of plan) say(`    ${step}`)
}
await controller.stop(async () => {})
process.exit(0)

/** Orders without an image, one after another, on the one node that is connected: their time, and what each writes. */
async function orders({ url, process: { pid } }: Running) {
  const agents = await startAgents(url, seeded.nodes, 1)
  await allConnected(agents, seeded.nodes.length, 60)
  const written = () => Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])
  const body = {
    ownerId: seeded.customers[0]!.id,
    packageId: seeded.packageId,
    nodeGroupId: seeded.locationId,
  }
  const took: number[] = []
  const before = written()
  for (let n = 0; n < ORDERS; n++) {
    const began = performance.now()
    const response = await fetch(`${url}/api/v1/admin/servers`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${seeded.tokens[0]}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`an order was refused: ${(await response.text()).slice(0, 300)}`)
    took.push(performance.now() - began)
  }
  say(`An order: ${ms(median(took))}, ${kB((written() - before) / ORDERS)} written.`)
  // Of one node with its servers, which report as they do all day.
  const began = performance.now()
  const from = written()
  await Bun.sleep(STEADY_MS)
  const aDay = ((written() - from) * 86_400_000) / (performance.now() - began)
  say(`When nothing is asked, with one node connected: ${round(aDay / 1e6)} MB written a day.`)
  await agents.stop()
}
