// The job that changes the primary address of a server, or swaps those of two. Each node forbids the address that is
// given up first. Then the record says who has which; from there on it only goes forward, so that no address is ever
// allowed to two servers, whatever node is away. Behind the record each server has a job of its own: a node that is
// away holds up the server on it alone.
import { switchDone, wantSwitch } from '../../../compute/readdressing/switch.ts'
import { inEvent, load, lockOfServer } from '../../../compute/server-records/model.ts'
import { updateServer } from '../../../compute/server-records/queries.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { day } from '../../../kernel/db/clock.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { emit } from '../../../kernel/jobs/outbox.ts'
import { openJobOf } from '../../../kernel/jobs/queries.ts'
import { type Ctx, forwardSaga, saga } from '../../../kernel/jobs/saga.ts'
import { releaseJob, startRest } from '../../../kernel/jobs/start.ts'
import { addressesById, exchangeAddresses, freeReserved, swapAddresses } from '../../ip-pools/allocate.ts'
import { toNumber, toText } from '../../ip-pools/ranges.ts'
import { transitReasons } from '../../ip-pools/vlan/in-transit.ts'
import { namesOf, wantName } from '../../reverse-dns/queries.ts'
import { commands, type Part, type Parts, type Planned, planPart, textOf } from './parts.ts'

/** `partnerJob`: holds the second server for as long as this takes. */
type Input = { parts: Parts; partnerJob: string | null }

/** Names the change among the addresses of a pool: a server has one at a time. */
export const reasonOf = transitReasons.change

/** Holds the other server of a swap until the record: it does nothing. */
export const awaitingSwap = saga<{ serverId: string }>('await_swap', { title: 'Address swap' }).record(
  'end',
  'The addresses are exchanged, or stay',
  {
    do: () => {},
  },
)

/** The record: who has which address from now on. Throws what has come between. */
export function record(tx: Tx, [first, second]: Parts, now: number) {
  const refuse = () => new ApiError('address_stays', 'Somebody else has changed an address of it meanwhile.')
  for (const { serverId } of second ? [first, second] : [first])
    if (load(tx, serverId).lifecycle === 'terminated')
      throw new ApiError('server_terminated', 'A server of the change was terminated meanwhile.')
  if (second) {
    const given = (part: Part) => ({ workloadId: part.serverId, addressId: part.give })
    if (!exchangeAddresses(tx, [given(first), given(second)])) throw refuse()
    return
  }
  const names = namesOf(tx, [first.give])
  const of = { workloadId: first.serverId, reason: reasonOf(first.serverId) }
  if (!swapAddresses(tx, of, { take: [first.take], leave: [first.give] })) throw refuse()
  moveNames(tx, first, names, now)
}

/** The names of the address come along; inside an IPv6 prefix each keeps its place. */
function moveNames(tx: Tx, { give, take }: Part, names: ReturnType<typeof namesOf>, now: number) {
  const [from, to] = [give, take].map((id) => toNumber(addressesById(tx, [id])[0]!.address)!)
  for (const { address, name } of names)
    wantName(tx, toText(to!.version, to!.n + toNumber(address)!.n - from!.n), take, name, now)
}

/** The end for one server: everybody is told. */
export function finish(tx: Tx, part: Part, now: number) {
  if (load(tx, part.serverId).lifecycle === 'terminated') return
  const { concerning, data } = inEvent(tx, load(tx, part.serverId))
  const shown = (id: string) => addressesById(tx, [id]).map(textOf)
  emit(tx, now, 'server.addresses_changed', concerning, { ...data, added: shown(part.take), removed: shown(part.give) })
}
/** The address that a changed server gave up is nobody's any more. */
export const freeGivenUp = (tx: Tx, { serverId, give }: Part) => freeReserved(tx, [give], reasonOf(serverId))

const LATER = {
  off: 'is off: its system learns of its address at its next start.',
  silent: 'has no guest agent that answers: restart it in the panel, or set the address by the console.',
  refused: 'did not take its address: change it inside, or restart it in the panel.',
} as const

type Told = { guest: 'applied' | keyof typeof LATER } | null | undefined
function noteGuest(tx: Tx, part: Part, leaves: string, hasSeed: boolean, told: Told, now: number): string | undefined {
  const server = load(tx, part.serverId)
  if (!told || server.lifecycle === 'terminated') return undefined
  if (hasSeed) updateServer(tx, server.id, { pendingSeed: told.guest === 'off' ? 'next_start' : 'next_stop' })
  if (told.guest === 'applied') {
    switchDone(tx, server.id)
    return undefined
  }
  wantSwitch(tx, { serverId: server.id, leave: [leaves], now, endsAt: server.os === 'linux' ? now + day : null })
  return `${server.hostname} ${LATER[told.guest]}`
}

