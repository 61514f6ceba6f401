import { definitionOnNode } from '../../support/crash-matrix/fake-node.ts'
import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { order, running } from '../../support/crash-matrix/servers.ts'
import type { World } from '../../support/world/panel.ts'

function cpuOf(p: World, id: string): string {
  const sql = 'SELECT cpu_model AS model, cpu_pending AS pending FROM servers WHERE id = ?'
  const recorded = p.db.$client.query<{ model: string | null; pending: number }, [string]>(sql).get(id)
  return `${recorded?.model} ${recorded?.pending} ${definitionOnNode(p, id)?.['cpuModel'] ?? null}`
}

export const measures: Measures = {
  /** By the record, whether it waits for its next start, and in the definition on the node. */
  cpu: cpuOf,
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'giving a running server the CPU model of its location',
    kind: 'cpu_model',
    async before(p) {
      const id = await order(p)
      const models = JSON.stringify(['Westmere'])
      p.db.$client.run("UPDATE nodes SET facts = json_set(facts, '$.cpuModels', json(?))", [models])
      await p.admin('PUT', `/admin/node-groups/${p.location}/cpu-baseline`, { model: 'Westmere' })
      return id
    },
    async start(p, id) {
      const path = `/admin/node-groups/${p.location}/actions/adopt-cpu-baseline`
      return (await p.admin('POST', path, { serverIds: [id] })).servers[0]
    },
    succeeds: { ...running, cpu: 'Westmere 1 Westmere' },
    fails: { ...running, cpu: 'null 0 null' },
  },
]
