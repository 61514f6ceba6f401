// An import of which servers have moved, failed and stay, without the work: what has moved is an ordinary server here.
import { changeServer, insertServer } from '../../../src/imports/import-records/inventory/queries.ts'
import { changeMove, insertMove } from '../../../src/imports/import-records/moves/queries.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { write } from '../../../src/kernel/db/open.ts'
import type { World } from '../../support/world/panel.ts'
import { addImport } from '../record.ts'

type Ended = { sourceId: string; hostname: string; address: string; ownerId?: string } & (
  | { workloadId: string }
  | { failed: string }
  | { leftOut: true }
  | { ready: true }
)

/** Adds an import from Virtualizor with these servers; answers its id. The server 41 of it waits. */
export function addMigrated(p: World, servers: readonly Ended[]) {
  const { id, serverId } = addImport(p)
  p.db.$client.run("UPDATE imports SET kind = 'virtualizor', status = 'migrating', started_at = ? WHERE id = ?", [
    p.now(),
    id,
  ])
  const ids: Record<string, string> = { 41: serverId }
  for (const [position, one] of servers.entries()) {
    ids[one.sourceId] = newId('ims')
    write(p.db, (tx) => {
      insertServer(tx, {
        ...{ id: ids[one.sourceId]!, importId: id, sourceId: one.sourceId, identity: ids[one.sourceId]!, read: 1 },
        ...{ hostname: one.hostname, domain: `v${one.sourceId}`, hypervisorId: '3', packageId: '7' },
        ...{ ownerId: one.ownerId ?? '12', virtualization: 'kvm', isWindows: false, isSuspended: false },
        ...{ isInRescue: false, power: 'running', billingId: one.sourceId },
        state: 'leftOut' in one ? 'left_out' : 'ready',
        leftOutBy: 'leftOut' in one ? 'server' : null,
      })
      p.db.$client.run("INSERT INTO import_addresses VALUES (?, ?, ?, 4, NULL, 1, '5')", [
        id,
        ids[one.sourceId]!,
        one.address,
      ])
      if ('leftOut' in one || 'ready' in one) return
      insertMove(tx, {
        ...{ serverId: ids[one.sourceId]!, importId: id, hypervisorId: '3', position },
        ...{ state: 'moving', way: 'copy', method: 'plain' },
      })
      if ('failed' in one)
        return changeMove(tx, ids[one.sourceId]!, { state: 'failed', failure: 'pool_full', failureWords: one.failed })
      changeMove(tx, ids[one.sourceId]!, { state: 'moved', workloadId: one.workloadId, movedAt: p.now() })
      changeServer(tx, ids[one.sourceId]!, { workloadId: one.workloadId })
    })
  }
  return { id, ids }
}
