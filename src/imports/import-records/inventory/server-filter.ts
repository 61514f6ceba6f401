// The filter of the lists of servers of an import.
import { oneOf, text, wholeNumber } from '../../../kernel/api/query.ts'
import { findingCodes } from '../checks/findings.ts'
import { type CheckResult, checkResults } from '../checks/tables.ts'
import { importServerStates } from '../tables.ts'
import type { ImportServerState, ServerFilter } from './queries.ts'

const yes = (description: string) => oneOf(['true'], description)
const sourceText = (description: string) => text(description, 400)
export const serverQuery = {
  state: oneOf(importServerStates, 'Only those in this state.'),
  hypervisorId: sourceText('Only those on this hypervisor of the other panel.'),
  packageId: sourceText('Only those of this package there.'),
  ownerId: sourceText('Only those of this owner there.'),
  rangeId: sourceText('Only those with an address in this range there.'),
  refusal: text('Only those that are refused for this reason.', 60),
  undecided: yes('Only those that wait for a decision.'),
  conflict: yes('Only those that something here or there stands against.'),
  result: oneOf(checkResults, 'Only those with this result of the dry run.'),
  finding: oneOf(findingCodes, 'Only those with this finding of the dry run.'),
  nodeId: text('Only those that would go to this node.', 60),
  awayOver: wholeNumber('Only those that would be away longer than so many seconds.', 0, { maximum: 10_000_000 }),
  q: text('Only those with this text in their name, domain or owner, or with this address or id.'),
}
/** A filter of the list as it was sent. */
export const filterFrom = (query: Readonly<Record<string, string | undefined>>): ServerFilter => ({
  ...(query as Omit<ServerFilter, 'undecided' | 'conflict' | 'state' | 'result' | 'awayOver'>),
  state: query['state'] as ImportServerState | undefined,
  undecided: query['undecided'] === 'true',
  conflict: query['conflict'] === 'true',
  result: query['result'] as CheckResult | undefined,
  awayOver: query['awayOver'] === undefined ? undefined : Number(query['awayOver']),
})
