// The job that changes the primary address of a server, or swaps those of two. Each node forbids the address that is
// given up first. Then the record says who has which; from there on it only goes forward, so that no address is ever
// allowed to two servers, whatever node is away.
import { switchDone, wantSwitch } from '../../../compute/readdressing/switch.ts'
import { inEvent, load, lockOfServer } from '../../../compute/server-records/model.ts'
import { updateServer } from '../../../compute/server-records/queries.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { day } from '../../../kernel/db/clock.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { emit } from '../../../kernel/jobs/outbox.ts'
import { openJobOf } from '../../../kernel/jobs/queries.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { releaseJob } from '../../../kernel/jobs/start.ts'
import { addressesById, exchangeAddresses, freeReserved, swapAddresses } from '../../ip-pools/allocate.ts'
import { toNumber, toText } from '../../ip-pools/ranges.ts'
import { transitReasons } from '../../ip-pools/vlan/in-transit.ts'
import { namesOf, wantName } from '../../reverse-dns/queries.ts'
import { commands, type Part, type Parts, planPart, textOf } from './parts.ts'

/** `partnerJob`: holds the second server for as long as this takes. */
type Input = { parts: Parts; partnerJob: string | null }

/** Names the change among the addresses of a pool: a server has one at a time. */
export const reasonOf = transitReasons.change

/** Holds the other server of a swap: it does nothing, and ends with the swap. */
export const awaitingSwap = saga<{ serverId: string }>('await_swap', { title: 'Address swap' }).record(
  'end',
  'The swap has ended',
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

/** The end of it: the address that nobody has any more is free, and everybody is told. */
export function finish(tx: Tx, parts: Parts, now: number) {
  const [first, second] = parts
  if (!second) freeReserved(tx, [first.give], reasonOf(first.serverId))
  for (const part of parts) {
    if (!part || load(tx, part.serverId).lifecycle === 'terminated') continue
    const { concerning, data } = inEvent(tx, load(tx, part.serverId))
    const shown = (id: string) => addressesById(tx, [id]).map(textOf)
    emit(tx, now, 'server.addresses_changed', concerning, {
      ...data,
      added: shown(part.take),
      removed: shown(part.give),
    })
  }
}

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

const [FIRST, SECOND] = [0, 1] as const
type Planned = readonly [ReturnType<typeof planPart>, ReturnType<typeof planPart>]
const side = ({ parts }: Input, plan: Planned, n: 0 | 1) => ({ part: parts[n], planned: plan[n] })

export const exchanging = saga<Input>('primary_address', {
  title: 'Primary address change',
  cancelWith: 'servers:resize',
  twoNodes: true,
  neverStops: true,
})
  .record('plan', 'Preparing the change', {
    do: (tx, { input: { parts } }): Planned => [planPart(tx, parts[0]), parts[1] ? planPart(tx, parts[1]) : null],
    undo(tx, { input: { parts, partnerJob } }) {
      if (!parts[1]) freeReserved(tx, [parts[0].take], reasonOf(parts[0].serverId))
      if (partnerJob !== null) releaseJob(tx, partnerJob)
    },
    undoAtOnce: false,
  })
  .command('forbid', 'Forbidding the address that it had', {
    do: ({ input, out: { plan } }) => commands.forbid(side(input, plan, FIRST)),
    undo: ({ input, out: { plan } }) => commands.allowAgain(side(input, plan, FIRST)),
  })
  .command('forbid-other', 'Forbidding the address of the other server', {
    do: ({ input, out: { plan } }) => commands.forbid(side(input, plan, SECOND)),
    undo: ({ input, out: { plan } }) => commands.allowAgain(side(input, plan, SECOND)),
  })
  .pivot('record', 'Recording who has which address', {
    do(tx, { input: { parts, partnerJob }, now }) {
      const other = parts[1]
      if (other && openJobOf(tx, lockOfServer(other.serverId).holds)?.id !== partnerJob)
        throw new ApiError('server_busy', 'Something else was begun on the other server meanwhile.')
      record(tx, parts, now)
    },
  })
  .command('allow', 'Allowing its new address', {
    do: ({ input, out: { plan } }, source) => commands.allow(side(input, plan, FIRST), source),
  })
  .command('allow-other', 'Allowing the address at the other server', {
    do: ({ input, out: { plan } }, source) => commands.allow(side(input, plan, SECOND), source),
  })
  .command('guest', 'Telling the system inside', {
    do: ({ input, out: { plan } }, source) => commands.tellGuest(side(input, plan, FIRST), source),
  })
  .command('guest-other', 'Telling the system inside the other server', {
    do: ({ input, out: { plan } }, source) => commands.tellGuest(side(input, plan, SECOND), source),
  })
  .command('seed', 'Writing its network for its next start', {
    do: ({ input, out: { plan }, jobId }, source) => commands.writeSeed(side(input, plan, FIRST), source, jobId),
  })
  .command('seed-other', 'Writing the network of the other server', {
    do: ({ input, out: { plan }, jobId }, source) => commands.writeSeed(side(input, plan, SECOND), source, jobId),
  })
  .command('define', 'Attaching it', {
    do: ({ input, out: { plan } }, source) => commands.define(side(input, plan, FIRST), source),
  })
  .command('define-other', 'Attaching it to the other server', {
    do: ({ input, out: { plan } }, source) => commands.define(side(input, plan, SECOND), source),
  })
  .record('tell', 'Telling those concerned', {
    do(tx, { input: { parts, partnerJob }, out, now, log }) {
      const told = [out.guest, out['guest-other']] as const
      for (const [n, part] of parts.entries()) {
        const planned = out.plan[n as 0 | 1]
        const words = part && planned && noteGuest(tx, part, planned.leaves, planned.hasSeed, told[n as 0 | 1], now)
        if (words) log(words, 'warning')
      }
      finish(tx, parts, now)
      if (partnerJob !== null) releaseJob(tx, partnerJob)
    },
  })
