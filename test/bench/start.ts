// How long until the executable answers, and what it and an agent hold in memory when nothing happens, against the
// smallest server that bun can compile.
//
//   bun test/bench/start.ts [--runs 10] [--servers 60000] [--idle 10]
import { copyFileSync, mkdirSync } from 'node:fs'
import { freePort } from '../support/world/program.ts'
import { seed } from '../support/world/seed.ts'
import { end, memoryMb, ownMemoryMb, start, tempDir } from './cleanup.ts'
import { firstAnswer, program, startController, stopController } from './controller.ts'
import { flags, goal, median, ms, percentile, round, say, table } from './words.ts'

const { runs, servers, idle } = flags('Measures start and idle memory of controller and agent.', {
  runs: 10,
  servers: 60_000,
  idle: 10,
})

say(`Product: ${program.words}\nCompiling a server that says hello …`)
const hello = await compileHello()
say(`Seeding ${servers} servers …`)
const full = `${tempDir}/full`
seed(full, { servers, customers: 3000, nodes: 200, tokens: 50, freeAddresses: 1000 })

const took = { hello: [] as number[], empty: [] as number[], full: [] as number[] }
// One start of each that does not count: what lies on the disk is in memory afterwards, for all of them.
for (let i = 0; i <= runs; i++) {
  const now = [await startHello(), await startEmpty(i), await startOnce(full)] as const
  if (i > 0) for (const [n, name] of (['hello', 'empty', 'full'] as const).entries()) took[name].push(now[n]!)
}
const row = (name: string, times: number[]) => [
  name,
  ms(median(times)),
  ms(percentile(times, 100)),
  round(median(times) / median(took.hello), 1),
]
table(
  ['spawn to first answer', 'median', 'longest', 'ratio', 'goal'],
  [
    [...row('hello, compiled', took.hello), ''],
    [...row('controller, empty database', took.empty), goal(median(took.empty) <= 150, '150 ms')],
    [...row(`controller, ${servers} servers`, took.full), goal(median(took.full) <= 3000, '3 s')],
  ],
)
const helloMemory = await idleHello()
const memoryRow = (name: string, { mb, ownMb }: Memory, most?: number) => [
  name,
  round(mb),
  round(ownMb),
  round(mb / helloMemory.mb, 1),
  most === undefined ? '' : goal(mb <= most, `${most} MB`),
]
table(
  [`after ${idle} s of nothing`, 'resident MB', 'of it no pages of a file, MB', 'ratio', 'goal'],
  [
    memoryRow('hello, compiled', helloMemory),
    memoryRow('controller, empty database', await idleController(`${tempDir}/empty`), 80),
    memoryRow(`controller, ${servers} servers`, await idleController(full), 120),
    memoryRow('agent run --fake', await idleAgent(), 60),
  ],
)
process.exit(0)

async function compileHello(): Promise<string> {
  const source = `${tempDir}/hello.ts`
  await Bun.write(
    source,
    "Bun.serve({ hostname: '127.0.0.1', port: Number(process.argv[2]), fetch: () => new Response('hello') })\n",
  )
  const built = start(
    [process.execPath, 'build', '--compile', '--minify', '--bytecode', source, '--outfile', `${tempDir}/hello`],
    {
      stderr: 'pipe',
    },
  )
  if (await built.exited) throw new Error(await new Response(built.stderr as ReadableStream).text())
  return `${tempDir}/hello`
}

async function runningHello() {
  const port = freePort()
  const began = performance.now()
  const child = start([hello, String(port)])
  await firstAnswer(`http://127.0.0.1:${port}/`, child)
  return { child, startedMs: performance.now() - began }
}

async function startHello(): Promise<number> {
  const { child, startedMs } = await runningHello()
  await end(child)
  return startedMs
}

/** With the schema there but no rows: what every later start of a new installation is like. */
async function startEmpty(i: number): Promise<number> {
  const data = `${tempDir}/empty`
  if (i === 0) seed(data, { servers: 0, customers: 0, nodes: 0, tokens: 1, freeAddresses: 0 })
  return startOnce(data)
}

async function startOnce(data: string): Promise<number> {
  const controller = await startController(data, freePort())
  await stopController(controller)
  return controller.startedMs
}

type Memory = { mb: number; ownMb: number }
function memoryOf(pid: number): Memory {
  return { mb: memoryMb(pid), ownMb: ownMemoryMb(pid) }
}

async function idleHello(): Promise<Memory> {
  const { child } = await runningHello()
  await Bun.sleep(idle * 1000)
  const memory = memoryOf(child.pid)
  await end(child)
  return memory
}

async function idleController(data: string): Promise<Memory> {
  const controller = await startController(data, freePort())
  await Bun.sleep(idle * 1000)
  const memory = memoryOf(controller.process.pid)
  await stopController(controller)
  return memory
}

/** A node of its own controller, enrolled as people do it. */
async function idleAgent(): Promise<Memory> {
  const data = `${tempDir}/for-agent`
  mkdirSync(data, { mode: 0o700 })
  copyFileSync(`${full}/berth.db`, `${data}/berth.db`)
  const controller = await startController(data, freePort())
  const [locationId, token] = await enrollment(data)
  say(`An agent joins ${locationId} …`)
  const agent = `${tempDir}/agent`
  const joined = start([
    ...program.command,
    'agent',
    'enroll',
    '--controller',
    controller.url,
    '--token',
    token,
    '--name',
    'idle',
    '--data-dir',
    agent,
    '--fake',
  ])
  if (await joined.exited) throw new Error('the agent was not enrolled')
  const child = start([...program.command, 'agent', 'run', '--data-dir', agent, '--fake'], { stderr: 'ignore' })
  await Bun.sleep(idle * 1000)
  const memory = memoryOf(child.pid)
  await end(child)
  await stopController(controller)
  return memory
}

async function admin(data: string, operation: string, fields: object = {}): Promise<any> {
  const child = start([...program.command, 'admin', operation, JSON.stringify(fields)], {
    env: { PANEL_DATA_DIR: data },
    stdout: 'pipe',
  })
  const out = await new Response(child.stdout as ReadableStream).text()
  if (await child.exited) throw new Error(`berth admin ${operation} failed`)
  return JSON.parse(out)
}

async function enrollment(data: string): Promise<[string, string]> {
  const { id } = (await admin(data, 'locations.list')).data[0]
  return [id, (await admin(data, 'nodes.enroll', { locationId: id })).token]
}
