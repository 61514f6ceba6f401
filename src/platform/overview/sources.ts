// Everything that may need somebody's attention. Each source knows whom it concerns.

import { awayServers, failedServers, waitingServers } from '../../compute/servers/attention.ts'
import { nodesInTrouble, plainHttp } from '../../fleet/nodes/attention.ts'
import { lockedAccount } from '../../identity/accounts/attention.ts'
import { lockedCustomers, nearQuotas, suspendedReseller } from '../../identity/resellers/attention.ts'
import { endingTokens } from '../../identity/tokens/attention.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { emptyingPools } from '../../network/ip-pools/attention.ts'
import { fullHost } from '../host/attention.ts'
import { failedJobs, stuckJobs } from '../jobs/attention.ts'
import { unsentMails } from '../settings/attention.ts'
import { type Attention, type Source, worstFirst } from './attention.ts'

const sources: readonly Source[] = [
  lockedAccount,
  suspendedReseller,
  fullHost,
  nodesInTrouble,
  awayServers,
  stuckJobs,
  failedServers,
  failedJobs,
  waitingServers,
  emptyingPools,
  nearQuotas,
  lockedCustomers,
  unsentMails,
  plainHttp,
  endingTokens,
]

/** The worst first. */
export const needsAttention = (call: ReadContext): Attention[] => worstFirst(sources.flatMap((source) => source(call)))
