// The checks of servers that have moved, beside all jobs. The wish stands in the database, so it outlives a crash. An
// open check is repeated by itself: a system boots for a while, and a guest agent may be installed later.
import { guestOf } from '../../compute/guest/queries.ts'
import { switchOf } from '../../compute/readdressing/queries.ts'
import { switchNow } from '../../compute/readdressing/switch.ts'
import { load, type Server } from '../../compute/server-records/model.ts'
import { tapOf } from '../../compute/server-vm/definition.ts'
import { guestCidr } from '../../compute/server-vm/seed.ts'
import { system } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { hour, minute, second } from '../../kernel/db/clock.ts'
import { type Db, savepoint, write } from '../../kernel/db/open.ts'
import { CommandFailed } from '../../kernel/jobs/failures.ts'
import { isHeldByJob } from '../../kernel/jobs/queries.ts'
import { log } from '../../kernel/log.ts'
import { addressesOf, isOwn } from '../../network/ip-pools/allocate.ts'
import { changeMove, type ImportMove, moveOf } from '../import-records/moves/queries.ts'
import { dueChecks, resultOf } from '../import-records/verified/queries.ts'
import { ask, type NodeLink } from '../source-access/ask.ts'
import { nodeName } from '../source-access/logins.ts'
import { checksOf, REMOTE_DESKTOP, type Seen, SSH, type Unasked } from './judge.ts'

const AT_ONCE = 20
/** An agent asks for a second; a guest agent that hangs holds it up for some seconds more. */
const LIMIT_MS = 30 * second
/** A node that is away is not waited for: the check says so. */
const AWAY_MS = second
const SWITCH_MS = 20 * second

declare module '../../kernel/register.ts' {
  interface Services {
    importVerifications: Verifications
  }
}
type App = { clock: () => number }
type Reached = Seen['reached']

/** After so many open checks: every ten seconds for two minutes, every minute for an hour, then every hour. */
const pauseMs = (tries: number) => (tries < 12 ? 10 * second : tries < 72 ? minute : hour)
const unaskedCodes: Partial<Record<string, Unasked>> = {
  agent_outdated: 'agent_outdated',
  invalid_command: 'agent_outdated',
  node_away: 'node_away',
  node_removed: 'node_away',
}

export class Verifications {
  private going = new Map<string, Promise<void>>()
  private stopping = new AbortController()
  /** The wishes whose systems were told their addresses already. */
  private told = new Map<string, number>()

  /** Begins what is due. */
  turn(hub: NodeLink, db: Db, app: App) {
    for (const move of dueChecks(db, app.clock(), AT_ONCE)) {
      if (this.going.size >= AT_ONCE) break
      if (this.going.has(move.serverId)) continue
      const ended = this.check(hub, db, app, move)
        .catch((error) => log.error('a server of an import could not be checked', { error }))
        .finally(() => this.going.delete(move.serverId))
      this.going.set(move.serverId, ended)
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

  private async check(hub: NodeLink, db: Db, app: App, move: ImportMove) {
    const { serverId, checkAskedAt } = move
    const server = load(db, move.workloadId!)
    const isEnded = server.terminatedAt !== null
    if (!isEnded && checkAskedAt !== null && (await this.switchFirst(hub, db, app, move, server)) === 'waits') return
    const reached: Reached | 'stopped' = isEnded
      ? { unasked: 'failed', words: '' }
      : await this.reach(hub, db, server).catch((error) => {
          if (!(error instanceof CommandFailed)) throw error
          if (error.failure === 'stopping') return 'stopped'
          return { unasked: unaskedCodes[error.failure] ?? 'failed', words: error.message.slice(0, 200) }
        })
    if (reached === 'stopped') return
    write(db, (tx) => {
      const now = app.clock()
      const after = moveOf(tx, serverId)
      // It is being rolled back, or was asked for again meanwhile.
      if (after?.state !== 'moved' || after.checkAskedAt !== checkAskedAt) return
      const checks = checksOf(this.seenOf(tx, after, load(tx, server.id), reached, now))
      const isOpen = resultOf({ checks, acceptedAt: null }) === 'open'
      const isWaitedFor = isOpen && after.acceptedAt === null
      const tries = after.checkTries + 1
      changeMove(tx, serverId, {
        ...{ checks, checkedAt: now, checkAskedAt: null, checkTries: tries },
        checkAt: isWaitedFor ? now + pauseMs(tries) : null,
      })
      this.told.delete(serverId)
    })
  }

  /** `waits`: a job tells its system its addresses now, and it is checked once that has ended. */
  private async switchFirst(
    hub: NodeLink,
    db: Db,
    app: App,
    { serverId, checkAskedAt }: ImportMove,
    server: Server,
  ): Promise<'waits' | 'done'> {
    const change = switchOf(db, server.id)
    if (this.told.get(serverId) === checkAskedAt) return isHeldByJob(db, server.id) ? 'waits' : 'done'
    if (!change || change.state === 'done' || server.power !== 'running' || !hub.connected(server.nodeId)) return 'done'
    const options = { limitMs: SWITCH_MS, awayMs: AWAY_MS, signal: this.stopping.signal }
    const input = { workload: server.id, script: false }
    const { answers } = await ask(hub, server.nodeId, 'guest.look', input, options).catch((error) => {
      if (!(error instanceof CommandFailed)) throw error
      return { answers: false }
    })
    if (!answers) return 'done'
    this.told.set(serverId, checkAskedAt!)
    return write(db, (tx) => {
      try {
        savepoint(tx, () => switchNow(tx, load(tx, server.id), { by: system, now: app.clock() }))
        return 'waits'
      } catch (error) {
        // Another job works on it: its next turn tells it.
        if (!(error instanceof ApiError)) throw error
        return 'done'
      }
    })
  }

  private reach(hub: NodeLink, db: Db, server: Server): Promise<Exclude<Reached, { unasked: Unasked }>> {
    const address = firstAddress(db, server.id)
    return ask(
      hub,
      server.nodeId,
      'reach.look',
      {
        ...{ workload: server.id, tap: tapOf(server), mac: server.mac },
        // One without an address is asked for its power alone.
        addresses: address === null ? [NOBODYS] : [address],
        ports: address === null ? [] : [SSH, REMOTE_DESKTOP],
      },
      { limitMs: LIMIT_MS, awayMs: AWAY_MS, signal: this.stopping.signal },
    )
  }

  private seenOf(tx: Db, move: ImportMove, server: Server, reached: Reached, now: number): Seen {
    const change = switchOf(tx, server.id)
    return {
      node: nodeName(tx, server.nodeId),
      wasRunning: move.wasRunning ?? true,
      isSuspended: server.suspendedAt !== null,
      isEnded: server.terminatedAt !== null,
      reached,
      address: firstAddress(tx, server.id),
      isWindows: isWindows(tx, server),
      ...(change && { change, nextTrySeconds: Math.max(0, change.nextAt - now) / second }),
    }
  }
}
/** Of the loopback: nothing is sent to anybody. */
const NOBODYS = '127.0.0.1'

/** Its guest agent says so, or what it was made with does. */
export const isWindows = (tx: Db, { id, os }: Pick<Server, 'id' | 'os'>) =>
  os === 'windows' || guestOf(tx, id)?.osId === 'mswindows'

/** The first of its own addresses; of IPv6 a prefix's is that of its guest. */
export function firstAddress(tx: Db, serverId: string): string | null {
  const own = addressesOf(tx, serverId).filter(isOwn)
  const first = own.find(({ version }) => version === 4) ?? own[0]
  return first ? guestCidr(first).split('/')[0]! : null
}
