// A server whose addresses were changed outside, by a move or an import, gets them inside too: its guest agent tells
// its system, which keeps them. Until an agent answers it is asked again and again. The system gets the addresses that
// the database has when it is told, so that it can be told at any time.
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { type Actor, system } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { day, hour, minute, second } from '../../kernel/db/clock.ts'
import { type Db, savepoint, type Tx, write } from '../../kernel/db/open.ts'
import type { ScheduleContext } from '../../kernel/feature.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { addressesOf } from '../../network/ip-pools/allocate.ts'
import { load, type Server, serverJob } from '../server-records/model.ts'
import { cardOf } from '../server-vm/seed.ts'
import { changeSwitch, dueSwitches, putSwitch, switchOf } from './queries.ts'

export const TRY_EVERY_MS = 10 * second
const MOST_AT_ONCE = 20
const MOST_RESOLVERS = 8

type Wanted = { serverId: string; leave: readonly string[]; now: number; endsAt: number | null }
/**
 * Its system is told its present addresses, and to give up those of `leave`: as its system has them, without prefix
 * lengths. `endsAt`: it is given up then; null: never, for what has no other way to learn of it.
 */
export function wantSwitch(tx: Tx, { serverId, leave, now, endsAt }: Wanted) {
  const before = switchOf(tx, serverId)
  const unheard = before?.state === 'done' ? [] : (before?.leave ?? [])
  putSwitch(tx, {
    ...{ serverId, leave: [...new Set([...unheard, ...leave])], state: 'waiting', error: null, tries: 0 },
    ...{ since: now, nextAt: now, endsAt },
  })
}

/** Its system has the addresses that the database has. */
export function switchDone(tx: Tx, serverId: string) {
  if (switchOf(tx, serverId)) changeSwitch(tx, serverId, { state: 'done', error: null })
}

/** A person asks for it, also where it was given up: it is tried for another day. */
export function switchAgain(tx: Tx, serverId: string, now: number) {
  if (switchOf(tx, serverId)?.state === 'given_up')
    changeSwitch(tx, serverId, { state: 'waiting', since: now, nextAt: now, endsAt: now + day })
}

/** Tells it now: by a job, whose id it answers. Throws `server_busy`. */
export const switchNow = (tx: Tx, target: Server, { by, now }: { by: Actor; now: number }): string =>
  startJob(
    tx,
    switching,
    { serverId: target.id, nodeId: target.nodeId },
    serverJob(target, { by, title: `Change the addresses inside ${target.hostname}`, now }),
  )

/** After so many tries: every ten seconds for two minutes, then every minute, after an hour every ten. */
const pauseMs = (tries: number) => (tries < 12 ? 10 * second : tries < 72 ? minute : 10 * minute)

const SILENT = 'No guest agent answers.'
/** Asks the guests whose time has come, and starts a job for each that answers. */
export async function tellGuests({ db, app, hub }: Pick<ScheduleContext, 'db' | 'app' | 'hub'>) {
  const now = app.clock()
  await Promise.all(
    dueSwitches(db, now, MOST_AT_ONCE).map(async ({ serverId, tries, endsAt }) => {
      const { nodeId, power, lifecycle } = load(db, serverId)
      const isOver = lifecycle === 'terminated' || (endsAt !== null && endsAt <= now)
      // Before it is asked: a slow node is not asked twice.
      write(db, (tx) =>
        changeSwitch(tx, serverId, isOver ? { state: 'given_up' } : { tries: tries + 1, nextAt: now + pauseMs(tries) }),
      )
      if (isOver || power !== 'running' || !hub.connected(nodeId)) return
      const look = nodeCommand(nodeId, 'guest.look', { workload: serverId, script: false })
      const { answers } = (await hub.send(`switch/${serverId}/${now}`, look).catch(() => ({ answers: false }))) as {
        answers: boolean
      }
      write(db, (tx) => (answers ? begin(tx, serverId, now) : changeSwitch(tx, serverId, { error: SILENT })))
    }),
  )
}
/** A server that another job holds waits for the next turn. */
function begin(tx: Tx, serverId: string, now: number) {
  try {
    savepoint(tx, () => switchNow(tx, load(tx, serverId), { by: system, now }))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}

/**
 * The command that gives the system of the server the addresses that the database has now, and takes those of `leave`
 * and those that it was to give up before.
 */
export function readdressNow(db: Db, serverId: string, leave: readonly string[] = []) {
  const server = load(db, serverId)
  const { mac, addresses, gateways, resolvers } = cardOf(server, addressesOf(db, serverId))
  const inside = new Set(addresses.map((one) => one.split('/')[0]))
  const unheard = switchOf(db, serverId)
  return nodeCommand(server.nodeId, 'guest.readdress', {
    ...{ workload: serverId, mac, addresses: [...addresses], gateways: [...gateways] },
    resolvers: resolvers.slice(0, MOST_RESOLVERS),
    leave: [...new Set([...(unheard?.leave ?? []), ...leave])].filter((one) => !inside.has(one)),
  })
}

const words = {
  refused: 'The system inside did not change its addresses: change them there.',
  silent: SILENT,
  off: 'It is off.',
} as const
export const switching = saga<{ serverId: string; nodeId: string }>('switch_addresses', {
  title: 'Address change inside the server',
  cancelWith: 'servers:settings',
})
  .command('switch', 'Changing the addresses inside', {
    abandonable: true,
    do: ({ input: { serverId } }, { db }) => readdressNow(db, serverId),
  })
  .record('note', 'Recording it', {
    do: (tx, { input: { serverId }, out, now, log }) => {
      const { guest } = out.switch
      if (guest === 'applied') {
        switchDone(tx, serverId)
        return log('The system inside has its addresses.')
      }
      log(words[guest], 'warning')
      const known = switchOf(tx, serverId)
      // A refusal is not heard again every ten seconds.
      if (known) changeSwitch(tx, serverId, { error: words[guest], nextAt: Math.max(known.nextAt, now + hour / 6) })
    },
  })
