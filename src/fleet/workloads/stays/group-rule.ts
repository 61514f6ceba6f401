// The rule of a placement group, for one of its workloads that goes to a node or looks for one.
import type { Db } from '../../../kernel/db/open.ts'
import type { GroupRule } from '../../placement/group-rule.ts'
import { groupOf, type PlacementGroup } from '../../placement-group-records/queries.ts'
import { type MemberStay, memberStays } from './queries.ts'

/**
 * The nodes to which a plan moves workloads, by workload. null: it goes where the others of its group go, so it keeps
 * none of them where it is.
 */
export type Planned = ReadonlyMap<string, string | null>

/**
 * The rule for a new workload of the group, or for `workloadId`, which is one of it. A member that moves is on both
 * nodes until it has left the first: either may be the one on which it stays.
 */
export function ruleOf(tx: Db, group: PlacementGroup, workloadId?: string, planned?: Planned): GroupRule {
  const follows = (stay: MemberStay) => group.policy === 'affinity' && planned?.get(stay.workloadId) === null
  const others = memberStays(tx, group.id)
    .filter((stay) => stay.workloadId !== workloadId && stay.role !== 'leaving' && !follows(stay))
    .map((stay) => ({ ...stay, nodeId: planned?.get(stay.workloadId) ?? stay.nodeId }))
  const members = new Set(others.map((stay) => stay.workloadId)).size
  const onNode = Map.groupBy(others, ({ nodeId }) => nodeId)
  return {
    name: group.name,
    hard: group.hard,
    nodeIds: group.policy === 'affinity' && members > 0 ? [...onNode.keys()] : undefined,
    brokenBy(nodeId) {
      const here = onNode.get(nodeId) ?? []
      if (group.policy === 'anti_affinity') return here[0] && `has ${here[0].hostname} of the group ${group.name}`
      return here.length === members ? undefined : `is not the node of the group ${group.name}`
    },
  }
}

/** The rule that binds a workload; undefined: it is in no group. */
export function ruleFor(tx: Db, workloadId: string, planned?: Planned): GroupRule | undefined {
  const group = groupOf(tx, workloadId)
  return group && ruleOf(tx, group, workloadId, planned)
}

export type { MemberStay }
