// The job that moves a server with a system. Until its pivot the server is at home on its old node, and only that node
// may run it: whatever fails, it runs on there, and the other node is cleared. Behind the pivot its home changes, while
// its guest is off or paused. From then on only the new node may run it, and a job of its own clears the old one. If
// the new node is lost by the end of the job, the server is brought back: its only disk is that on the old one.
//
// In a live move the pivot is the command that hands the memory over: while its answer is out, the old node alone knows
// which of them has the guest, and nothing ends the job. When that fails, the guest runs on where it was.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { isGoneNode, nodeById } from '../../../fleet/node-records/queries.ts'
import { withRefused } from '../../../fleet/nodes/addresses/platform.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { closeStay, returnHome, switchHome, turnBack } from '../../../fleet/workloads/stays/stays.ts'
import { hour, minute } from '../../../kernel/db/clock.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import { CommandFailed } from '../../../kernel/jobs/failures.ts'
import { type CommandSource, childJob, saga } from '../../../kernel/jobs/saga.ts'
import { membershipsOf } from '../../../network/private-network-records/queries.ts'
import { spreading, spreadLock } from '../../../network/private-networks/reconcile.ts'
import { noteCopy } from '../../isos/queries.ts'
import { load } from '../../server-records/model.ts'
import { updateServer } from '../../server-records/queries.ts'
import { isOn, lookAtPower } from '../../server-vm/steps.ts'
import { tell } from '../model.ts'
import { changeTransfer, transferById } from '../queries.ts'
import { freeNew, freeOld, takeNew, takeOld, tellInside } from '../readdressing/addresses.ts'
import { emitChange } from '../readdressing/tell.ts'
import { startClearing } from './clearing.ts'
import { ended, isLost, movedVolumes, releaseThings, spreadNetworks } from './ending.ts'
import { copiedOf, type Disk, type MovePlan, pendingSeed, planMove, type Route, takesSeed } from './plan.ts'

export type Moving = Route & {
  transferId: string
  mode: 'live' | 'near_live' | 'cold'
  /** As it was announced. */
  expectedSeconds: number
}
type Input = { input: Moving }
type Out = { out: { plan: MovePlan; look: { power: 'running' | 'stopped' | 'paused' | 'crashed' | 'absent' } } }
type Received = {
  out: { plan: MovePlan; receive: { port: number; user: string; hostKeys: string[]; firmware?: boolean | undefined } }
}

/** A system has this long to shut itself down; then it is switched off. */
const GRACE_SECONDS = 90
/** The key of a transfer is let in for so long, and renewed while the job goes on. */
export const KEY_VALID_MS = 2 * hour
/** While it is shut down for the move, its old node starts it again after this long without a node of the move. */
export const OFF_AWAY_MS = 2 * minute

const ofTransfer = ({ transferId, serverId }: Moving) => ({ transfer: transferId, workload: serverId })
const end = (nodeId: string, input: Moving, discard = false) =>
  nodeCommand(nodeId, 'transfer.end', { ...ofTransfer(input), discard })
const given = (input: Moving, isGiven: boolean) =>
  nodeCommand(input.from, 'transfer.give', { ...ofTransfer(input), given: isGiven })
/** It ran when the job began, and nobody has suspended or terminated it since. */
const mustRun = (db: Db, { input, out }: Input & Out): boolean => {
  const { suspendedAt, terminatedAt } = load(db, input.serverId)
  return isOn(out.look.power) && suspendedAt === null && terminatedAt === null
}
const start = (nodeId: string, { serverId }: Moving) => nodeCommand(nodeId, 'vm.start', { workload: serverId })
/** One that was off by then is copied as any that is off. */
const isLive = ({ input, out }: Input & { out: Pick<Out['out'], 'look'> }): boolean =>
  input.mode === 'live' && out.look.power === 'running'
