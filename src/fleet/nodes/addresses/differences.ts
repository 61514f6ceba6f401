// Addresses in use on a node that the database does not give to what uses them, in words.
import type { Db } from '../../../kernel/db/open.ts'
import { claimsOf } from '../../../network/ip-pools/claims.ts'
import type { Difference, Node } from '../../node-records/model.ts'
import { nodeById } from '../../node-records/queries.ts'
import { workloadById } from '../../workloads/queries.ts'
import { stayOn } from '../../workloads/stays/queries.ts'

/** An address that two have: for `nodeId`, its workload has it; for the database, `holder` has it. */
type Conflict = { address: string; nodeId: string; workloadId: string; holder: string }

/** The two servers and their nodes, in words. */
export function conflictWords(tx: Db, { address, nodeId, workloadId, holder }: Conflict): string {
  const [here, there] = [workloadById(tx, workloadId), workloadById(tx, holder)]
  const isKnown = here !== undefined && stayOn(tx, workloadId, nodeId) !== undefined
  const one = isKnown ? `${here.hostname} (${workloadId})` : workloadId
  const its = isKnown ? 'without a record of it' : 'which the records do not have'
  const other = `${there?.hostname ?? holder} (${holder})`
  return (
    `${address} is in use by two servers: by ${one} on ${nameOf(tx, nodeId)}, ${its}, and by ${other} on ` +
    `${there ? nameOf(tx, there.nodeId) : 'no node'}, to which the records give it.`
  )
}

/** One for each server of the node that has such addresses, and one for each address that two have. */
export function addressDifferences(tx: Db, { id: nodeId }: Pick<Node, 'id'>): Difference[] {
  const claims = claimsOf(tx, nodeId)
  const conflicts = claims.flatMap(({ holder, ...claim }) =>
    // One that runs here, and not where its record says, is a difference of its own.
    holder === null || holder === claim.workloadId ? [] : [{ ...claim, holder, nodeId }],
  )
  const held = Map.groupBy(
    claims.filter(({ holder }) => holder === null),
    ({ workloadId }) => workloadId,
  )
  return [
    ...conflicts.map(
      (conflict): Difference => ({
        kind: 'address_conflict',
        workloadId: conflict.workloadId,
        words: conflictWords(tx, conflict),
      }),
    ),
    ...[...held].map(
      ([workloadId, of]): Difference => ({
        kind: 'unknown_address',
        workloadId,
        words:
          `${workloadId} uses ${of.map(({ address }) => address).join(', ')}, which the records do not give to it. ` +
          'No order gets it while the node says so, unless staff frees it on the page of its pool.',
      }),
    ),
  ]
}

const nameOf = (tx: Db, nodeId: string): string => nodeById(tx, nodeId)?.name ?? nodeId
