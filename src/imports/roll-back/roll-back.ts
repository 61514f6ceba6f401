// Rolling a server back: it is shut down here, and starts at its source again, where its disk is as it was. What is
// here is removed once it has started there. Until then all of it is undone, and the server runs here as before. It
// never runs at both: a start whose answer was lost is undone at the source before it starts here.
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { inEvent, load, type Server } from '../../compute/server-records/model.ts'
import { releaseEnded } from '../../compute/servers/life/terminate.ts'
import { changeWorkload } from '../../fleet/workloads/queries.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { type CommandSource, saga } from '../../kernel/jobs/saga.ts'
import { addressesOf, isOwn } from '../../network/ip-pools/allocate.ts'
import { changeServer, serverInImport } from '../import-records/inventory/queries.ts'
import { changeMove, moveOf } from '../import-records/moves/queries.ts'
import { noteIn } from '../import-records/queries.ts'
import { unchecked } from '../import-records/verified/queries.ts'
import { holdAtSource } from '../migrate/plan/holds.ts'
import type { WayBack } from './possible.ts'

const GRACE_SECONDS = 60

/** The definition that was kept before the shut-down, for a source that has lost it. */
const definitionOf = ({ db }: CommandSource, serverId: string): string => moveOf(db, serverId)!.definition ?? ''

export const rollingBack = saga<WayBack, { going: true }>('import_roll_back', {
  title: 'Import roll-back',
  forStaff: true,
  lane: 'bulk',
  twoNodes: true,
  cancelWith: 'imports:write',
  // Its guest is off meanwhile.
  awayMs: () => 5 * 60_000,
})
  .record('begin', 'Preparing its way back', {
    undoAtOnce: true,
    do(tx, { input }) {
      const { power } = load(tx, input.workloadId)
      return { wasOn: input.isHere && power === 'running' }
    },
    undo(tx, { input, out, error, now }) {
      changeMove(tx, input.serverId, { state: 'moved', whereItRuns: mayRunThere(input, out) ? 'unknown' : 'here' })
      if (!error) return
      const name = serverInImport(tx, input.importId, input.serverId)?.hostname
      noteIn(tx, input.importId, now, 'error', `${name} was not rolled back, and runs here: ${error.cause}`)
    },
  })
  // A source that does not answer now keeps nobody's server off.
  .command('look', 'Looking at its source', {
    abandonable: true,
    do: ({ input: { host, domain, sourceNodeId } }) =>
      host ? nodeCommand(sourceNodeId, 'source-servers.look', { host, servers: [{ domain }] }) : undefined,
  })
  .command('stop', 'Shutting it down here', {
    do: ({ input }) =>
      input.isHere
        ? nodeCommand(input.nodeId, 'vm.stop', { workload: input.workloadId, graceSeconds: GRACE_SECONDS })
        : undefined,
    undo: ({ input, out }) =>
      out.begin?.wasOn && !mayRunThere(input, out)
        ? nodeCommand(input.nodeId, 'vm.start', { workload: input.workloadId })
        : undefined,
  })
  .record('note', 'Recording that it is off', {
    undoAtOnce: true,
    do: (tx, { input }) => {
      changeMove(tx, input.serverId, { whereItRuns: 'nowhere' })
      if (input.isHere) changeWorkload(tx, input.workloadId, { power: 'stopped' })
    },
    undo: (tx, { input, out }) => {
      if (out.begin?.wasOn) changeWorkload(tx, input.workloadId, { power: 'running' })
    },
  })
  .command('give-back', 'Giving its disk its old name', {
    do: ({ input }, source) =>
      input.isAdopted
        ? nodeCommand(input.nodeId, 'source-host.give-back', {
            ...{ domain: input.domain, drive: input.drive!, volume: input.volume! },
            definition: definitionOf(source, input.serverId),
          })
        : undefined,
    // A disk that is not the adopted one was left alone, and cannot be adopted.
    undo: ({ input, out, error }) =>
      input.isAdopted && (out['give-back'] || error?.code !== 'volume_differs')
        ? nodeCommand(input.nodeId, 'source-host.adopt', {
            ...{ domain: input.domain, drive: input.drive!, volume: input.volume! },
            sizeBytes: input.sizeBytes,
          })
        : undefined,
  })
  .record('going', 'Recording that it starts there', {
    do(tx, { input }) {
      changeMove(tx, input.serverId, { whereItRuns: 'unknown' })
      return true as const
    },
  })
  .command('start', 'Starting it at its source', {
    do: ({ input }, source) =>
      input.starts
        ? nodeCommand(input.sourceNodeId, 'source-host.start', {
            ...{ host: input.host, domain: input.domain },
            definition: definitionOf(source, input.serverId),
          })
        : undefined,
    undo: ({ input }) =>
      input.starts
        ? nodeCommand(input.sourceNodeId, 'source-host.stop', {
            ...{ host: input.host, domain: input.domain, graceSeconds: GRACE_SECONDS },
          })
        : undefined,
  })
  .pivot('end', 'Recording that it is at its source', {
    reaches: ({ input }) => input.nodeId,
    losesData: true,
    do(tx, { input, now, log }) {
      endHere(tx, input, now)
      log('It is at its source again. What is here is removed now.')
    },
  })
  .command('remove', 'Removing it here', {
    do: ({ input }) =>
      input.isHere ? nodeCommand(input.nodeId, 'vm.remove', { workload: input.workloadId }) : undefined,
  })
  .command('disk', 'Deleting its copy', {
    do: ({ input }) =>
      input.volume && !input.isAdopted ? nodeCommand(input.nodeId, 'volume.remove', input.volume) : undefined,
  })
  .command('rescue-disk', 'Deleting its rescue disk', {
    do: ({ input }) => (input.rescue ? nodeCommand(input.nodeId, 'volume.remove', input.rescue) : undefined),
  })
  // After the vm: it never runs without its network rules.
  .command('firewall', 'Removing its network rules', {
    do: ({ input }) =>
      input.isHere ? nodeCommand(input.nodeId, 'firewall.forget', { workload: input.workloadId }) : undefined,
  })
  .record('release', 'Releasing its addresses', {
    do(tx, { input, now }) {
      if (!input.isHere) return
      releaseEnded(tx, input.workloadId, now)
      // Its source uses those that came over with it again: no order gets them. New ones are free for everybody.
      holdAtSource(tx, serverInImport(tx, input.importId, input.serverId)!)
    },
  })

