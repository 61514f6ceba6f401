// The state of node and panel in a form that two runs can be compared by: a job must end in the same state after every
// crash.
import { addressLedgerFaults } from '../ledger.ts'
import { stayFaults } from '../nodes/stays.ts'
import type { World } from '../world/panel.ts'
import { measures } from './every-scenario.ts'

/**
 * Every measure by its name. `id` is the workload that the job was about. Throws where the ledger of addresses does not
 * say who has each extra and floating address, and where stays do not add up.
 */
export async function invariants(p: World, id: string): Promise<Record<string, any>> {
  const faults = [...addressLedgerFaults(p.db), ...stayFaults(p.db)]
  if (faults.length) throw new Error(faults.join('\n'))
  const measured: Record<string, unknown> = {}
  for (const [name, measure] of Object.entries(measures)) measured[name] = await measure(p, id)
  return measured
}
