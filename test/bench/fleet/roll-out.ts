// A roll-out to many agents: what is sent to each, how long it takes, and whether people can work meanwhile.
//
//   bun test/bench/fleet/roll-out.ts [--agents 300] [--servers 30] [--quiet 40] [--at-once 20]
//
// The release is a program of this source. The agents have one of the same source with another version, or the one
// that BERTH_BEFORE names: of a former state of the source, built without --minify and --bytecode.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { built, testKey } from '../../host/upgrade/builds.ts'
import { type RollOut, releaseOf } from '../../host/upgrade/fleet.ts'
import { freePort } from '../../support/world/program.ts'
import { seed } from '../../support/world/seed.ts'
import { allConnected, startAgents } from '../agents.ts'
import { atEnd, memoryMb, tempDir } from '../cleanup.ts'
import { startController, stopController } from '../controller.ts'
import { flags, goal, median, ms, percentile, round, say, table } from '../words.ts'
import { askMeanwhile } from './questions.ts'

const given = flags('Brings many agents to a release: bytes for each, time, and pages meanwhile.', {
  agents: 300,
  servers: 30,
  quiet: 40,
  'at-once': 20,
})
const { agents: count, servers: each, quiet } = given
/** Facts, first heartbeats and inventories come right behind the connections. */
const SETTLING_MS = 15_000
const LIMIT_SECONDS = 3600
const [FORMER, VERSION] = ['98.0.0', '99.0.0']

say('Building the program of before and the release …')
/** The program lies in a folder of its own, which goes with the benchmark. */
async function builtForNow(version: string) {
  const path = await built(version)
  atEnd(() => rmSync(dirname(path), { recursive: true, force: true }))
  return path
}
const former = process.env['BERTH_BEFORE'] ?? (await builtForNow(FORMER))
const program = await builtForNow(VERSION)
const data = `${tempDir}/data`
say(`Seeding ${count} nodes with ${each} servers each …`)
const seeded = seed(data, { servers: count * each, customers: 500, nodes: count, tokens: 50, freeAddresses: 1000 })
const folder = `${data}/upgrade/incoming`
mkdirSync(folder, { recursive: true })
releaseOf(former, FORMER, `${folder}/berth-${FORMER}.release`)
releaseOf(program, VERSION, `${folder}/berth-${VERSION}.release`)

const controller = await startController(data, freePort(), { PANEL_TRUSTED_PROXIES: '127.0.0.1/32' }, [program])
// Not on the disk that the controller has: agents have their own.
const dir = mkdtempSync(existsSync('/dev/shm') ? '/dev/shm/berth-bench-' : `${tempDir}/agents-`)
atEnd(() => rmSync(dir, { recursive: true, force: true }))
const agents = await startAgents(controller.url, seeded.nodes, 1, { dir, program: former, key: testKey.pem })
await allConnected(agents, count, 900)
await Bun.sleep(SETTLING_MS)

async function admin(operation: string, body: object): Promise<RollOut> {
  const child = Bun.spawn([program, 'admin', operation, JSON.stringify(body)], {
    env: { PANEL_DATA_DIR: data, HOME: '/root' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(err)
  return JSON.parse(out)
}
const ended = async (id: string, holds: (rollOut: RollOut) => boolean) => {
  for (const end = Date.now() + LIMIT_SECONDS * 1000; Date.now() < end; await Bun.sleep(2000)) {
    const rollOut = await admin('roll-outs.get', { id })
    if (holds(rollOut) || rollOut.state !== 'running') return rollOut
  }
  throw new Error(`the roll-out has not ended within ${LIMIT_SECONDS} s`)
}

const before = await askMeanwhile(
  `${quiet} s with nothing else to do`,
  seeded,
  () => controller.url,
  () => Bun.sleep(quiet * 1000),
)
const began = performance.now()
const { id } = await admin('roll-outs.start', { watchSeconds: 0, trialSeconds: 5, waveSizes: [given['at-once']] })
let rollOut: RollOut | undefined
const first = await askMeanwhile(
  'the first node, for which the patch is made',
  seeded,
  () => controller.url,
  async () => {
    rollOut = await ended(id, ({ members }) => members.some(({ state }) => state === 'done'))
  },
)
const rest = await askMeanwhile(
  'all others',
  seeded,
  () => controller.url,
  async () => {
    rollOut = await ended(id, ({ state }) => state !== 'running')
  },
)
const seconds = (performance.now() - began) / 1000
const { state, reason, members } = rollOut!
const sentMb = members.map(({ sentBytes }) => sentBytes / 1e6)
const meanwhile = (kind: 'page' | 'api') => {
  const [earlier, during] = [before, rest].map(({ times }) => percentile(times[kind], 99)) as [number, number]
  return [`p99 of the ${kind} beside before`, `${round(during / earlier, 1)} ×`, goal(during <= 2 * earlier, '2 ×')]
}
table(
  [`${count} agents × ${each} servers, ${given['at-once']} at once`, 'measured', 'goal'],
  [
    ['ended', reason ?? state, goal(state === 'done', 'done')],
    ['updated', members.filter((member) => member.state === 'done').length, ''],
    ['took', `${round(seconds)} s`, ''],
    [
      'sent to each: median / most',
      `${round(median(sentMb), 2)} / ${round(Math.max(...sentMb), 2)} MB`,
      goal(Math.max(...sentMb) <= 25, '25 MB'),
    ],
    ...before.rows('before'),
    ...first.rows('first node'),
    ...rest.rows('others'),
    meanwhile('page'),
    meanwhile('api'),
    ['longest wait, while the patch is made', ms(Math.max(...first.times.page, ...first.times.api)), ''],
    ['memory of the controller', `${round(memoryMb(controller.process.pid))} MB`, ''],
  ],
)
await agents.stop()
await stopController(controller)
process.exit(0)