/**
 * The undo of its start at the source may run late, when it goes by another node than that of the server: then nothing
 * starts it here.
 */
const mayRunThere = ({ nodeId, sourceNodeId }: Pick<WayBack, 'nodeId' | 'sourceNodeId'>, out: { going?: true }) =>
  nodeId !== sourceNodeId && out.going === true

/** From here on it runs at its source, and is terminated here. For one that was terminated before there is no event. */
function endHere(tx: Tx, input: WayBack, now: number) {
  const { serverId, importId, workloadId } = input
  const server = serverInImport(tx, importId, serverId)!
  changeMove(tx, serverId, {
    ...unchecked,
    ...{ state: 'rolled_back', whereItRuns: 'source', rolledBackAt: now },
  })
  changeServer(tx, serverId, { workloadId: null })
  noteIn(tx, importId, now, 'info', `${server.hostname} was rolled back, and is at its source again.`)
  const here = load(tx, workloadId)
  if (here.terminatedAt !== null) return changeWorkload(tx, workloadId, { purgeAt: null, purgeHeld: false })
  const releasedAddresses = ownAddresses(tx, here)
  changeWorkload(tx, workloadId, {
    lifecycle: 'terminated',
    terminatedAt: now,
    terminatedFrom: here.lifecycle === 'terminated' ? null : here.lifecycle,
    ...{ purgeAt: null, purgeHeld: false, power: 'stopped' },
  })
  const { concerning, data } = inEvent(tx, load(tx, workloadId))
  emit(tx, now, 'server.terminated', concerning, { ...data, releasedAddresses, imported: true })
}
const ownAddresses = (tx: Tx, { id }: Pick<Server, 'id'>) =>
  addressesOf(tx, id)
    .filter(isOwn)
    .map(({ address }) => address)
