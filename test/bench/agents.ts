// Many nodes in one process: the agent's own connection (challenge, signature, socket, back-off, reports), over hosts
// that are made of numbers and do every command at once.
//
//   bun test/bench/agents.ts FILE [AGENTS-PER-ADDRESS]
//
// FILE is JSON: { controller, nodes, updating }. Every agent, or every so many, seems to come from an address of its
// own, through the header of a trusted proxy; 0 leaves them all at 127.0.0.1. One JSON line a second on standard output
// says how it goes.
import { createPrivateKey } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { Connection } from '../../agent/controller-link/connection.ts'
import type { Answer, Command, Journal } from '../../agent/controller-link/journal.ts'
import type { Host } from '../../agent/host/host.ts'
import type { Supervision } from '../../agent/host/supervision.ts'
import { releaseKeyFrom } from '../../agent/protocol/release/signature.ts'
import type { Power, Volume } from '../../agent/protocol/wire.ts'
import { agentHeaders, agentPaths, type CommandName } from '../../agent/protocol/wire.ts'
import type { Engine } from '../../agent/update/engine.ts'
import { FakeEngine } from '../../agent/update/fake.ts'
import { Updates } from '../../agent/update/updates.ts'
import { VERSION } from '../../agent/version.ts'
import { factsOf, NODE_POOL_BYTES, type SeededNode } from '../support/world/seed.ts'
import { end, start, tempDir } from './cleanup.ts'
import { script } from './controller.ts'

export type Pulse = {
  connected: number
  opened: number
  refused: number
  /** Upgrades that were answered 409: the challenge was of another process. */
  tooOld: number
  commands: number
  heartbeats: number
  lagMs: number[]
}

/** Agents that update themselves: a folder for them, the program that each of them has, and a key that they trust. */
export type Updating = { dir: string; program: string; key: string }
type Given = { controller: string; nodes: readonly SeededNode[]; updating?: Updating | undefined }

/** In the benchmark's process: starts the simulator and keeps what it said last. */
export async function startAgents(
  controller: string,
  nodes: readonly SeededNode[],
  agentsPerAddress = 1,
  updating?: Updating,
) {
  const file = `${tempDir}/agents.json`
  await Bun.write(file, JSON.stringify({ controller, nodes, updating } satisfies Given))
  // Programs are put together on other machines than the controller's.
  const nice = updating ? ['nice', '-n', '19'] : []
  const child = start([...nice, ...script('agents.ts', file, String(agentsPerAddress))], {
    stdout: 'pipe',
    stderr: Bun.file(`${tempDir}/agents.log`),
  })
  const simulator = {
    process: child,
    pulse: undefined as Pulse | undefined,
    lagMs: [] as number[],
    stop: () => end(child),
  }
  void (async () => {
    for await (const line of linesOf(child.stdout as ReadableStream<Uint8Array>)) {
      simulator.pulse = JSON.parse(line) as Pulse
      simulator.lagMs.push(...simulator.pulse.lagMs)
    }
  })()
  return simulator
}
/** The journals of all agents. */
export const agentsLog = () => Bun.file(`${tempDir}/agents.log`).text()
export type Agents = Awaited<ReturnType<typeof startAgents>>

/** Answers the seconds until all were connected; throws after `limitSeconds`. */
export async function allConnected(agents: Agents, count: number, limitSeconds: number): Promise<number> {
  const began = performance.now()
  while (performance.now() - began < limitSeconds * 1000) {
    if (agents.pulse?.connected === count) return (performance.now() - began) / 1000
    await Bun.sleep(50)
  }
  throw new Error(`after ${limitSeconds} s only ${agents.pulse?.connected ?? 0} of ${count} agents are connected`)
}

async function* linesOf(stream: ReadableStream<Uint8Array>) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

// ---------------------------------------------------------------- the simulator's own process
const PULSE_MS = 200
const count = { opened: 0, refused: 0, tooOld: 0, commands: 0, heartbeats: 0 }
const sockets = new Set<WebSocket>()
let lagMs: number[] = []

/** A host that reports this node's servers. */
function hostOf(node: SeededNode): Host {
  const guests = new Map<string, Power>(node.servers.map(({ id, power }) => [id, power]))
  const volume = (workload: string): Volume => ({ workload, generation: 0, pool: 'local', format: 'qcow2' })
  const look = async () => ({
    ours: [...guests].map(([id, power]) => ({
      id,
      power,
      cpuMs: Date.now(),
      rxBytes: Date.now(),
      txBytes: Date.now(),
    })),
    foreign: [],
  })
  return {
    facts: async () => factsOf(node.name),
    load: async () => ({ cpuPercent: 12.5, load1: 3.1, memoryFreeMb: 60_000_000 }),
    storage: {
      list: async () => [...guests.keys()].map(volume),
      volumes: async () => ({ volumes: [...guests.keys()].map(volume), silent: [] }),
      capacities: async () => [
        {
          name: 'local',
          kind: 'file',
          path: '/var/lib/berth-agent/disks',
          totalBytes: NODE_POOL_BYTES,
          freeBytes: NODE_POOL_BYTES / 2,
        },
      ],
    },
    hostCounters: () => ({ cpuMs: 0, rxBytes: 0, txBytes: 0, rxPackets: 0, txPackets: 0, memoryUsedMb: 0 }),
    hypervisor: { look, usage: async () => [], events: untilAborted },
    // Neither instances nor cards.
    containers: { look: async () => [], usage: async () => [], events: untilAborted },
    workspaces: { list: async () => [] },
    gpus: { samples: async () => [], cards: async () => [] },
    // Every controller is obeyed.
    state: { controllerEpoch: () => 0, obeyEpoch() {}, learnPools() {} },
    portSecurity: { addresses: async () => [] },
    access: { addresses: async () => [] },
    // An update asks each driver.
    ...{ images: finds, isos: finds, migration: finds, seeds: { path: async () => '' } },
    ...{ httpNames: { problems: async () => [] }, network: { accepts: async () => true } },
    // Its traffic is stored already.
    metering: { report: () => undefined, stored() {} },
    withFaults: async (name: CommandName, workload: string | undefined) => {
      count.commands++
      if (workload && name === 'vm.start') guests.set(workload, 'running')
      if (workload && name === 'vm.stop') guests.set(workload, 'stopped')
      if (workload && name === 'vm.remove') guests.delete(workload)
      return answers[name] ?? {}
    },
  } as unknown as Host
}

