// The result of the checks of a server that has moved, in SQL and in TypeScript alike.
import type { ImportMove } from '../moves/tables.ts'

/** `waiting`: it was not checked yet. `accepted`: a person has said that it is fine. */
export const verificationResults = ['passed', 'accepted', 'open', 'waiting'] as const
export type VerificationResult = (typeof verificationResults)[number]

/** Of a row of `import_moves`: a check has not passed. */
export const hasOpenCheck = `EXISTS
  (SELECT 1 FROM json_each(import_moves.checks) c WHERE c.value ->> 'result' = 'open')`
/** Of a row of `import_moves` that has moved. */
export const resultOfChecks = `CASE WHEN accepted_at IS NOT NULL THEN 'accepted' WHEN checks IS NULL THEN 'waiting'
  WHEN ${hasOpenCheck} THEN 'open' ELSE 'passed' END`

/** The same as in SQL above. */
export function resultOf({ checks, acceptedAt }: Pick<ImportMove, 'checks' | 'acceptedAt'>): VerificationResult {
  if (acceptedAt !== null) return 'accepted'
  if (checks === null) return 'waiting'
  return checks.some((check) => check.result === 'open') ? 'open' : 'passed'
}
