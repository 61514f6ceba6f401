// The parts that the two jobs have in common which bring a server here. Until its guest is started here, whatever fails
// is undone, and it runs at its source as before. Its guest is started by the point of no return: while the answer to
// that is out, nothing ends the job, so it never runs twice.
import type { SourceDisk, SourceHost } from '../../../../agent/protocol/values/source-hosts.ts'
import { nodeCommand, type PortRules, type Vm, type Volume } from '../../../../agent/protocol/wire.ts'
import { watchGuest } from '../../../compute/guest/queries.ts'
import { wantSwitch } from '../../../compute/readdressing/switch.ts'
import { inEvent, load, serverById } from '../../../compute/server-records/model.ts'
import { updateServer } from '../../../compute/server-records/queries.ts'
import { GIB, portRulesOf, vmOf, volumeOf } from '../../../compute/server-vm/definition.ts'
import { releaseAddressesOn } from '../../../fleet/node-records/gone-addresses.ts'
import { isGoneNode } from '../../../fleet/node-records/queries.ts'
import { changeWorkload, takeDiskGeneration } from '../../../fleet/workloads/queries.ts'
import { noteRules, releaseHome } from '../../../fleet/workloads/stays/stays.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { CommandFailed, type ExplainedFailure } from '../../../kernel/jobs/failures.ts'
import { emit } from '../../../kernel/jobs/outbox.ts'
import type { Ctx } from '../../../kernel/jobs/saga.ts'
import { policyOf } from '../../../network/firewall-records/policy.ts'
import { addressesOf } from '../../../network/ip-pools/allocate.ts'
import { changeServer, importServerById } from '../../import-records/inventory/queries.ts'
import { changeMove, type ImportMove, moveOf } from '../../import-records/moves/queries.ts'
import { explained } from '../failures.ts'
import { holdAtSource } from '../plan/holds.ts'

/** `left`: addresses that its system gives up. `short`: its disk is copied while it runs, too. */
export type Moving = {
  importServerId: string
  /** The id that it has here. */
  serverId: string
  nodeId: string
  /** Null: it is adopted where it is. */
  host: SourceHost | null
  domain: string
  drive: SourceDisk
  isSuspended: boolean
  left: readonly string[]
  short: boolean
}
export type MovingPlan = { volume: Volume; sizeBytes: number; portRules: PortRules; vm: Vm }
type Saved = { state: string; isPersistent: boolean | null; definition: string }
type In = { input: Moving }
type Planned = { out: { plan: MovingPlan } }
type Kept = { out: { keep: { wasRunning: boolean } } }

/** A system has this long to shut itself down; then it is switched off. */
const GRACE_SECONDS = 120
/** While it is off, its source starts it again after this long without the node. */
export const OFF_AWAY_MS = 5 * 60_000

export const ofDomain = ({ host, domain }: Moving) => ({ host, domain })

/** The values that its node gets, worked out once. */
export function plan(tx: Tx, { input }: In): MovingPlan {
  const server = load(tx, input.serverId)
  const volume = volumeOf(server, takeDiskGeneration(tx, server.id))
  const policy = policyOf(tx, server)
  noteRules(tx, server.id, server.nodeId, policy.revision)
  return {
    volume,
    sizeBytes: Math.max(server.diskGb * GIB, input.drive.virtualBytes),
    portRules: { ...portRulesOf(server, addressesOf(tx, server.id)), policy },
    vm: vmOf(tx, server, volume, false),
  }
}

const LEFT_OFF = { code: 'source_left_off', message: 'Its node was lost while it was off.' }
/** It never was: nothing is held for it, nobody is told, and no usage counts. Where it never was, nothing happens. */
export function unmake(tx: Tx, { input, error, now }: In & { error: ExplainedFailure | undefined; now: number }) {
  const { serverId, importServerId } = input
  const server = serverById(tx, serverId)
  if (server && server.releasedAt === null) {
    const { createdAt } = server
    changeWorkload(tx, serverId, {
      ...{ lifecycle: 'terminated', terminatedFrom: null, power: null, billingServiceId: null },
      // Its usage of no time is withdrawn.
      ...{ terminatedAt: createdAt, purgeAt: null, purgeHeld: false },
    })
    releaseAddressesOn(tx, server, now)
    releaseHome(tx, serverId, now)
  }
  const move = moveOf(tx, importServerId)
  if (!move || move.workloadId !== serverId || move.state !== 'moving') return
  holdAtSource(tx, importServerById(tx, importServerId)!)
  const isOff = isLeftOff(tx, input, move)
  changeMove(tx, importServerId, {
    ...{ state: 'failed', failedAt: now, whereItRuns: isOff ? 'nowhere' : 'source', workloadId: null },
    ...explained(isOff ? LEFT_OFF : (error ?? { code: 'cancelled', message: 'It was cancelled.' })),
  })
}

/** After its definition is kept at the source. */
export function keep(tx: Tx, { input, out }: In & { out: { save: Saved } }) {
  const { state, isPersistent, definition } = out.save
  const wasRunning = state === 'running' || state === 'paused'
  changeMove(tx, input.importServerId, { wasRunning, isPersistent, definition })
  return { wasRunning, definition }
}

