// The log-ins of nodes at source hypervisors, beside jobs: nodes make their keys, and try to log in where somebody asks
// for it. The wish stands in the database, so it outlives a crash.
import { capacityRowOf, capacityRowsIn } from '../../fleet/node-records/queries.ts'
import { minute, second } from '../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { CommandFailed } from '../../kernel/jobs/failures.ts'
import { log } from '../../kernel/log.ts'
import type { Hub } from '../../kernel/nodes/hub.ts'
import { type Finding, finding } from '../import-records/checks/findings.ts'
import {
  askedLogins,
  askLogin,
  type LoginKey,
  nodeKeys,
  noteHost,
  noteLogin,
  noteNodeKey,
} from '../import-records/checks/queries.ts'
import { copiedTo, hypervisorRows } from '../import-records/inventory/queries.ts'
import { importById } from '../import-records/queries.ts'
import { ask, type NodeLink } from './ask.ts'
import { findingOfFailure, sourceHost } from './hosts.ts'

const KEY_LIMIT_MS = 30 * second
const LOOK_LIMIT_MS = 2 * minute
/** Log-ins at once, over all hypervisors. */
const AT_ONCE = 20

declare module '../../kernel/register.ts' {
  interface Services {
    sourceLogins: SourceLogins
  }
}
type App = { clock: () => number }

export class SourceLogins {
  private going = new Map<string, Promise<void>>()
  private stopping = new AbortController()
  /** Nodes that could not make a key are asked again when they connect anew. */
  private refusedAt = new Map<string, number>()

  /** Begins what is asked for. */
  turn(hub: Hub, db: Db, app: App) {
    for (const nodeId of nodesWithoutKey(db)) {
      if (!hub.connected(nodeId) || this.refusedAt.get(nodeId) === hub.contactVersion) continue
      this.begin(`key ${nodeId}`, () => this.makeKey(hub, db, app, nodeId))
    }
    for (const login of askedLogins(db)) {
      if (this.going.size >= AT_ONCE) break
      this.begin(`${login.hypervisorId} ${login.nodeId} of ${login.importId}`, () => this.tryLogin(hub, db, app, login))
    }
  }
  /** Resolves when nothing is at work. */
  async settled() {
    while (this.going.size) await Promise.all(this.going.values())
  }
  async stop() {
    this.stopping.abort()
    await this.settled()
  }

  private begin(name: string, work: () => Promise<void>) {
    if (this.going.has(name)) return
    const ended = work()
      .catch((error) => log.error('a node could not be asked about a source hypervisor', { error }))
      .finally(() => this.going.delete(name))
    this.going.set(name, ended)
  }

  private async makeKey(hub: Hub, db: Db, app: App, nodeId: string) {
    try {
      const options = { limitMs: KEY_LIMIT_MS, signal: this.stopping.signal }
      const { publicKey } = await ask(hub, nodeId, 'source-host.key', {}, options)
      write(db, (tx) => noteNodeKey(tx, nodeId, publicKey, app.clock()))
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error
      this.refusedAt.set(nodeId, hub.contactVersion)
    }
  }

  private async tryLogin(hub: Hub, db: Db, app: App, key: LoginKey) {
    const found = await lookAt(hub, db, app, key, this.stopping.signal)
    if (found === 'stopped') return
    write(db, (tx) => {
      if (importById(tx, key.importId)) noteLoginOf(tx, key, found, app.clock())
    })
  }
}

/** Nodes of locations to which servers are copied, whose key is not known. */
function nodesWithoutKey(db: Db): string[] {
  const ids = copiedTo(db).flatMap((locationId) => capacityRowsIn(db, locationId).map(({ id }) => id))
  const known = nodeKeys(db, ids)
  return [...new Set(ids)].filter((id) => !known.has(id))
}

/** Lets the node log in and look; null: it is in. `stopped`: nothing is known, because the controller stops. */
export async function lookAt(
  hub: NodeLink,
  db: Db,
  app: App,
  { importId, hypervisorId, nodeId }: LoginKey,
  signal: AbortSignal,
): Promise<Finding | null | 'stopped'> {
  const row = hypervisorRows.find(db, importId, hypervisorId)
  const host = row && sourceHost(db, row)
  const name = nodeName(db, nodeId)
  if (!row || !host) return finding('hypervisor_unreachable', name)
  try {
    const seen = await ask(hub, nodeId, 'source-host.look', { host }, { limitMs: LOOK_LIMIT_MS, signal })
    const { hostKey, facts, login } = seen
    write(db, (tx) => {
      if (importById(tx, importId))
        noteHost(tx, { importId, hypervisorId, address: host.address, hostKey, facts, at: app.clock() })
    })
    if (login === 'refused') return finding('no_login')
    return facts && !facts.libvirtAnswers ? finding('libvirt_silent') : null
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    return error.failure === 'stopping' ? 'stopped' : findingOfFailure(error.failure, name, error.message)
  }
}
export const nodeName = (db: Db, id: string): string => capacityRowOf(db, id)?.name ?? id

/** Notes the end of a log-in. One that was asked for is done with it. */
export const noteLoginOf = (tx: Tx, key: LoginKey, found: Finding | null, at: number) =>
  noteLogin(tx, key, { result: found?.code ?? 'works', words: found?.words ?? '', at })
/** These nodes try to log in, within seconds. */
export function askLogins(tx: Tx, key: Omit<LoginKey, 'nodeId'>, nodes: readonly { id: string }[], at: number) {
  for (const { id } of nodes) askLogin(tx, { ...key, nodeId: id }, at)
}
