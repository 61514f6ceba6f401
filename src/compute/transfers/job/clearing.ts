// A job of its own removes what a server has left on its former node: that node may be away for long, and the server is
// at work elsewhere meanwhile. When the node where it is at work is lost before, the disk that it left is the only
// copy: it is kept, as a disk of no server that the page of the node shows.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { closeStay } from '../../../fleet/workloads/stays/stays.ts'
import { system } from '../../../kernel/api/actor.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import { forwardSaga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { load, serverKind } from '../../server-records/model.ts'
import { transferById } from '../queries.ts'
import { leaveOld } from '../readdressing/addresses.ts'
import { isLost, spreadNetworks } from './ending.ts'
import type { Disk } from './plan.ts'

type Clearing = {
  serverId: string
  /** The node that it left. */
  from: string
  transferId: string
  disks: readonly Disk[]
  floating: readonly string[]
}

export const startClearing = (tx: Tx, { serverId, from, transferId, disks, floating }: Clearing, now: number) =>
  startJob(
    tx,
    clearing,
    { serverId, from, transferId, disks, floating },
    {
      by: system,
      title: `Clear up after the move of ${load(tx, serverId).hostname}`,
      nodeId: from,
      subject: { type: serverKind.kind, id: serverId },
      now,
    },
  )

type Input = { input: Clearing }
const release = (n: number) => ({
  do: ({ input: { from, serverId, disks } }: Input, { db }: { db: Db }) =>
    disks[n] && !isLost(db, serverId)
      ? nodeCommand(from, 'volume.detach', { workload: serverId, volume: disks[n].from })
      : undefined,
})
const remove = (n: number) => ({
  do: ({ input: { from, serverId, disks } }: Input, { db }: { db: Db }) =>
    disks[n] && disks[n].shared === undefined && !isLost(db, serverId)
      ? nodeCommand(from, 'volume.remove', disks[n].from)
      : undefined,
})

export const clearing = forwardSaga<Clearing>('clear_move', { title: 'Clean-up after a move', forStaff: true })
  // First: with the move the node forgets that it has given the server up.
  .command('remove', 'Removing the virtual machine', {
    do: ({ input: { from, serverId } }, { db }) =>
      isLost(db, serverId) ? undefined : nodeCommand(from, 'vm.remove', { workload: serverId }),
  })
  .command('end', 'Removing the key of the move', {
    do: ({ input: { from, transferId, serverId, disks } }, { db }) => {
      const shares = isLost(db, serverId) ? [] : disks.filter(({ shared }) => shared !== undefined)
      return nodeCommand(from, 'transfer.end', {
        ...{ transfer: transferId, workload: serverId, discard: false },
        ...(shares.length && { shares: shares.map((disk) => disk.from) }),
      })
    },
  })
  .command('release-1', 'Releasing its volume', release(1))
  .command('release-2', 'Releasing its volume', release(2))
  .command('release-3', 'Releasing its volume', release(3))
  .command('release-4', 'Releasing its volume', release(4))
  .command('release-5', 'Releasing its volume', release(5))
  .command('disk', 'Deleting its disk', remove(0))
  .command('disk-1', 'Deleting its volume', remove(1))
  .command('disk-2', 'Deleting its volume', remove(2))
  .command('disk-3', 'Deleting its volume', remove(3))
  .command('disk-4', 'Deleting its volume', remove(4))
  .command('disk-5', 'Deleting its volume', remove(5))
  // They would last without the rules of the port.
  .command('float', 'Taking its floating addresses away', {
    do: ({ input: { from, serverId, floating } }) =>
      floating.length
        ? nodeCommand(from, 'firewall.float', { workload: serverId, addresses: [...floating], on: false })
        : undefined,
  })
  .command('forget', 'Removing its network rules', {
    do: ({ input: { from, serverId } }) => nodeCommand(from, 'firewall.forget', { workload: serverId }),
  })
  .record('close', 'Giving back what it held', {
    do: (tx, { input: { serverId, from, transferId }, now, log }) => {
      leaveOld(tx, transferById(tx, transferId)!, now)
      if (isLost(tx, serverId))
        log(
          'The node to which it moved is lost. The disks that it left here are kept: they are the only copy.',
          'warning',
        )
      closeStay(tx, serverId, from, now)
      spreadNetworks(tx, serverId, now)
    },
  })
