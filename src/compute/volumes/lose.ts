// Volumes that are lost with their node. The brake counts each; one that it holds keeps the node.
import { changeVolume, volumeById } from '../../fleet/volume-records/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { day } from '../../kernel/db/clock.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { mayDestroy } from '../brake/brake.ts'
import type { HeldDestruction } from '../brake/cases.ts'

/** The node is removed by another call after a release; until then no volume is counted a second time. */
const PASSED_FOR_MS = day

/** Counts the loss of a volume, in the transaction of the call that removes its node. */
export function countLoss(tx: Tx, volumeId: string, { by, now }: { by: Actor; now: number }) {
  const { name, ownerId, lastServerId, lossHeld, lossPassedAt } = volumeById(tx, volumeId)!
  if (lossHeld || (lossPassedAt !== null && lossPassedAt > now - PASSED_FOR_MS)) return
  const disk = { id: volumeId, name, ownerId }
  const { held } = mayDestroy(tx, by, { kind: 'lose_volume', workloadId: lastServerId, disk, now })
  changeVolume(tx, volumeId, held ? { lossHeld: true } : { lossPassedAt: now })
}

/** A release lets the node be removed; a refusal leaves the volume as it is. */
export const lostVolume: HeldDestruction = {
  kind: 'lose_volume',
  release: ({ tx, clock }, id) => void changeVolume(tx, id, { lossHeld: false, lossPassedAt: clock() }),
  refuse: ({ tx }, id) => void changeVolume(tx, id, { lossHeld: false }),
}
