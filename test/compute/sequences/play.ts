// One random sequence: calls and disturbances, each checked against the model, then the comparison of tables and nodes.
import { statusOf } from '../../../src/fleet/workloads/status.ts'
import { ledgerFaults } from '../../support/ledger.ts'
import type { Reply } from '../../support/world/panel.ts'
import {
  type ActorName,
  actions,
  actorNames,
  actors,
  customers,
  type Expected,
  type ModelAction,
  type ModelServer,
  sees,
  type Things,
} from './model.ts'
import { type Entered, enter, type Stage } from './stage.ts'

const minute = 60_000
const UNKNOWN = `srv_${'0'.repeat(26)}`

/** A generator of numbers from 0 to 1 that a seed repeats (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export type Played = { log: string[]; faults: string[]; accepted: number; refused: number }

/** Plays so many calls. `faults` are the broken promises in words, `log` the calls before them. */
export async function play(stage: Stage, seed: number, calls: number): Promise<Played> {
  const random = randomFrom(seed)
  const entered = await enter(stage)
  const game = new Game(stage, entered, random)
  try {
    for (let i = 0; i < calls; i++) await game.turn()
    await game.quiet()
    await game.compare()
    return game.played
  } finally {
    entered.p.close()
  }
}

class Game {
  readonly played: Played = { log: [], faults: [], accepted: 0, refused: 0 }
  private servers: ModelServer[] = []
  private away = new Set<string>()

  constructor(
    private stage: Stage,
    private entered: Entered,
    private random: () => number,
  ) {}

