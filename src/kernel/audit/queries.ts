import { reference } from '../db/reference.ts'
import { audit } from './tables.ts'

/** The product's view of the log is the feature platform/audit: it reads every column but the chain's. */
export const auditReference = reference(audit, [
  'at',
  'actorId',
  'actorName',
  'via',
  'operation',
  'target',
  'from',
  'requestId',
  'result',
  'details',
  'changes',
  'jobId',
])

/** How many lines fit a condition over `operation` and `result`, which follows: triggers keep it. */
export const linesCounted = (as: string) => `SELECT coalesce(sum(${as}.lines), 0) AS n FROM audit_counts ${as}`
