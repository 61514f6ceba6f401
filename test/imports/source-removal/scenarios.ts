// The software of another panel is removed from a node, and put back.
import type { Scenario } from '../../support/crash-matrix/scenario.ts'
import type { World } from '../../support/world/panel.ts'
import { world } from '../../support/world/panel.ts'
import { addImport } from '../record.ts'
import { giveAddresses } from '../world.ts'
import { adopt, finish } from './finished.ts'

const scope = { panel: 'virtualizor' as const, panelAddresses: [], controlKeys: [] }
const nodeOf = (p: World) => [...p.agents.keys()][0]!

async function finishedImport(p: World): Promise<string> {
  const { id } = addImport(p)
  p.db.$client.run("UPDATE imports SET kind = 'virtualizor' WHERE id = ?", [id])
  giveAddresses(p, { id: nodeOf(p) }, ['192.0.2.13/24'])
  adopt(p, id, nodeOf(p), '3')
  finish(p, id)
  await p.admin('POST', `/admin/migrations/${id}/source-removal`, { nodeId: nodeOf(p), choice: 'agent' })
  return id
}
const call = async (p: World, id: string, what: 'run' | 'restore') => {
  const { jobId } = await p.admin('POST', `/admin/migrations/${id}/source-removal/${what}`, { nodeId: nodeOf(p) })
  return { jobId, serverId: id }
}

/** The record here, and what is left on the node. */
const measure = async (p: World, id: string) => {
  const [agent] = [...p.agents.values()]
  const { items } = await agent!.host.sourceRemovals.look(scope)
  const row = p.db.$client
    .query('SELECT state, removal IS NOT NULL AS kept FROM source_removals WHERE import_id = ?')
    .get(id) as { state: string; kept: number }
  return { left: items.length > 0, state: row.state, canRestore: row.kept === 1 }
}
const there = { left: true, canRestore: false }
const gone = { left: false, state: 'removed', canRestore: true }

export const scenarios: readonly Scenario[] = [
  {
    name: 'removing the software of another panel from a node',
    kind: 'import_removal',
    open: world,
    before: finishedImport,
    start: (p, id) => call(p, id, 'run'),
    measure,
    succeeds: gone,
    fails: { ...there, state: 'failed' },
  },
  {
    name: 'putting the software of another panel back',
    kind: 'import_removal_restore',
    open: world,
    async before(p) {
      const id = await finishedImport(p)
      await call(p, id, 'run')
      await p.settle()
      return id
    },
    start: (p, id) => call(p, id, 'restore'),
    measure,
    succeeds: { ...there, state: 'restored' },
    // It may have come to its end on the node; what the next one finds there it leaves.
    fails: (end: { left: boolean }) => ({ left: end.left, state: 'failed', canRestore: true }),
  },
]
