// The sides of a change of primary addresses: one server that gets another address, or two that swap theirs.
import type { PortRules } from '../../../../agent/protocol/wire.ts'
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { guestOf } from '../../../compute/guest/queries.ts'
import { readdressNow } from '../../../compute/readdressing/switch.ts'
import { load, type Server } from '../../../compute/server-records/model.ts'
import { portRulesOf, vmOf, volumeOf } from '../../../compute/server-vm/definition.ts'
import { seedForNextStart } from '../../../compute/server-vm/next-start.ts'
import { guestCidr, hasNetworkSeed } from '../../../compute/server-vm/seed.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import type { CommandSource } from '../../../kernel/jobs/saga.ts'
import { addressesById, addressesOf, type HeldAddress, isOwn } from '../../ip-pools/allocate.ts'
import { namesOf } from '../../reverse-dns/queries.ts'

/** A server with the ids of the address that it gives up and of the one that it gets. */
export type Part = { serverId: string; give: string; take: string }
export type Parts = readonly [Part, Part?]

/** An IPv6 prefix with its length. */
export const textOf = ({ address, prefixLength, version }: HeldAddress) =>
  version === 4 ? address : `${address}/${prefixLength}`

/** Throws `address_not_found`. */
export function primaryOf(tx: Db, server: Server, version: 4 | 6): HeldAddress {
  const found = addressesOf(tx, server.id).find((a) => isOwn(a) && a.isPrimary && a.version === version)
  if (!found) throw new ApiError('address_not_found', `${server.hostname} has no primary IPv${version} address.`)
  return found
}

const isInstalled = ({ lifecycle, diskGeneration }: Server) => lifecycle !== 'pending_setup' && diskGeneration !== null

/** Windows learns of it from its guest agent alone. Throws `address_stays`. */
export function mustLearn(tx: Db, server: Server) {
  if (!isInstalled(server) || server.os === 'linux') return
  if (server.power === 'running' && guestOf(tx, server.id)?.agentAnswers) return
  throw new ApiError(
    'address_stays',
    `Windows on ${server.hostname} learns of another address from its guest agent, and none answers. Start the ` +
      'server, or install an agent first.',
  )
}

/** How the system of the server gets the address, in one sentence. */
export function guestWords(tx: Db, server: Server): string {
  if (!isInstalled(server)) return `Nothing is installed on ${server.hostname}: it gets the address with its system.`
  if (server.power !== 'running') return `${server.hostname} is off: its system gets the address at its next start.`
  return guestOf(tx, server.id)?.agentAnswers
    ? `The guest agent of ${server.hostname} gives its running system the address; connections to the old one end.`
    : `No guest agent answers on ${server.hostname}: it cannot be reached until it is restarted in the panel, or ` +
        'somebody sets the address by the console.'
}

/** The effects of a change for those who use the server, in sentences. */
export const changeEffects = (tx: Db, server: Server, old: HeldAddress): string[] => [
  guestWords(tx, server),
  ...(namesOf(tx, [old.id]).length ? ['Its names in reverse DNS come along.'] : []),
  `Records, firewalls and licences that name ${textOf(old)} have to be changed.`,
]

/** A side as it was when its job began; null: nothing is installed, and no node has to know. */
export type Planned = {
  nodeId: string
  before: PortRules
  without: PortRules
  hasSeed: boolean
  /** The address that it gives up, as its system has it. */
  leaves: string
  vm: ReturnType<typeof vmOf>
} | null
export function planPart(tx: Tx, { serverId, give }: Part): Planned {
  const server = load(tx, serverId)
  if (!isInstalled(server)) return null
  const held = addressesOf(tx, serverId)
  return {
    nodeId: server.nodeId,
    before: portRulesOf(server, held),
    without: portRulesOf(
      server,
      held.filter(({ id }) => id !== give),
    ),
    hasSeed: hasNetworkSeed(server),
    leaves: guestCidr(addressesById(tx, [give])[0]!).split('/')[0]!,
    vm: vmOf(tx, server, volumeOf(server, server.diskGeneration!), true),
  }
}

/** A server that was terminated meanwhile is not on its node any more. */
const isEnded = ({ db }: CommandSource, { serverId }: Part) => load(db, serverId).lifecycle === 'terminated'

type Side = { part: Part; plan: Planned }
/** The commands of one side; undefined where nothing is installed, or not any more. */
export const commands = {
  forbid: (plan: Planned) => (plan ? nodeCommand(plan.nodeId, 'firewall.allow', plan.without) : undefined),
  allowAgain: (plan: Planned) => (plan ? nodeCommand(plan.nodeId, 'firewall.allow', plan.before) : undefined),
  allow({ part, plan }: Side, source: CommandSource) {
    if (!plan || isEnded(source, part)) return undefined
    const rules = portRulesOf(load(source.db, part.serverId), addressesOf(source.db, part.serverId))
    return nodeCommand(plan.nodeId, 'firewall.allow', rules)
  },
  tellGuest({ part, plan }: Side, source: CommandSource) {
    if (!plan || isEnded(source, part)) return undefined
    return readdressNow(source.db, part.serverId, [plan.leaves])
  },
  // For every later start of a system that was not told.
  writeSeed({ part, plan }: Side, source: CommandSource, jobId: string) {
    if (!plan?.hasSeed || isEnded(source, part)) return undefined
    const seed = seedForNextStart(source, load(source.db, part.serverId), `${jobId}-network`)
    return nodeCommand(plan.nodeId, 'seed.write', seed)
  },
  define({ part, plan }: Side, source: CommandSource) {
    if (!plan?.hasSeed || isEnded(source, part)) return undefined
    return nodeCommand(plan.nodeId, 'vm.define', plan.vm)
  },
} as const