const copying = ({ input, out }: Input & Received, { db }: Pick<CommandSource, 'db'>) => ({
  ...ofTransfer(input),
  to: {
    address: out.plan.addresses.to,
    ...{ port: out.receive.port, user: out.receive.user, hostKeys: out.receive.hostKeys },
  },
  disks: copiedOf(out.plan.disks).map((disk) => disk.from),
  maxMbps: transferById(db, input.transferId)!.maxMbps,
})
/** Some of its disks are sent. */
const copies = ({ out }: { out: { plan: MovePlan } }): boolean => copiedOf(out.plan.disks).length > 0
/** A copy sends the state that its firmware has stored; in a live move that comes with the memory. */
const bringsFirmware = ({ out }: { out: { plan: MovePlan; receive: { firmware?: boolean | undefined } } }): boolean =>
  out.receive.firmware === true && hasFirmware(out.plan)
const hasFirmware = ({ vm: { hardware } }: MovePlan): boolean => hardware.firmware !== 'bios' || hardware.tpm
/** After a mirror the copy has compared both. */
const isRead = ({ out }: { out: { plan: MovePlan; mirror?: unknown } }): boolean => copies({ out }) && !out.mirror
/** Its guest runs on, unless it has left. */
const endMigration = ({ input, out: { look } }: { input: Moving; out: Partial<Out['out']> }) =>
  look && isLive({ input, out: { look } }) ? end(input.from, input) : undefined
/** The step that gives the vm on its next node the nth extra volume. */
const attach = (n: number) =>
  [
    'Attaching its volume there',
    {
      do: ({ input, out }: Input & { out: { plan: MovePlan } }) =>
        attached('volume.attach', input.to, input, out.plan.disks[n]),
      undo: ({ input, out }: { input: Moving; out: { plan?: MovePlan } }) =>
        attached('volume.detach', input.to, input, out.plan?.disks[n]),
    },
  ] as const
const attached = (
  name: 'volume.attach' | 'volume.detach',
  nodeId: string,
  { serverId }: Moving,
  disk: Disk | undefined,
) => disk && nodeCommand(nodeId, name, { workload: serverId, volume: disk.to })

