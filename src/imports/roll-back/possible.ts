// Whether a server that has moved can go back to its source, and all that its way back needs.
import type { SourceDisk, SourceHost } from '../../../agent/protocol/values/source-hosts.ts'
import type { Volume } from '../../../agent/protocol/wire.ts'
import { load, type Server } from '../../compute/server-records/model.ts'
import { GIB, volumeOf } from '../../compute/server-vm/definition.ts'
import { snapshotsOf } from '../../compute/snapshot-records/queries.ts'
import { homeOf } from '../../fleet/workloads/stays/queries.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { nodesWithKeys } from '../import-records/clean-ups/queries.ts'
import { hypervisorRows, type ImportServer } from '../import-records/inventory/queries.ts'
import type { ImportMove } from '../import-records/moves/queries.ts'
import { sourceHost } from '../source-access/hosts.ts'
import { nodeName } from '../source-access/logins.ts'

/** The way of one server back. `isHere`: its disk is still here; otherwise it was terminated and deleted meanwhile. */
export type WayBack = {
  importId: string
  serverId: string
  workloadId: string
  /** Where it is now. */
  nodeId: string
  /** The node that reaches its source. */
  sourceNodeId: string
  /** Null: its source is that node itself. */
  host: SourceHost | null
  domain: string
  drive: SourceDisk | null
  volume: Volume | null
  rescue: Volume | null
  /** Of its disk here. */
  sizeBytes: number
  isAdopted: boolean
  isHere: boolean
  /** It runs at its source again at the end. */
  starts: boolean
}
type Found = { way: WayBack } | { reason: string }

/** The way back; `reason`: why there is none, as a sentence. */
export function wayBack(tx: Db, { nodes }: Pick<AppContext, 'nodes'>, server: ImportServer, move: ImportMove): Found {
  const row = hypervisorRows.find(tx, server.importId, move.hypervisorId)
  const host = row && sourceHost(tx, row)
  const here = load(tx, move.workloadId!)
  const isAdopted = move.way === 'adopt'
  if (!row || server.domain === null || (!isAdopted && !host))
    return { reason: 'Its hypervisor in the other panel is not known any more.' }
  const isHere = homeOf(tx, here.id) !== undefined && here.diskGeneration !== null
  const obstacle = isAdopted ? adoptedObstacle(tx, here, move, isHere) : undefined
  if (obstacle) return { reason: obstacle }
  return {
    way: {
      ...{ importId: server.importId, serverId: server.id, workloadId: here.id, nodeId: here.nodeId },
      sourceNodeId: isAdopted ? here.nodeId : signingIn(tx, nodes, move),
      host: isAdopted ? null : host!,
      domain: server.domain,
      drive: isAdopted ? driveOf(move) : null,
      volume: isHere ? volumeOf(here, here.diskGeneration!) : null,
      rescue: isHere && here.rescue ? volumeOf(here, here.rescue.generation) : null,
      sizeBytes: here.diskGb * GIB,
      ...{ isAdopted, isHere, starts: move.wasRunning ?? true },
    },
  }
}

/** The original disk of an adopted server is the one that it has here, so it has to be as it was taken. */
function adoptedObstacle(tx: Db, here: Server, move: ImportMove, isHere: boolean): string | undefined {
  if (!isHere) return 'It was terminated here, and its disk, which was the original one, is deleted.'
  if (here.nodeId !== move.nodeId)
    return `Its disk is the original one, and is on ${nodeName(tx, here.nodeId)} now. Move it back first.`
  if (snapshotsOf(tx, here.id).length) return 'Its disk is the original one, and has snapshots now. Delete them first.'
  return undefined
}
function driveOf({ drive }: ImportMove): SourceDisk | null {
  if (!drive) return null
  const { path, format, holder, virtualBytes, backing } = drive
  return { path, format, holder, virtualBytes, backing }
}

/** The node that copied it, or another one whose key is there, where that is away. */
function signingIn(tx: Db, nodes: AppContext['nodes'], { importId, hypervisorId, nodeId }: ImportMove): string {
  const others = nodesWithKeys(tx, importId, hypervisorId).filter(({ works }) => works)
  const known = [...new Set([nodeId!, ...others.map((one) => one.nodeId)])]
  return known.find((id) => nodes.connected(id)) ?? known[0]!
}
