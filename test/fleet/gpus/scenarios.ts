import { startCheck } from '../../../src/fleet/gpus/check.ts'
import { write } from '../../../src/kernel/db/open.ts'
import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { order, running } from '../../support/crash-matrix/servers.ts'
import { giveCard } from '../../support/nodes/gpus.ts'
import type { World } from '../../support/world/panel.ts'

function cardsIn(p: World): string {
  const sql = "SELECT group_concat(health || iif(check_after IS NULL, '', ' and waits'), ', ') AS all_ FROM gpu_cards"
  return p.db.$client.query<{ all_: string | null }, []>(sql).get()?.all_ ?? 'none'
}

export const measures: Measures = {
  /** The cards of the node: the result of the last check of each. */
  cards: cardsIn,
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'checking a card of a node',
    kind: 'check_cards',
    async before(p) {
      const id = await order(p)
      giveCard(p)
      return id
    },
    async start(p, serverId) {
      const jobId = write(p.db, (tx) => startCheck(tx, p.node.id, p.now()))
      return { jobId, serverId }
    },
    succeeds: { ...running, cards: 'passed' },
    fails: { ...running, cards: 'unchecked and waits' },
  },
]