export const moving = saga<Moving>('move', {
  title: 'Move',
  forStaff: true,
  twoNodes: true,
  lane: 'bulk',
  cancelWith: 'servers:move',
  neverStops: true,
  retry: () => 'move',
  awayMs: ({ input, out }) => (out.stop && isOn(out.look.power) && !isLive({ input, out }) ? OFF_AWAY_MS : undefined),
})
  // The operation holds what it needs on its next node.
  .record('plan', 'Planning the move', {
    do: (tx, { input }) => planMove(tx, input, transferById(tx, input.transferId)!),
    // Behind all that is undone on its next node, so that it holds there what is left.
    undo: (tx, { input: { serverId, to, transferId }, error, now, jobId }) => {
      closeStay(tx, serverId, to, now)
      freeNew(tx, transferById(tx, transferId)!)
      spreadNetworks(tx, serverId, now)
      releaseThings(tx, serverId, jobId)
      ended(tx, transferId, { error, now })
    },
    undoAtOnce: false,
  })
  .record('begin', 'Beginning', {
    do: (tx, { input: { transferId }, now }) => {
      changeTransfer(tx, transferId, { state: 'copying', beganAt: now })
      tell(tx, now, transferById(tx, transferId)!, { type: 'transfer.started' })
    },
    undo: (tx, { input: { serverId, to, transferId }, error, now, jobId }) => {
      turnBack(tx, serverId, to)
      releaseThings(tx, serverId, jobId)
      ended(tx, transferId, { error, now })
    },
    undoAtOnce: true,
  })
  .command('look', lookAtPower[0], {
    abandonable: true,
    do: ({ input }) => nodeCommand(input.from, 'vm.look', { workload: input.serverId }),
  })
  .command('key', 'Making a key for this move', {
    do: ({ input }) => nodeCommand(input.from, 'transfer.key', ofTransfer(input)),
    undo: ({ input }) => end(input.from, input),
  })
  .command('receive', 'Making its disks on the other node', {
    do: ({ input, out, now }) =>
      nodeCommand(input.to, 'transfer.receive', {
        ...ofTransfer(input),
        from: [out.plan.addresses.from],
        publicKey: out.key.publicKey,
        by: isLive({ input, out }) ? 'migration' : 'copy',
        disks: out.plan.disks.map(({ to, sizeBytes, shared }) => ({
          ...{ volume: to, sizeBytes },
          ...(shared !== undefined && { shared }),
        })),
        expiresAt: now + KEY_VALID_MS,
        ...(!isLive({ input, out }) && hasFirmware(out.plan) && { firmware: true }),
      }),
    undo: ({ input }) => end(input.to, input, true),
  })
  // Before its vm exists there, so that it can never send with the address of another.
  .command('firewall', 'Loading its network rules there', {
    do: ({ input, out }) => nodeCommand(input.to, 'firewall.allow', out.plan.portRules),
    undo: ({ input }) => nodeCommand(input.to, 'firewall.forget', { workload: input.serverId }),
  })
  .command('seed', 'Writing the data for its next start there', {
    do: ({ input, jobId }, source) => {
      const seed = pendingSeed(source, input, jobId)
      return seed && nodeCommand(input.to, 'seed.write', seed)
    },
    undo: ({ input }) => nodeCommand(input.to, 'seed.remove', { workload: input.serverId }),
  })
  .record('iso', 'Choosing its ISO', {
    // Before the download, so that a copy that a job leaves behind is deleted with the ISO.
    do: (tx, { input, out }) => {
      if (out.plan.iso) noteCopy(tx, out.plan.iso.id, input.to)
    },
  })
  .command('fetch-iso', 'Fetching its ISO there, unless it is there already', {
    abandonable: true,
    do: ({ input, out }, { db }) =>
      out.plan.iso ? nodeCommand(input.to, 'iso.ensure', withRefused(db, out.plan.iso)) : undefined,
  })
  .command('attach-1', ...attach(1))
  .command('attach-2', ...attach(2))
  .command('attach-3', ...attach(3))
  .command('attach-4', ...attach(4))
  .command('attach-5', ...attach(5))
  .command('define', 'Defining the virtual machine there', {
    do: ({ input, out }) => nodeCommand(input.to, 'vm.define', out.plan.vm),
    undo: ({ input }) => nodeCommand(input.to, 'vm.remove', { workload: input.serverId }),
  })
  // Its cards are where it stays, so that the other node has them before it runs there.
  .jobs('networks', 'Setting up its private networks there', {
    start: (tx, { input: { serverId, to } }) =>
      membershipsOf(tx, serverId).map(({ networkId }) =>
        childJob(
          spreading,
          { networkId, nodeId: to },
          { title: 'Set up a private network', nodeId: to, holds: spreadLock({ networkId, nodeId: to }) },
        ),
      ),
  })
  .command('mirror', 'Copying its disks while it runs', {
    abandonable: true,
    do: ({ input, out }, source) => {
      if (input.mode === 'cold' || out.look.power !== 'running') return undefined
      if (!isLive({ input, out }) && !copies({ out })) return undefined
      const name = isLive({ input, out }) ? 'transfer.begin-migration' : 'transfer.mirror'
      return nodeCommand(input.from, name, copying({ input, out }, source))
    },
    undo: endMigration,
  })
  .record('switching', 'Noting when it stops', {
    do: (tx, { input, out, now }) => {
      const { totalBytes, copiedBytes } = out.mirror ?? {}
      const runsOn = isLive({ input, out })
      changeTransfer(tx, input.transferId, {
        state: input.mode === 'near_live' ? 'switching' : 'copying',
        stoppedAt: isOn(out.look.power) && !runsOn ? now : null,
        bytesTotal: totalBytes,
        bytesCopied: copiedBytes,
      })
    },
  })
  .command('stop', 'Shutting it down', {
    do: ({ input, out }) =>
      isLive({ input, out })
        ? undefined
        : nodeCommand(input.from, 'vm.stop', { workload: input.serverId, graceSeconds: GRACE_SECONDS }),
    // Nothing has started it on the other node: that comes after the point of no return. One that its owner has shut
    // down while it moved live stays off.
    undo: ({ input, out, error }, { db }) =>
      out.look && error?.code !== 'not_running' && mustRun(db, { input, out: { ...out, look: out.look } as Out['out'] })
        ? start(input.from, input)
        : undefined,
  })
  .command('keep', 'Keeping its definition', {
    do: () => undefined,
    // The hypervisor removes it when the guest leaves, and the node to which it went may be lost with the guest.
    undo: ({ input, out: { plan, look } }) =>
      plan && look && isLive({ input, out: { look } })
        ? nodeCommand(input.from, 'vm.define', plan.before.vm)
        : undefined,
  })
  .command('free', 'Keeping its disks to itself', {
    do: () => undefined,
    // One that is paused there has the disks open that both nodes reach, and this one starts only without it.
    undo: ({ input, out: { plan, look } }) =>
      plan && look && isLive({ input, out: { look } }) && copiedOf(plan.disks).length < plan.disks.length
        ? nodeCommand(input.to, 'vm.remove', { workload: input.serverId })
        : undefined,
  })
  .command('copy', 'Copying its disks', {
    abandonable: true,
    do: ({ input, out }, source) =>
      isLive({ input, out }) || !(copies({ out }) || bringsFirmware({ out }))
        ? undefined
        : nodeCommand(input.from, 'transfer.copy', {
            ...copying({ input, out }, source),
            ...(bringsFirmware({ out }) && { firmware: out.plan.disks[0]!.from }),
          }),
    // Before it is defined and started there, which the node refuses while the guest may have left.
    undo: endMigration,
  })
  // After a mirror the copy has compared both disks while the guest was off, and its owner waits. Both nodes read at
  // the same time.
  .command('read-ahead', 'Beginning to read what arrived', {
    abandonable: true,
    do: ({ input, out }) =>
      isRead({ out })
        ? nodeCommand(input.to, 'transfer.checksum', {
            ...{ ...ofTransfer(input), ahead: true },
            disks: copiedOf(out.plan.disks).map((disk) => disk.to),
          })
        : undefined,
  })
  .command('read', 'Reading its disks once more', {
    abandonable: true,
    do: ({ input, out }) =>
      isRead({ out })
        ? nodeCommand(input.from, 'transfer.checksum', {
            ...ofTransfer(input),
            disks: copiedOf(out.plan.disks).map((disk) => disk.from),
          })
        : undefined,
  })
  .command('read-there', 'Reading what arrived', {
    abandonable: true,
    do: ({ input, out }) =>
      isRead({ out })
        ? nodeCommand(input.to, 'transfer.checksum', {
            ...ofTransfer(input),
            disks: copiedOf(out.plan.disks).map((disk) => disk.to),
          })
        : undefined,
  })
  // Its vm on the other node, which has it, is removed where the move fails.
  .command('firmware', 'Putting in place there what its firmware has stored', {
    do: ({ input, out }) =>
      !isLive({ input, out }) && bringsFirmware({ out })
        ? nodeCommand(input.to, 'transfer.place-firmware', { ...ofTransfer(input), volume: out.plan.disks[0]!.to })
        : undefined,
  })
  // A database from before the move may be put in place of this one: its controller cannot start it there either.
  .command('leave', 'Giving it up where it was', {
    do: ({ input, out }) => (isLive({ input, out }) ? undefined : given(input, true)),
    undo: ({ input, out: { look } }) => (look && isLive({ input, out: { look } }) ? undefined : given(input, false)),
  })
  .record('compare', 'Comparing what arrived', {
    do: (tx, { input, out }) => {
      if (JSON.stringify(out.read ?? null) !== JSON.stringify(out['read-there'] ?? null))
        throw new CommandFailed('checksum_differs', 'The disks that arrived differ from those that were sent.')
      // Here, because nothing may refuse behind the point of no return.
      if (!takeNew(tx, transferById(tx, input.transferId)!))
        throw new CommandFailed('address_taken', 'An address that was kept for it was given to somebody else.')
    },
    undo: (tx, { input }) => takeOld(tx, transferById(tx, input.transferId)!),
    undoAtOnce: true,
  })
  .pivotCommand('hand-over', 'Handing it over', {
    // Where the other node is away, it runs on where it was.
    reaches: ({ input }) => input.to,
    do: ({ input, out }, source) =>
      isLive({ input, out }) ? nodeCommand(input.from, 'transfer.migrate', copying({ input, out }, source)) : undefined,
  })
  .record('switch', 'Changing its home', {
    do: (tx, { input, out, now }) => {
      const { serverId, transferId, from, to } = input
      const node = nodeById(tx, to)!
      const moved = transferById(tx, transferId)!
      switchHome(tx, serverId, { nodeId: to, locationId: node.locationId })
      movedVolumes(tx, out.plan.disks, 'to', node, now)
      // A copy of its disk has no layers; a disk that stays has all that it had.
      if (input.shared === undefined) {
        const { format } = out.plan.disks[0]!.to
        updateServer(tx, serverId, { format, diskLayer: 0, diskParent: null, lastDiskLayer: 0 })
      }
      // The seed with its new addresses: it reads that whenever it starts.
      if (takesSeed(load(tx, serverId), moved)) updateServer(tx, serverId, { pendingSeed: 'next_start' })
      const migrated = migratedIn(out)
      changeWorkload(tx, serverId, {
        // Off in between, so it reads what waits for its next start.
        ...(!migrated && { power: 'stopped' }),
        placement: `${node.name}: moved from ${nodeById(tx, from)!.name}`,
      })
      const { copy, mirror } = out
      const copiedBytes = migrated ? migrated.copiedBytes : (mirror?.copiedBytes ?? 0) + (copy?.copiedBytes ?? 0)
      changeTransfer(tx, transferId, {
        state: 'switching',
        ...(migrated && { stoppedAt: now }),
        bytesCopied: copiedBytes,
        bytesTotal: migrated?.totalBytes ?? (mirror ? undefined : copy?.totalBytes),
        // After a mirror the copy only compares.
        copyMs: (mirror?.ms ?? 0) + (migrated?.ms ?? 0) || (copy?.ms ?? null),
      })
      // Its private networks send to its new node from now on.
      spreadNetworks(tx, serverId, now)
    },
  })
  // Before its guest runs on there.
  .command('float', 'Allowing its floating addresses there', {
    do: ({ input, out }) =>
      out.plan.floating.length
        ? nodeCommand(input.to, 'firewall.float', { workload: input.serverId, addresses: out.plan.floating, on: true })
        : undefined,
  })
  .command('give', 'Giving it to the other node', {
    do: ({ input }) => nodeCommand(input.to, 'transfer.resume', ofTransfer(input)),
  })
  .command('start', 'Starting it there', {
    do: ({ input, out }, { db }) =>
      out.give?.power !== 'running' && mustRun(db, { input, out }) ? start(input.to, input) : undefined,
  })
  .command('close', 'Removing the key of this move', { do: ({ input }) => end(input.to, input) })
  .record('settle', 'Recording where it is', {
    do: (tx, { input, out, now, log, jobId }) => {
      // The node has taken with it all that it wrote; the disk that it left is all there is.
      if (isLost(tx, input.serverId)) {
        const isBack = !isGoneNode(tx, input.from)
        if (isBack) bringBack(tx, input, out.plan, now)
        else endLost(tx, { ...input, jobId }, now)
        log(isBack ? `${NEXT_LOST} It is brought back to where it was.` : BOTH_LOST, 'warning')
        return { isBack }
      }
      const { resumedAt = null, power } = out.give ?? {}
      if (out.start || power === 'running') changeWorkload(tx, input.serverId, { power: 'running' })
      if (migratedIn(out) && resumedAt === null)
        log('Its memory was lost on the other node: it was started there from its disk.', 'warning')
      releaseThings(tx, input.serverId, jobId)
      finish(tx, input, downtimeIn(out), now)
      emitChange(tx, now, transferById(tx, input.transferId)!)
      tellInside(tx, transferById(tx, input.transferId)!, now)
      startClearing(tx, { ...input, disks: out.plan.disks, floating: out.plan.floating }, now)
      return { isBack: false }
    },
  })
  .command('end-back', 'Removing the key of this move where it was', {
    do: ({ input, out }) => (out.settle.isBack ? end(input.from, input) : undefined),
  })
  .command('define-back', 'Defining the virtual machine where it was', {
    do: ({ input, out }) =>
      out.settle.isBack && migratedIn(out) ? nodeCommand(input.from, 'vm.define', out.plan.before.vm) : undefined,
  })
  .command('start-back', 'Starting it where it was', {
    do: ({ input, out }, { db }) =>
      out.settle.isBack && mustRun(db, { input, out }) ? start(input.from, input) : undefined,
  })
  .record('tell-back', 'Recording that it is back', {
    do: (tx, { input, out, now, jobId }) => {
      if (!out.settle.isBack) return
      if (out['start-back']) changeWorkload(tx, input.serverId, { power: 'running' })
      endLost(tx, { ...input, jobId }, now, NEXT_LOST)
      spreadNetworks(tx, input.serverId, now)
    },
  })

