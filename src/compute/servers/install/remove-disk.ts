// A disk that a server uses no more is deleted by a job of its own, beside other jobs of the server.
import { nodeCommand, type Volume } from '../../../../agent/protocol/wire.ts'
import { changeSpare } from '../../../fleet/workloads/stays/stays.ts'
import { system } from '../../../kernel/api/actor.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { load } from '../model.ts'

type RemovingDisk = { serverId: string; nodeId: string; volume: Volume; diskGb: number }

/** Starts the job that deletes the disk and gives the space back that was held for it. */
export function removeDisk(tx: Tx, input: RemovingDisk, now: number) {
  const { serverId, nodeId } = input
  const title = `Delete the old disk of ${load(tx, serverId).hostname}`
  startJob(tx, removingDisk, input, { by: system, title, nodeId, subject: { type: 'server', id: serverId }, now })
}

/** Deletes a disk and gives its space back. */
export const removingDisk = saga<RemovingDisk>('remove_disk', { neverGivesUp: true })
  .command('delete', 'Deleting the old disk', {
    do: ({ input }) => nodeCommand(input.nodeId, 'volume.remove', input.volume),
  })
  .record('release', 'Releasing its space', {
    do: (tx, { input: { serverId, nodeId, diskGb } }) => changeSpare(tx, serverId, -diskGb, nodeId),
  })
