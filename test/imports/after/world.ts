// Imports with servers that have moved: they run on a node here, and are off at their source, which keeps their
// definitions.

import { eq } from 'drizzle-orm'
import type { SourceDisk } from '../../../agent/protocol/values/source-hosts.ts'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { GIB, volumeOf } from '../../../src/compute/server-vm/definition.ts'
import { changeMove, type ImportMove, insertMove } from '../../../src/imports/import-records/moves/queries.ts'
import { importServers } from '../../../src/imports/import-records/tables.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { type Decided, decided, dryRun, KVM_1 } from '../dry-run/world.ts'

export type Moved = Decided & { serverId: string; workloadId: string }
type Options = Parameters<typeof decided>[1] & {
  listed?: Parameters<typeof decided>[0]
  wasRunning?: boolean
  way?: 'copy' | 'adopt'
  /** Servers of the panel that have moved, by their ids there. */
  sourceIds?: readonly string[]
}

/** An import in which the first server, or those that are named, have moved. */
export async function moved({ listed, wasRunning = true, way = 'copy', sourceIds = ['1'], ...options }: Options = {}) {
  const p = await decided(listed, options)
  await dryRun(p)
  const made: { serverId: string; workloadId: string }[] = []
  for (const sourceId of sourceIds) made.push(await move(p, sourceId, { wasRunning, way }))
  p.db.$client.run("UPDATE imports SET status = 'verifying', started_at = ?, migrated_at = ? WHERE id = ?", [
    p.now(),
    p.now(),
    p.id,
  ])
  return Object.assign(p, made[0]!, { made })
}

/** A server that runs here in the place of one of the panel, which is off there. */
async function move(p: Decided, sourceId: string, { wasRunning, way }: { wasRunning: boolean; way: 'copy' | 'adopt' }) {
  const order = await p.admin('POST', '/admin/servers', { ...p.order, hostname: `server${sourceId}.here.test` })
  await p.settle()
  const workloadId: string = order.serverId
  if (!wasRunning) {
    await p.admin('POST', `/servers/${workloadId}/actions/power`, { action: 'off' })
    await p.settle()
  }
  const row = p.db.select().from(importServers).where(eq(importServers.sourceId, sourceId)).get()!
  const { nodeId } = p.server(workloadId)
  const host = way === 'adopt' ? null : { address: KVM_1, port: 22, hostKey: null }
  const there = { host, domain: row.domain! }
  const { definition, isPersistent } = await p.sources.moving.save(there)
  await p.sources.moving.stop(there, 0)
  const drive: SourceDisk = {
    ...({ path: '/var/lib/images/v1.qcow2', format: 'qcow2', holder: 'file' } as const),
    ...{ virtualBytes: 20 * GIB, backing: null },
  }
  if (way === 'adopt') {
    // Its disk here is the one from there.
    const { host } = p.node.agent
    const volume = volumeOf(p.server(workloadId), p.server(workloadId).diskGeneration!)
    await host.hypervisor.stop(workloadId, 0)
    await (await host.storage.answering(volume.pool)).remove(volume)
    const adopt = { domain: row.domain!, drive, volume, sizeBytes: 20 * GIB }
    await p.controller.hub.send(`test/${workloadId}`, nodeCommand(nodeId, 'source-host.adopt', adopt))
    if (wasRunning)
      await p.controller.hub.send(`test2/${workloadId}`, nodeCommand(nodeId, 'vm.start', { workload: workloadId }))
  }
  write(p.db, (tx) => {
    const move: Parameters<typeof insertMove>[1] = {
      serverId: row.id,
      importId: p.id,
      hypervisorId: row.hypervisorId,
      position: 1,
      way,
      method: 'plain',
      state: 'waiting',
      nodeId,
      workloadId,
      attempts: 1,
      definition,
      drive: { ...drive, bus: 'virtio', nicModel: 'virtio' },
      isPersistent,
      ...{ wasRunning, startedAt: p.now(), movedAt: p.now() },
    }
    insertMove(tx, move)
    changeMove(tx, row.id, { state: 'moved', whereItRuns: 'here' })
    tx.update(importServers).set({ workloadId }).where(eq(importServers.id, row.id)).run()
  })
  return { serverId: row.id, workloadId }
}

export const moveRow = (p: Decided, serverId: string): ImportMove =>
  p.db.$client.query('SELECT * FROM import_moves WHERE server_id = ?').get(serverId) as never

/** One turn of the clock for checks, and everything that it begins. */
export async function checkTurn(p: Decided) {
  const { app, hub } = p.controller
  app.importVerifications.turn(hub, p.db, app)
  await app.importVerifications.settled()
  await p.settle()
}
/** The server with its checks, as the list shows it. */
export const checked = async (p: Moved, serverId = p.serverId) =>
  (await p.admin('GET', `/admin/migrations/${p.id}/verification/servers?limit=200`)).data.find(
    (one: { id: string }) => one.id === serverId,
  )
export const at = (p: Pick<Moved, 'serverId'>, action: string, serverId = p.serverId) =>
  `/admin/migration-servers/${serverId}/${action}`
/** One turn of the clock for what is left on hypervisors. */
export async function cleanTurn(p: Decided) {
  const { app, hub } = p.controller
  app.sourceCleaner.turn(hub, p.db, app)
  await app.sourceCleaner.settled()
}