/** Its source stops it, from here on it is off. */
export const noteOff = {
  do: (tx: Tx, { input, out, now }: In & Kept & { now: number }) => {
    if (out.keep.wasRunning) changeMove(tx, input.importServerId, { stoppedAt: now, whereItRuns: 'nowhere' })
  },
  undo: (tx: Tx, { input }: In) => {
    const move = moveOf(tx, input.importServerId)
    if (move?.workloadId !== input.serverId) return
    changeMove(tx, input.importServerId, { whereItRuns: isLeftOff(tx, input, move) ? 'nowhere' : 'source' })
  },
}
/** A node that is gone has not started it at its source again. */
const isLeftOff = (tx: Tx, { nodeId }: Moving, { whereItRuns }: Pick<ImportMove, 'whereItRuns'>): boolean =>
  whereItRuns === 'nowhere' && isGoneNode(tx, nodeId)
export const stop = {
  // One that was off is not touched: if its owner starts it meanwhile, the copy says so.
  do: ({ input, out }: In & Kept) =>
    out.keep.wasRunning
      ? nodeCommand(input.nodeId, 'source-host.stop', { ...ofDomain(input), graceSeconds: GRACE_SECONDS })
      : undefined,
  undo: ({ input, out }: In & { out: { keep?: { wasRunning: boolean; definition: string } } }) =>
    out.keep?.wasRunning
      ? nodeCommand(input.nodeId, 'source-host.start', { ...ofDomain(input), definition: out.keep.definition })
      : undefined,
}
export const allow = {
  do: ({ input, out }: In & Planned) => nodeCommand(input.nodeId, 'firewall.allow', out.plan.portRules),
  undo: ({ input }: In) => nodeCommand(input.nodeId, 'firewall.forget', { workload: input.serverId }),
}
export const define = {
  do: ({ input, out }: In & Planned) => nodeCommand(input.nodeId, 'vm.define', out.plan.vm),
  undo: ({ input }: In) => nodeCommand(input.nodeId, 'vm.remove', { workload: input.serverId }),
}
/** It is started where it ran; one that is suspended stays off. */
const runsHere = ({ input, out }: In & Kept) => out.keep.wasRunning && !input.isSuspended
/** The command may arrive late, and another panel may start it meanwhile: its node looks once more at its source. */
export const start = {
  do: (job: In & Kept) => {
    if (!runsHere(job)) return
    const { nodeId, serverId: workload, host, domain } = job.input
    return host
      ? nodeCommand(nodeId, 'source-host.start-here', { workload, host, domain })
      : nodeCommand(nodeId, 'vm.start', { workload })
  },
}

/** The moment before the point of no return: nobody has ended it meanwhile. */
export function mustBeWanted(tx: Tx, { input }: In) {
  if (load(tx, input.serverId).lifecycle !== 'provisioning')
    throw new CommandFailed('cancelled', 'The server was terminated while it was imported.')
}

const SUSPENDED = 'Suspended in the other panel'
type Told = In & Planned & Kept & Pick<Ctx<Moving, unknown>, 'now' | 'log'> & { out: { bytes?: number } }
/** It is here: the owner has it, billing hears of it, and its guest learns of new addresses. */
export function tellMoved(tx: Tx, job: Told) {
  const { input, out, now, log } = job
  const { serverId, importServerId, isSuspended, left } = input
  const move = moveOf(tx, importServerId)!
  const runs = runsHere(job)
  changeWorkload(tx, serverId, {
    ...{ lifecycle: 'active', diskGeneration: out.plan.volume.generation },
    ...(runs ? { power: 'running' } : { power: 'stopped' }),
    wantedPower: out.keep.wasRunning || isSuspended ? 'running' : 'stopped',
    ...(isSuspended && { suspendedAt: now, suspendReason: SUSPENDED }),
  })
  updateServer(tx, serverId, { provisionedAt: now })
  if (runs) watchGuest(tx, serverId, now)
  if (left.length) wantSwitch(tx, { serverId, leave: left, now, endsAt: null })
  const downtimeMs = move.stoppedAt === null || !runs ? null : now - move.stoppedAt
  changeMove(tx, importServerId, {
    ...{ state: 'moved', movedAt: now, whereItRuns: 'here', downtimeMs, startedAt: runs ? now : null },
    // It is to be checked.
    ...{ checks: null, checkedAt: null, acceptedBy: null, acceptedAt: null, rolledBackAt: null },
  })
  changeServer(tx, importServerId, { workloadId: serverId })
  const { concerning, data } = inEvent(tx, load(tx, serverId))
  emit(tx, now, 'server.created', concerning, { ...data, image: null, imported: true })
  emit(tx, now, 'server.provisioned', concerning, { ...data, imported: true })
  if (downtimeMs !== null) log(`It was off for ${Math.round(downtimeMs / 1000)} s.`)
  if (isSuspended) log('It is suspended, as it was there.')
}
