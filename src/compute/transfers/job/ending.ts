// A move holds volumes and floating addresses besides its server; they follow it. Here too: the end of its record.

import { isGoneNode } from '../../../fleet/node-records/queries.ts'
import { poolSpaceOf } from '../../../fleet/storage-pools/queries.ts'
import { changeVolume, noteVolumeUse, volumesOf } from '../../../fleet/volume-records/queries.ts'
import { system } from '../../../kernel/api/actor.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import type { ExplainedFailure } from '../../../kernel/jobs/failures.ts'
import { changeFloating } from '../../../network/floating-ips/queries.ts'
import { membershipsOf } from '../../../network/private-network-records/queries.ts'
import { spread } from '../../../network/private-networks/reconcile.ts'
import { load } from '../../server-records/model.ts'
import { tell } from '../model.ts'
import { floatingOn } from '../movable.ts'
import { changeTransfer, transferAtWork, transferById } from '../queries.ts'
import type { Disk } from './plan.ts'

/** Its volumes and floating addresses stay with it until the job has ended: nothing else moves them. */
export function holdThings(tx: Tx, serverId: string, jobId: string) {
  for (const { id } of volumesOf(tx, serverId)) changeVolume(tx, id, { jobId })
  for (const { id } of floatingOn(tx, serverId)) changeFloating(tx, id, { jobId })
}
/** Those that this job holds: another one may have begun with some of them. */
export function releaseThings(tx: Tx, serverId: string, holder: string) {
  for (const { id, jobId } of volumesOf(tx, serverId)) if (jobId === holder) changeVolume(tx, id, { jobId: null })
  for (const { id, jobId } of floatingOn(tx, serverId)) if (jobId === holder) changeFloating(tx, id, { jobId: null })
}

/** The record of a transfer that has failed or was cancelled; one that has ended stays as it is. */
export function ended(
  tx: Tx,
  transferId: string,
  { error, now }: { error: ExplainedFailure | undefined; now: number },
) {
  const row = transferById(tx, transferId)!
  if (row.finishedAt !== null) return
  const words = error?.cause ?? 'No reason was given.'
  changeTransfer(tx, transferId, {
    state: error?.code === 'cancelled' ? 'cancelled' : 'failed',
    error: words,
    finishedAt: now,
    ...(row.stoppedAt !== null && { downtimeMs: now - row.stoppedAt }),
  })
  // Of one that never began nobody has heard.
  if (row.beganAt !== null) tell(tx, now, transferById(tx, transferId)!, { type: 'transfer.failed', error: words })
}

/** The node where the server is at home is lost, and the server was to stay. */
export const isLost = (db: Db, serverId: string): boolean => {
  const { lifecycle, nodeId } = load(db, serverId)
  return lifecycle !== 'terminated' && isGoneNode(db, nodeId)
}

/**
 * Does the job of a move bring the server back, now that the node is lost where it is at home? It is past its point of
 * no return and has not ended, so that the disk which the server left is whole.
 */
export function comesBack(tx: Tx, workloadId: string): boolean {
  const transfer = transferAtWork(tx, workloadId)
  if (!transfer || isGoneNode(tx, transfer.fromNodeId)) return false
  return load(tx, workloadId).nodeId === transfer.toNodeId
}

/** The records of the extra volumes among these disks, from now on on this node. */
export function movedVolumes(
  tx: Tx,
  disks: readonly Disk[],
  side: 'from' | 'to',
  { id: nodeId, locationId }: { id: string; locationId: string },
  now: number,
) {
  for (const { volumeId, [side]: volume } of disks) {
    if (volumeId === null) continue
    const { pool, format } = volume
    changeVolume(tx, volumeId, { nodeId, locationId, pool, format })
    noteVolumeUse(tx, volumeId, poolSpaceOf(tx, { nodeId, pool })?.class ?? null, now)
  }
}

/** Tells the nodes of its private networks where it stays now. */
export function spreadNetworks(tx: Tx, serverId: string, now: number) {
  const server = load(tx, serverId)
  for (const { networkId } of membershipsOf(tx, serverId))
    spread(tx, networkId, server, { by: system, title: `Update private networks of ${server.hostname}`, now })
}
