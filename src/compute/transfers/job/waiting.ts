// Moves that wait until others of their nodes have ended begin in the order in which they were asked for.
import { type Db, write } from '../../../kernel/db/open.ts'
import { releaseJob } from '../../../kernel/jobs/start.ts'
import { settingValue } from '../../../kernel/setting.ts'
import { atOnce } from '../estimate.ts'
import { heldTransfers, transfersAtWorkOn } from '../queries.ts'

/** Lets as many of them begin as may be at work. */
export function beginWaiting(db: Db) {
  if (!heldTransfers(db).length) return
  write(db, (tx) => {
    const limit = settingValue(tx, atOnce)
    // One that waits keeps its nodes for itself, so that younger ones do not overtake it for ever.
    const kept = new Set<string>()
    for (const { jobId, fromNodeId, toNodeId } of heldTransfers(tx)) {
      const nodes = [fromNodeId, toNodeId]
      if (nodes.every((id) => !kept.has(id) && transfersAtWorkOn(tx, id) < limit)) releaseJob(tx, jobId)
      else for (const id of nodes) kept.add(id)
    }
  })
}
