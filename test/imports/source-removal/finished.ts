// An import that is finished, with a node on which it has adopted servers.
import { changeServer } from '../../../src/imports/import-records/inventory/queries.ts'
import { insertMove } from '../../../src/imports/import-records/moves/queries.ts'
import { changeImport } from '../../../src/imports/import-records/queries.ts'
import { importServers } from '../../../src/imports/import-records/tables.ts'
import { write } from '../../../src/kernel/db/open.ts'
import type { World } from '../../support/world/panel.ts'
import type { Listed } from '../panel-in-memory.ts'
import { begin, discovered, giveAddresses, type Importing, map, open, settled } from '../world.ts'

type Options = { kind?: 'solusvm2' | 'virtualizor'; listed?: Partial<Listed>; nodes?: number }

/** Marks servers of the hypervisor as adopted on the node; answers how many. `stay`: so many stay at the source. */
export function adopt(p: World, importId: string, nodeId: string, hypervisorId = '1', stay = 0): number {
  return write(p.db, (tx) => {
    const rows = tx.select().from(importServers).all()
    const moving = rows.filter((row) => row.importId === importId && row.hypervisorId === hypervisorId)
    const moved = moving.slice(0, moving.length - stay)
    for (const [position, { id }] of moved.entries()) {
      insertMove(tx, {
        ...{ serverId: id, importId, hypervisorId, position, state: 'moved', way: 'adopt', method: 'plain' },
        ...{ nodeId, whereItRuns: 'here', movedAt: p.now() },
      })
      changeServer(tx, id, { state: 'moved' })
    }
    return moved.length
  })
}
export const finish = (p: World, id: string) =>
  write(p.db, (tx) =>
    changeImport(tx, id, { status: 'finished', endedAt: p.now(), encryptedCredentials: null, startedAt: p.now() }),
  )

/** `nodes`: one for each of the first hypervisors of the list. */
export async function finished({ kind = 'virtualizor', listed, nodes = 1 }: Options = {}) {
  const p: Importing = await open(listed)
  const id = await begin(p, { kind })
  await discovered(p, id)
  const adopting = []
  for (let n = 1; n <= nodes; n++) {
    const node = n === 1 ? p.node : p.addNode(p.location, `hel-v${n}`)
    giveAddresses(p, node, [`192.0.2.${10 + n}/24`])
    adopting.push(node)
  }
  const { data } = await p.admin('GET', `/admin/migrations/${id}/mapping/hypervisors`)
  const rows = (data as { sourceId: string }[]).slice(0, nodes).map(({ sourceId }) => ({ sourceId, choice: 'adopt' }))
  await map(p, id, { hypervisors: rows })
  await settled(p, id)
  for (const [n, node] of adopting.entries()) adopt(p, id, node.id, String(n + 1))
  finish(p, id)
  return Object.assign(p, { id, adopting, path: `/admin/migrations/${id}/source-removal` })
}
export type Finished = Awaited<ReturnType<typeof finished>>

export const look = async (p: Finished, nodeId = p.node.id) =>
  (await p.admin('GET', p.path)).nodes.find(({ node }: { node: { id: string } }) => node.id === nodeId)
export const choose = (p: Finished, choice: 'keep' | 'agent' | 'manual', nodeId = p.node.id) =>
  p.admin('POST', p.path, { nodeId, choice })
/** Runs the removal, or `restore`, to its end; answers its job. */
export async function ran(p: Finished, what: 'run' | 'restore' = 'run', nodeId = p.node.id) {
  const { jobId } = await p.admin('POST', `${p.path}/${what}`, { nodeId })
  await p.settle()
  return p.job(jobId)
}
