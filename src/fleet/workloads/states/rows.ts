// The rows of the state tables, as features declare them.
import type { ErrorTable } from '../../../kernel/api/errors.ts'
import type { Feature } from '../../../kernel/feature.ts'
import { workloadKindsOf } from '../kind.ts'
import type { DeclaredRows } from './table.ts'

declare module '../../../kernel/feature.ts' {
  interface FeatureFields {
    /** The rows of the feature's actions in the state tables of the kinds on which they act. */
    workloadActions?: readonly DeclaredRows[]
  }
}

/** The state table of a kind: the rows of every feature, by action. */
export const stateTableOf = (features: readonly Feature[], kind: string): DeclaredRows['rows'] =>
  Object.assign({}, ...rowsIn(features).flatMap((rows) => (rows.kind === kind ? [rows.rows] : [])))

const rowsIn = (features: readonly Feature[]) => features.flatMap(({ workloadActions = [] }) => workloadActions)

/**
 * Throws where rows belong to no kind, two features declare a row for the same action, or a row leaves a status open or
 * names a code or an obstacle that nobody declares.
 */
export function checkStates(features: readonly Feature[], errors: ErrorTable) {
  const kinds = new Set(workloadKindsOf({ features }).map(({ kind }) => kind))
  const taken = new Set<string>()
  for (const { kind, statuses, obstacles, rows } of rowsIn(features)) {
    if (!kinds.has(kind)) throw new Error(`there are rows of states for the kind ${kind}, which nobody declares`)
    for (const [action, { cells, refusedWhen }] of Object.entries(rows)) {
      const words = `the action ${action} of the kind ${kind}`
      if (taken.has(`${kind} ${action}`)) throw new Error(`two features declare ${words}`)
      taken.add(`${kind} ${action}`)
      for (const status of statuses)
        if (!Object.hasOwn(cells, status)) throw new Error(`${words} leaves ${status} open`)
      for (const [status, verdict] of Object.entries(cells)) {
        if (!statuses.includes(status)) throw new Error(`${words} decides ${status}, which is no status`)
        if (verdict !== 'allowed' && !Object.hasOwn(errors, verdict))
          throw new Error(`${words} is refused with ${verdict}, which nobody declares`)
      }
      for (const obstacle of refusedWhen)
        if (!obstacles.includes(obstacle)) throw new Error(`${words} names the obstacle ${obstacle}, which is none`)
    }
  }
}