  private get p() {
    return this.entered.p
  }
  private pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.random() * all.length)]!
  }
  private note = (words: string) => {
    if (process.env['SEQUENCE']) console.error(words)
    this.played.log.push(words)
  }
  private fault = (words: string) => void this.played.faults.push(words)

  private get things(): Things {
    const extra = this.p.db.$client.query<{ id: string }, [string]>(
      'SELECT id FROM addresses WHERE workload_id = ? ORDER BY id LIMIT -1 OFFSET 1',
    )
    return { ...this.stage.things, extraAddresses: (serverId) => extra.all(serverId).map(({ id }) => id) }
  }

  async turn() {
    const kind = this.random()
    if (kind < 0.15) await this.disturb()
    else if (kind < 0.25 || this.servers.length < 2) await this.order()
    else {
      const [action, server] = [this.pick(actions), this.pick(this.servers)]
      const able = actorNames.filter((actor) => action.may(actor, server))
      await this.act(action, this.pick(this.random() < 0.8 ? able : actorNames), server)
    }
    // Often the next call comes while a job is at work.
    if (this.random() < 0.4) await this.settle()
  }

  /** A job that waits for a node that is away does not end. */
  private settle = () => Promise.race([this.p.settle(), ...(this.away.size ? [Bun.sleep(5)] : [])])

  private async call(actor: ActorName, method: string, path: string, body?: unknown): Promise<Reply> {
    const reply = await this.p.call(this.entered.people[actor], method, path, body)
    this.note(
      `${actor}: ${method} ${path} ${JSON.stringify(body ?? {})} -> ${reply.status} ${reply.body?.error?.code ?? ''}`,
    )
    if (reply.status >= 500 && reply.body?.error?.code !== 'restarting') this.fault(`an error ${reply.status}`)
    if (reply.status >= 400 && !(reply.body?.error?.message?.length > 10)) this.fault('a refusal without words')
    if (reply.status < 300) this.played.accepted++
    else this.played.refused++
    return reply
  }

  private async order() {
    const actor = this.pick(['owner', 'owner', 'rita'] as const)
    const owner = actor === 'rita' ? 'clara' : this.pick(customers)
    const hostname = `web${Math.floor(this.random() * 30)}`
    const isSetUp = this.random() < 0.7
    const { things, location, accounts } = this.stage
    const { status, body } = await this.call(actor, 'POST', actor === 'rita' ? '/reseller/servers' : '/admin/servers', {
      ownerId: accounts[owner],
      packageId: this.pick(things.packages),
      nodeGroupId: location,
      ...(isSetUp && { imageId: things.image, hostname, access: { mode: 'password' } }),
    })
    if (status === 201)
      this.servers.push({
        id: body.serverId,
        owner,
        hostname: isSetUp ? hostname : '',
        isSetUp,
        isSuspended: false,
        isTerminated: false,
        isPurged: false,
        isProtected: false,
      })
    else if (!['no_addresses', 'no_capacity', 'hostname_taken', 'restarting'].includes(body.error.code))
      this.fault(`an order was refused: ${body.error.code}`)
  }

  private async act(action: ModelAction, actor: ActorName, server: ModelServer) {
    const body = action.body?.(this.random, this.things)
    const path = action.path(server, this.random, this.things)
    const reply = await this.call(actor, action.method, path, body)
    const isAccepted = reply.status < 300
    if (!sees(actor, server)) {
      if (isAccepted) this.fault(`${actor} may ${action.name} a server of ${server.owner}`)
      const other = await this.call(actor, action.method, path.replace(server.id, UNKNOWN), body)
      const [a, b] = [reply, other].map(({ status, body }) => JSON.stringify([status, body]))
      if (a !== b) this.fault(`a foreign server answers otherwise than none: ${a} and ${b}`)
      return
    }
    if (!action.may(actor, server)) {
      if (isAccepted && !actors[actor].isProvider) this.fault(`${actor} may ${action.name}, without the right to it`)
      if (isAccepted) action.apply?.(server)
      return
    }
    const expected: Expected = action.expected(server)
    if (expected === 'accepted' && !isAccepted) this.fault(`${action.name} was refused: ${JSON.stringify(reply.body)}`)
    if (expected === 'refused' && isAccepted) this.fault(`${action.name} was accepted for ${JSON.stringify(server)}`)
    if (isAccepted) action.apply?.(server)
  }

  // ---------------------------------------------------------------- disturbances
  private async disturb() {
    const agents = [...this.p.agents]
    const [id, agent] = this.pick(agents)
    const kind = this.pick(['fault', 'fault', 'away', 'back', 'restart', 'power', 'time', 'settle'] as const)
    this.note(`-- ${kind} ${id}`)
    if (kind === 'fault')
      agent.fault({
        command: '*',
        mode: this.pick(['fail', 'fail-late'] as const),
        times: 1 + Math.floor(this.random() * 2),
      })
    if (kind === 'away') {
      agent.disconnect()
      this.away.add(id)
    }
    if (kind === 'back') this.comeBack()
    if (kind === 'restart' && !this.away.has(id)) agent.restart()
    if (kind === 'power') {
      await this.p.crash()
      this.away.clear()
    }
    if (kind === 'time') this.p.turnClock(Math.floor(this.random() * 10 * minute))
    if (kind === 'settle') await this.settle()
  }

  private comeBack() {
    for (const id of this.away) this.p.agents.get(id)!.connect()
    this.away.clear()
  }

  /** Until no job is open: the nodes are back and do what they are told. */
  async quiet() {
    for (const agent of this.p.agents.values()) agent.fault()
    this.comeBack()
    for (let i = 0; i < 60; i++) {
      await this.p.settle()
      this.p.controller.runner.sweep()
      if (this.openJobs() === 0) break
      this.p.turnClock(minute)
      await Bun.sleep(1)
    }
    if (this.openJobs()) this.fault(`${this.openJobs()} jobs do not end`)
    for (const agent of this.p.agents.values()) await agent.look()
    await this.p.reported()
    await this.p.settle()
  }

  private number = (sql: string) => (this.p.db.$client.query(sql).get() as { n: number }).n
  private openJobs = () =>
    this.number(
      "SELECT count(*) AS n FROM jobs WHERE state IN ('queued', 'running', 'undoing') OR undo_node_id IS NOT NULL",
    )

  // ---------------------------------------------------------------- tables, nodes and model
  async compare() {
    for (const fault of ledgerFaults(this.p.db)) this.fault(`the ledger: ${fault}`)
    this.compareModel()
    this.compareAddresses()
    for (const id of this.stage.nodes) await this.compareNode(id)
  }

  private compareModel() {
    for (const server of this.servers) {
      const row = this.p.server(server.id)
      const status = statusOf(row)
      const expected = server.isTerminated ? 'terminated' : server.isSuspended ? 'suspended' : undefined
      if (expected ? status !== expected : status === 'terminated' || status === 'suspended')
        this.fault(`${server.id} is ${status}, the model says ${JSON.stringify(server)}`)
    }
    const orders = this.p.events().filter((type) => type === 'server.created').length
    if (orders !== this.servers.length) this.fault(`${orders} orders, ${this.servers.length} in the model`)
  }

  private compareAddresses() {
    const held = this.number('SELECT count(workload_id) AS n FROM addresses')
    const unreleased = this.number('SELECT count(*) AS n FROM workloads WHERE released_at IS NULL')
    const orphans = this.number(
      'SELECT count(*) AS n FROM addresses a JOIN workloads w ON w.id = a.workload_id WHERE w.released_at IS NOT NULL',
    )
    const bare = this.number(
      `SELECT count(*) AS n FROM workloads w WHERE w.released_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM addresses a WHERE a.workload_id = w.id)`,
    )
    if (orphans || bare || held < unreleased)
      this.fault(`addresses: ${held} held by ${unreleased} servers, ${orphans} lost, ${bare} servers without one`)
  }

  private async compareNode(nodeId: string) {
    const { host } = this.p.agents.get(nodeId)!
    const rows = this.p.db.$client
      .query<{ id: string }, [string]>('SELECT id FROM workloads WHERE node_id = ? AND released_at IS NULL')
      .all(nodeId)
      .map(({ id }) => this.p.server(id))
    const vms = new Map((await host.hypervisor.look()).ours.map((vm) => [vm.id, vm.power]))
    const volumes = Map.groupBy(await host.storage.list(), ({ workload }) => workload)
    const rules = new Map(host.state.portRules().map((rule) => [rule.workload, rule.ipv4]))
    const allowed = [...rules.values()].flat()
    if (new Set(allowed).size !== allowed.length) this.fault(`an address is allowed twice on ${nodeId}: ${allowed}`)
    for (const row of rows) {
      const status = statusOf(row)
      const power = vms.get(row.id)
      const generations = (volumes.get(row.id) ?? []).map(({ generation }) => generation)
      if (row.lifecycle === 'active') {
        if (power === undefined) this.fault(`${row.id} has no vm`)
        if (generations.length !== 1 || generations[0] !== row.diskGeneration)
          this.fault(`${row.id} uses disk ${row.diskGeneration}, the node has ${generations}`)
        const isRunning = power === 'running'
        if (status === 'suspended' ? isRunning : isRunning !== (status === 'running'))
          this.fault(`${row.id} is ${status}, its vm is ${power}`)
        const own = this.p.db.$client
          .query<{ address: string }, [string]>('SELECT address FROM addresses WHERE workload_id = ?')
          .all(row.id)
          .map(({ address }) => address)
        const missing = (rules.get(row.id) ?? []).filter((address) => !own.includes(address))
        if (missing.length) this.fault(`${row.id} may use ${missing}, which is not its own`)
        if (isRunning && !own.every((address) => address.includes(':') || rules.get(row.id)?.includes(address)))
          this.fault(`${row.id} may not use its own ${own}`)
      }
      if (row.lifecycle === 'pending_setup' && (power !== undefined || generations.length))
        this.fault(`${row.id} waits for its setup and the node has ${power} and disks ${generations}`)
    }
    const known = new Set(rows.map(({ id }) => id))
    for (const id of [...vms.keys(), ...volumes.keys(), ...rules.keys()])
      if (!known.has(id)) this.fault(`${nodeId} has ${id}, which is released`)
  }
}
