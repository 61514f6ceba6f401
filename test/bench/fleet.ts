// Many agents on one controller: how long until all are back when it restarts, how late their heartbeats are, and
// whether people can work meanwhile.
//
//   bun test/bench/fleet.ts [--agents 500] [--servers 30] [--steady 40] [--per-address 1]
import { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { freePort } from '../support/world/program.ts'
import { seed } from '../support/world/seed.ts'
import { allConnected, startAgents } from './agents.ts'
import { memoryMb, tempDir } from './cleanup.ts'
import { program, startController, stopController } from './controller.ts'
import { askMeanwhile } from './fleet/questions.ts'
import { flags, goal, ms, percentile, round, say, table } from './words.ts'

const {
  agents: count,
  servers: each,
  steady,
  'per-address': perAddress,
} = flags(
  'Measures a fleet of agents: a restart of the controller, heartbeats, and pages meanwhile. --per-address is ' +
    'how many agents share one address; 0: all.',
  {
    agents: 500,
    servers: 30,
    steady: 40,
    'per-address': 1,
  },
)
/** Facts, first heartbeats and inventories come right behind the connections. */
const SETTLING_MS = 15_000
/** Seconds for 10 000 agents; fewer have a part of it, and never less than the longest of their first pauses. */
const [COLD, BACK] = [60, 15]
const limit = (seconds: number) => Math.max(3, (seconds * count) / 10_000)

say(`Product: ${program.words}\nSeeding ${count} nodes with ${each} servers each …`)
const data = `${tempDir}/data`
const seeded = seed(data, { servers: count * each, customers: 500, nodes: count, tokens: 50, freeAddresses: 1000 })
const port = freePort()
const env = { PANEL_TRUSTED_PROXIES: '127.0.0.1/32' }

let controller = await startController(data, port, env)
const agents = await startAgents(controller.url, seeded.nodes, perAddress)
const rows: (string | number)[][] = []

let coldSeconds = 0
const cold = await watched('until all agents have come for the first time', async () => {
  coldSeconds = await allConnected(agents, count, 900)
  await Bun.sleep(SETTLING_MS)
})
rows.push(
  [
    'all connected after a start of all agents',
    `${round(coldSeconds, 1)} s`,
    goal(coldSeconds <= limit(COLD), `${round(limit(COLD), 1)} s`),
  ],
  ...cold.rows('start'),
)

const quiet = await watched(`${steady} s with nothing else to do`, () => Bun.sleep(steady * 1000))
rows.push(
  [
    'heartbeat lag, steady: p50 / p99',
    `${ms(percentile(quiet.lagMs, 50))} / ${ms(percentile(quiet.lagMs, 99))}`,
    goal(percentile(quiet.lagMs, 99) <= 500, '0.5 s'),
  ],
  ...quiet.rows('steady'),
)

const before = agents.pulse!
say('SIGTERM to the controller, and a new one in its place …')
const began = performance.now()
await stopController(controller)
const stoppedSeconds = (performance.now() - began) / 1000
controller = await startController(data, port, env)
let backSeconds = 0
const storm = await watched('until all agents are back', async () => {
  backSeconds = await allConnected(agents, count, 900)
  await Bun.sleep(SETTLING_MS)
})
rows.push(
  [
    'controller stopped / up again after',
    `${round(stoppedSeconds, 1)} s / ${ms(controller.startedMs)}`,
    goal(stoppedSeconds <= 20 && controller.startedMs <= 3000, '20 s / 3 s'),
  ],
  [
    'all agents back after the restart',
    `${round(backSeconds, 1)} s`,
    goal(backSeconds <= limit(BACK), `${round(limit(BACK), 1)} s`),
  ],
  ['challenges refused meanwhile', agents.pulse!.refused - before.refused, ''],
  [
    'heartbeat lag, storm: p50 / p99',
    `${ms(percentile(storm.lagMs, 50))} / ${ms(percentile(storm.lagMs, 99))}`,
    goal(percentile(storm.lagMs, 99) <= 2000, '2 s'),
  ],
  ...storm.rows('storm'),
  [
    'memory of the controller',
    `${round(memoryMb(controller.process.pid))} MB`,
    goal(memoryMb(controller.process.pid) <= 350, '350 MB'),
  ],
  ['nodes that the database says are connected', connectedNodes(), ''],
)
table([`${count} agents × ${each} servers, ${perAddress || 'all'} from one address`, 'measured', 'goal'], rows)
await agents.stop()
await stopController(controller)
process.exit(0)

async function watched(words: string, work: () => Promise<unknown>) {
  agents.lagMs.length = 0
  const pid = controller.process.pid
  const [began, used] = [performance.now(), processorSeconds(pid)]
  const { rows: times } = await askMeanwhile(words, seeded, () => controller.url, work)
  const seconds = (performance.now() - began) / 1000
  const processor = `${round(processorSeconds(pid) - used, 1)} s in ${round(seconds, 1)} s; ${round(loadavg()[0]!, 1)}`
  const rows = (when: string) => [
    ...times(when),
    [`processor of the controller, ${when}; load of the machine`, processor, ''],
  ]
  return { lagMs: [...agents.lagMs], rows }
}

/** Of all its threads, user and system. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

function connectedNodes(): number {
  const db = new Database(`${data}/berth.db`, { readonly: true })
  const { n } = db.query<{ n: number }, []>('SELECT count(*) AS n FROM nodes WHERE connected_at IS NOT NULL').get()!
  db.close()
  return n
}
