// Keeps the names that each host serves as the records say. No change has to tell a host: a schedule finds the hosts
// whose names differ from those that they were told last.
import type { HttpNamesOfHost } from '../../../../agent/protocol/gpu.ts'
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { gpuImageById } from '../../../catalog/gpu-images/queries.ts'
import { changeHost, gpuHostOf, gpuHostRows } from '../../../fleet/gpus/queries.ts'
import { nodeById } from '../../../fleet/node-records/queries.ts'
import { system } from '../../../kernel/api/actor.ts'
import type { AppContext } from '../../../kernel/api/operation.ts'
import { minute } from '../../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../../kernel/db/open.ts'
import { isHeldByJob } from '../../../kernel/jobs/queries.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { load } from '../model.ts'
import { instancesOnNode } from '../queries.ts'
import { httpPortsOf } from './ports.ts'

/** A host that could not be told is told again after this long. */
const AGAIN_MS = 5 * minute

/** The names that a host shall serve: those of its instances that are not deleted. */
export function namesOfHost(tx: Db, nodeId: string): HttpNamesOfHost {
  const domain = gpuHostOf(tx, nodeId)?.httpDomain ?? null
  const instances = domain === null ? [] : instancesOnNode(tx, nodeId).map((id) => load(tx, id))
  const names = instances.flatMap((instance) =>
    httpPortsOf(instance, gpuImageById(tx, instance.imageId)!).map((port) => ({
      workload: instance.id,
      number: instance.number,
      port,
    })),
  )
  return { domain, names }
}

const fingerprintOf = (names: HttpNamesOfHost): string | null =>
  names.domain === null ? null : new Bun.CryptoHasher('sha256').update(JSON.stringify(names)).digest('hex')

export const settingHttpNames = saga<{ nodeId: string }>('gpu_http_names', {
  title: 'HTTP name update',
  forStaff: true,
  cancelWith: 'gpu:write',
})
  .record('choose', 'Choosing the names', {
    do: (tx, { input: { nodeId } }) => namesOfHost(tx, nodeId),
    undo(tx, { input: { nodeId }, now, error }) {
      changeHost(tx, nodeId, { httpProblem: error?.message.slice(0, 300) ?? '', httpAfter: now + AGAIN_MS })
    },
    undoAtOnce: true,
  })
  .command('tell', 'Telling its host', {
    do: ({ input: { nodeId }, out: { choose } }) => nodeCommand(nodeId, 'http-names.set', choose),
  })
  .record('note', 'Recording what it serves', {
    do(tx, { input: { nodeId }, out: { choose, tell } }) {
      const isStill = gpuHostOf(tx, nodeId)?.httpDomain === choose.domain
      changeHost(tx, nodeId, {
        httpApplied: fingerprintOf(choose),
        httpProblem: null,
        httpAfter: null,
        ...(isStill && { httpScheme: choose.domain === null ? null : tell.scheme }),
      })
    },
  })

const lockOf = (nodeId: string) => `Update HTTP names of ${nodeId}`

/** Starts the job that tells a host its names. */
export const startNames = (tx: Tx, nodeId: string, now: number): string =>
  startJob(
    tx,
    settingHttpNames,
    { nodeId },
    {
      by: system,
      title: `Update HTTP names of ${nodeById(tx, nodeId)?.name ?? nodeId}`,
      holds: lockOf(nodeId),
      subject: { type: 'node', id: nodeId },
      nodeId,
      now,
    },
  )

/** Tells the hosts that are connected and serve other names than they shall. */
export function tellHostsTheirNames(db: Db, { clock, nodes }: Pick<AppContext, 'clock' | 'nodes'>) {
  const now = clock()
  for (const { nodeId, httpDomain, httpApplied, httpAfter } of gpuHostRows(db)) {
    if ((httpDomain === null && httpApplied === null) || (httpAfter !== null && httpAfter > now)) continue
    if (!nodes.connected(nodeId) || isHeldByJob(db, lockOf(nodeId))) continue
    if (fingerprintOf(namesOfHost(db, nodeId)) !== httpApplied) write(db, (tx) => void startNames(tx, nodeId, now))
  }
}
