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
