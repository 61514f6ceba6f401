// A backup that never began.
import { hardwareOf } from '../../catalog/images/hardware.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { inEvent, type Server } from '../server-records/model.ts'
import { insertBackup } from './queries.ts'

type Missed = { targetId: string; planId: string; code: string; words: string; now: number }
/** Records that the backup of a plan could not begin, and tells the accounts that it concerns. */
export function recordMissed(tx: Tx, target: Server, { targetId, planId, code, words, now }: Missed) {
  const id = newId('bkp')
  insertBackup(tx, {
    ...hardwareOf(target),
    ...{ id, serverId: target.id, serverName: target.hostname, ownerId: target.ownerId, nodeId: target.nodeId },
    ...{ targetId, planId, kind: 'scheduled', state: 'failed', jobId: '', diskGb: target.diskGb },
    ...{ imageId: target.imageId, errorCode: code, errorWords: words, startedAt: now, endedAt: now },
  })
  const { concerning, data } = inEvent(tx, target)
  emit(tx, now, 'backup.failed', concerning, { ...data, backup: { id, kind: 'scheduled', error: words } })
}