const NEXT_LOST = 'Its next node was lost.'
const BOTH_LOST = 'Both of its nodes were lost.'
/** Ends the record of a move whose next node is lost, and gives back what it held beside the server. */
function endLost(tx: Tx, { serverId, transferId, jobId }: Moving & { jobId: string }, now: number, cause = BOTH_LOST) {
  releaseThings(tx, serverId, jobId)
  freeOld(tx, transferById(tx, transferId)!)
  ended(tx, transferId, { error: { code: 'node_removed', message: '', cause }, now })
}

type Handed = { 'hand-over'?: { stoppedAt: number; copiedBytes: number; totalBytes: number; ms?: number | undefined } }
/** The memory that was handed over; undefined in other moves, in which the pivot sends nothing. */
const migratedIn = (out: Handed) => out['hand-over']
/** By the one clock of the node to which it went; undefined where its guest did not run on. */
function downtimeIn(out: Handed & { give?: { resumedAt: number | null } | undefined }): number | undefined {
  const [stoppedAt, resumedAt] = [migratedIn(out)?.stoppedAt, out.give?.resumedAt ?? undefined]
  return stoppedAt === undefined || resumedAt === undefined ? undefined : Math.max(0, resumedAt - stoppedAt)
}

/** `measuredMs`: how long its guest stood still, where the nodes have measured it. */
function finish(tx: Tx, { transferId }: Moving, measuredMs: number | undefined, now: number) {
  const { stoppedAt, beganAt } = transferById(tx, transferId)!
  // No node says that it was off for longer than the move took.
  const measured = measuredMs === undefined ? undefined : Math.min(measuredMs, now - beganAt!)
  const downtimeMs = measured ?? (stoppedAt === null ? 0 : now - stoppedAt)
  changeTransfer(tx, transferId, { state: 'finished', downtimeMs, finishedAt: now })
  tell(tx, now, transferById(tx, transferId)!, { type: 'transfer.finished', downtimeMs })
}

/** The node that had it for a moment is lost. The server did not count as lost: see `comesBack`. */
function bringBack(tx: Tx, { serverId, from, transferId }: Moving, plan: MovePlan, now: number) {
  const { disks, before, pendingSeed } = plan
  const moved = transferById(tx, transferId)!
  takeOld(tx, moved)
  const { locationId, vm: _, ...columns } = before
  returnHome(tx, serverId, { nodeId: from, locationId }, now)
  movedVolumes(tx, disks, 'from', { id: from, locationId }, now)
  updateServer(tx, serverId, { ...columns, ...(moved.readdressing && { pendingSeed }) })
  changeWorkload(tx, serverId, { power: 'stopped' })
}
