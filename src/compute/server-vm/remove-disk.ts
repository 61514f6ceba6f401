// A disk that a server uses no more is deleted by a job of its own, beside other jobs of the server.
import { nodeCommand, type Volume } from '../../../agent/protocol/wire.ts'
import { changeSpare } from '../../fleet/workloads/stays/stays.ts'
import { system } from '../../kernel/api/actor.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { type ChildJob, childJob, forwardSaga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { load } from '../server-records/model.ts'

type RemovingDisk = { serverId: string; nodeId: string; volume: Volume; diskGb: number }

const about = (tx: Tx, { serverId, nodeId }: RemovingDisk) => ({
  title: `Delete the old disk of ${load(tx, serverId).hostname}`,
  nodeId,
  subject: { type: 'server', id: serverId },
})

/** Starts the job that deletes the disk and gives the space back that was held for it. */
export const removeDisk = (tx: Tx, input: RemovingDisk, now: number) =>
  void startJob(tx, removingDisk, input, { by: system, now, ...about(tx, input) })

/** The same job as the child of another. */
export const oldDiskRemoval = (tx: Tx, input: RemovingDisk): ChildJob => childJob(removingDisk, input, about(tx, input))

/** Deletes a disk and gives its space back. */
export const removingDisk = forwardSaga<RemovingDisk>('remove_disk', { title: 'Old disk deletion' })
  .command('delete', 'Deleting the old disk', {
    do: ({ input }) => nodeCommand(input.nodeId, 'volume.remove', input.volume),
  })
  .record('release', 'Releasing its space', {
    do: (tx, { input: { serverId, nodeId, diskGb } }) => changeSpare(tx, serverId, -diskGb, nodeId),
  })
