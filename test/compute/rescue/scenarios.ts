import { generationOnNode } from '../../support/crash-matrix/fake-node.ts'
import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { act, built, first, order, there } from '../../support/crash-matrix/servers.ts'
import type { World } from '../../support/world/panel.ts'

/** A server of which the image of the world is also the rescue image. */
async function orderWithRescue(p: World) {
  await p.admin('PATCH', `/admin/images/${p.image}`, { isRescue: true })
  return order(p)
}
async function rescued(p: World) {
  const id = await orderWithRescue(p)
  await act('rescue')(p, id)
  await p.settle()
  return id
}
const none = { onNode: null, inUse: null }
/** The rescue disk beside the server's own. */
const inRescue = {
  ...there,
  volumes: 2,
  spareDiskGb: 1,
  disk: first,
  rescue: { onNode: 2, inUse: 2 },
  status: 'running',
  power: 'running',
}

function rescueOf(p: World, id: string): number | null {
  const sql = "SELECT rescue ->> '$.generation' AS n FROM servers WHERE id = ?"
  return p.db.$client.query<{ n: number | null }, [string]>(sql).get(id)?.n ?? null
}

export const measures: Measures = {
  /** Generations of the disk of the rescue system: in the definition on the node, and of the one that it is in. */
  rescue: (p, id) => ({ onNode: generationOnNode(p, id, 'rescue'), inUse: rescueOf(p, id) }),
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'booting the rescue system',
    kind: 'rescue',
    before: orderWithRescue,
    start: act('rescue'),
    succeeds: { ...inRescue, events: built },
    fails: { ...there, disk: first, rescue: none, status: 'running', power: 'running', events: built },
  },
  {
    name: 'leaving rescue',
    kind: 'exit_rescue',
    before: rescued,
    start: act('rescue/exit'),
    succeeds: { ...there, disk: first, rescue: none, status: 'running', power: 'running', events: built },
    fails: { ...inRescue, events: built },
  },
]