const answers: Partial<Record<CommandName, unknown>> = {
  'image.ensure': { virtualSizeBytes: 2 ** 31 },
  'volume.look': { sizeBytes: null },
  'vm.look': { power: 'running' },
  'vm.await': { answered: 'agent' },
}

const finds = { find: async () => undefined }

async function* untilAborted(signal: AbortSignal) {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

/** Without a disk: what is measured is the controller's. */
const journal = {
  async quiet() {},
  async obey(_: Command, work: () => Promise<unknown>): Promise<Answer> {
    return { output: (await work()) ?? {} }
  },
} as unknown as Journal

/** Vms that never end. */
const supervision = { onCrash() {}, recent: () => [], wake() {} } as unknown as Supervision

/**
 * The lag of a heartbeat, seen from here: a ping sent right behind it is answered when the controller has taken the
 * heartbeat in, because frames of one socket are handled in their order.
 */
class Watched extends WebSocket {
  private sentAt: number[] = []
  constructor(url: string, options: { headers: Record<string, string> }) {
    const node = options.headers[agentHeaders.node]!
    super(url, { headers: { ...options.headers, ...fromAddressOf(node) } } as never)
    this.addEventListener('open', () => {
      count.opened++
      sockets.add(this)
    })
    this.addEventListener('error', (event) => {
      if ((event as ErrorEvent).message?.includes('409')) count.tooOld++
    })
    this.addEventListener('close', () => sockets.delete(this))
    this.addEventListener('pong' as 'message', ({ data }) => {
      if (String(data) === 'lag') lagMs.push(performance.now() - this.sentAt.shift()!)
    })
  }
  override send(data: string) {
    super.send(data)
    if (!data.startsWith('{"type":"heartbeat"')) return
    count.heartbeats++
    this.sentAt.push(performance.now())
    ;(this as unknown as { ping(data: string): void }).ping('lag')
  }
}

const addresses = new Map<string, string>()
const fromAddressOf = (nodeId: string) => {
  const address = addresses.get(nodeId)
  return address ? { 'X-Forwarded-For': address } : undefined
}

/** Puts the agent's address into its calls. The agent's code has no place for that, and needs none. */
function speakFromAddresses() {
  const call = globalThis.fetch
  globalThis.fetch = (async (url: string, init: RequestInit) => {
    const from = url.endsWith(agentPaths.challenge) ? fromAddressOf(JSON.parse(String(init.body)).nodeId) : undefined
    const response = await call(url, { ...init, headers: { ...init.headers, ...from } } as RequestInit)
    if (!response.ok) count.refused++
    return response
  }) as typeof fetch
  globalThis.WebSocket = Watched as unknown as typeof WebSocket
}

/** Of nodes that are not updated. */
const noEngine: Engine = {
  ...{ updatedBy: 'hand', version: VERSION, running: undefined },
  status: () => ({ state: 'none' }),
  start: async () => {},
  accept: () => {},
  reject: () => {},
  giveUp: () => {},
}

async function simulate(file: string, agentsPerAddress: number) {
  const { controller, nodes, updating } = (await Bun.file(file).json()) as Given
  speakFromAddresses()
  const stopping = new AbortController()
  for (const [i, node] of nodes.entries()) {
    const place = Math.floor(i / agentsPerAddress)
    if (agentsPerAddress) addresses.set(node.id, `100.64.${place >> 8}.${place & 255}`)
    const identity = {
      controller,
      nodeId: node.id,
      name: node.name,
      fake: true,
      key: createPrivateKey(node.privateKey),
    }
    const host = hostOf(node)
    const dataDir = updating ? `${updating.dir}/${node.id}` : ''
    if (updating) mkdirSync(dataDir, { recursive: true })
    const engine = updating && new FakeEngine(dataDir, updating.program)
    const keys = updating ? [releaseKeyFrom(updating.key)] : []
    const updates = new Updates(engine ?? noEngine, host, { dataDir, keys })
    const connection = new Connection(identity, host, journal, supervision, () => {}, updates)
    if (engine) {
      engine.onEnd = () => connection.beginAnew()
      engine.onRestart = () => {
        updates.begin(stopping.signal)
        connection.beginAnew()
      }
    }
    updates.begin(stopping.signal)
    void connection.stay(stopping.signal)
  }
  const timer = setInterval(() => {
    const pulse: Pulse = { connected: sockets.size, ...count, lagMs: lagMs.map((n) => Math.round(n * 100) / 100) }
    lagMs = []
    process.stdout.write(`${JSON.stringify(pulse)}\n`)
  }, PULSE_MS)
  await new Promise<void>((stop) => process.once('SIGTERM', () => stop()))
  clearInterval(timer)
  stopping.abort()
  await Bun.sleep(100)
  process.exit(0)
}

if (import.meta.main) await simulate(process.argv[2]!, Number(process.argv[3] ?? 1))