/** The last step for one server. */
function tellOf(
  tx: Tx,
  part: Part,
  plan: Planned,
  told: Told,
  { now, log }: Pick<Ctx<unknown, unknown>, 'now' | 'log'>,
) {
  const words = plan && noteGuest(tx, part, plan.leaves, plan.hasSeed, told, now)
  if (words) log(words, 'warning')
  finish(tx, part, now)
}

/** The other server of a swap, from the record on. */
export const takingAddress = forwardSaga<{ part: Part }>('take_address', {
  title: 'Taking a swapped address',
  neverStops: true,
})
  .record('plan', 'Preparing the change', { do: (tx, { input: { part } }) => planPart(tx, part) })
  .command('allow', 'Allowing its new address', {
    do: ({ input: { part }, out: { plan } }, source) => commands.allow({ part, plan }, source),
  })
  .command('guest', 'Telling the system inside', {
    do: ({ input: { part }, out: { plan } }, source) => commands.tellGuest({ part, plan }, source),
  })
  .command('seed', 'Writing its network for its next start', {
    do: ({ input: { part }, out: { plan }, jobId }, source) => commands.writeSeed({ part, plan }, source, jobId),
  })
  .command('define', 'Attaching it', {
    do: ({ input: { part }, out: { plan } }, source) => commands.define({ part, plan }, source),
  })
  .record('tell', 'Telling those concerned', {
    do: (tx, { input: { part }, out, ...ctx }) => tellOf(tx, part, out.plan, out.guest, ctx),
  })

type Plans = { plan: readonly [Planned, Planned] }
/** The server of the job; the other one of a swap has a job of its own. */
const firstOf = ({ input: { parts }, out: { plan } }: { input: Input; out: Plans }) => ({
  part: parts[0],
  plan: plan[0],
})

export const exchanging = saga<Input>('primary_address', {
  title: 'Primary address change',
  cancelWith: 'servers:resize',
  twoNodes: true,
  neverStops: true,
})
  .record('plan', 'Preparing the change', {
    do: (tx, { input: { parts } }) => [planPart(tx, parts[0]), parts[1] ? planPart(tx, parts[1]) : null] as const,
    undo(tx, { input: { parts, partnerJob } }) {
      if (!parts[1]) freeReserved(tx, [parts[0].take], reasonOf(parts[0].serverId))
      if (partnerJob !== null) releaseJob(tx, partnerJob)
    },
    undoAtOnce: false,
  })
  .command('forbid', 'Forbidding the address that it had', {
    do: ({ out: { plan } }) => commands.forbid(plan[0]),
    undo: ({ out: { plan } }) => commands.allowAgain(plan[0]),
  })
  .command('forbid-other', 'Forbidding the address of the other server', {
    do: ({ out: { plan } }) => commands.forbid(plan[1]),
    undo: ({ out: { plan } }) => commands.allowAgain(plan[1]),
  })
  .pivot('record', 'Recording who has which address', {
    do(tx, { input: { parts, partnerJob }, jobId, now }) {
      const other = parts[1]
      if (other && openJobOf(tx, lockOfServer(other.serverId).holds)?.id !== partnerJob)
        throw new ApiError('server_busy', 'Something else was begun on the other server meanwhile.')
      record(tx, parts, now)
      if (!other) return
      // A job of its own: this one waits for no node but that of its own server.
      const { id, nodeId, hostname } = load(tx, other.serverId)
      const title = `Give ${hostname} its swapped address`
      const about = { of: jobId, title, nodeId, ...lockOfServer(id), now }
      startRest(tx, { saga: takingAddress, input: { part: other }, ...about })
      releaseJob(tx, partnerJob!)
    },
  })
  .command('allow', 'Allowing its new address', {
    do: (ctx, source) => commands.allow(firstOf(ctx), source),
  })
  .command('guest', 'Telling the system inside', {
    do: (ctx, source) => commands.tellGuest(firstOf(ctx), source),
  })
  .command('seed', 'Writing its network for its next start', {
    do: (ctx, source) => commands.writeSeed(firstOf(ctx), source, ctx.jobId),
  })
  .command('define', 'Attaching it', {
    do: (ctx, source) => commands.define(firstOf(ctx), source),
  })
  .record('tell', 'Telling those concerned', {
    do(tx, { input: { parts }, out, ...ctx }) {
      if (!parts[1]) freeGivenUp(tx, parts[0])
      tellOf(tx, parts[0], out.plan[0], out.guest, ctx)
    },
  })
