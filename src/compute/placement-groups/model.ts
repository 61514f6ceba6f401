// A placement group: servers of one owner that are to be on one node, or each on a node of its own. Its owner sees
// whether the rule holds; staff also see on which nodes its servers are, and which move would mend it.
import { Type as t } from 'typebox'
import { locationOf, locationReferred } from '../../fleet/locations/reference.ts'
import { nodeById } from '../../fleet/node-records/queries.ts'
import { groupPolicies, type PlacementGroup } from '../../fleet/placement-group-records/model.ts'
import { workloadById } from '../../fleet/workloads/queries.ts'
import { type MemberStay, memberStays } from '../../fleet/workloads/stays/queries.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { roleNames } from '../../identity/team/role.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { type AppContext, described, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { count } from '../../kernel/words.ts'
import { groupAccess } from '../ordered-group.ts'
import { load, type Server, serverKind } from '../server-records/model.ts'
import { fits, judgeNodes } from '../transfers/nodes.ts'

export const MOST_GROUPS = 50
export const MOST_MEMBERS = 50

const named = t.Object({ id: t.String(), name: t.String() })
const accessField = t.Enum(['own', ...roleNames])
export const groupResponse = namedSchema('PlacementGroup', {
  id: t.String(),
  name: t.String(),
  policy: described(
    t.Enum([...groupPolicies]),
    'affinity: its servers are on one node. anti_affinity: each is on a node of its own.',
  ),
  hard: described(
    t.Boolean(),
    'Orders and moves that break the rule are refused; otherwise a node that keeps it comes first.',
  ),
  owner: named,
  members: t.Array(
    t.Object({
      kind: t.Enum(['server', 'gpu_instance']),
      server: described(t.Object({ id: t.String(), hostname: t.String() }), 'Or the GPU instance, as `kind` says.'),
      location: locationReferred,
      node: described(nullable(named), 'Staff only. While it moves, the node on which it still runs.'),
      misplaced: described(t.Boolean(), 'It breaks the rule with another one.'),
    }),
  ),
  violation: described(nullable(t.String()), 'How the rule is broken now, in words; null: it is kept.'),
  suggestion: described(
    nullable(t.Object({ server: t.Object({ id: t.String(), hostname: t.String() }), to: named })),
    'A move that mends it, or a part of it. Staff only; null where nothing is broken or no node fits.',
  ),
  access: described(accessField, 'own, or the role in the team of its owner.'),
  createdAt: time,
})

/** The homes of the servers of a group: of each the node on which it runs. */
const homesOf = (tx: Db, { id }: PlacementGroup) => memberStays(tx, id).filter(({ role }) => role === 'home')

/** The servers that share a node; of a group that is to be together, those that are not where most are. */
function misplacedOf({ policy }: PlacementGroup, homes: readonly MemberStay[]): MemberStay[] {
  const byNode = [...Map.groupBy(homes, ({ nodeId }) => nodeId).values()]
  if (policy === 'anti_affinity') return byNode.flatMap((together) => (together.length > 1 ? together : []))
  const most = byNode.reduce((best, one) => (one.length > best.length ? one : best), byNode[0] ?? [])
  return byNode.filter((one) => one !== most).flat()
}

function violationOf({ policy }: PlacementGroup, homes: readonly MemberStay[], misplaced: readonly MemberStay[]) {
  if (!misplaced.length) return null
  const of = `${misplaced.length} of ${count(homes.length, 'server', 'servers')}`
  if (policy === 'affinity')
    return misplaced.length === 1 ? `${of} is on another node: move it.` : `${of} are elsewhere: move them.`
  const shared = new Set(misplaced.map(({ nodeId }) => nodeId)).size
  const toMove = misplaced.length - shared
  const where = shared === 1 ? 'a node' : `${shared} nodes`
  return `${of} share ${where}: move ${toMove === 1 ? 'one' : toMove}.`
}

/** How the rule of a group is broken now; undefined: it is kept. */
export function brokenRule(tx: Db, group: PlacementGroup) {
  const homes = homesOf(tx, group)
  const misplaced = misplacedOf(group, homes)
  const words = violationOf(group, homes, misplaced)
  return words === null ? undefined : { words, misplaced }
}

type Showing = Pick<AppContext, 'nodes'> & { tx: Db; actor: Actor }
/** The first move that mends a part of it. */
export function mendingMove({ tx, nodes }: Omit<Showing, 'actor'>, misplaced: readonly MemberStay[]) {
  for (const { workloadId, kind } of misplaced) {
    if (kind !== serverKind.kind) continue
    const server: Server = load(tx, workloadId)
    const to = judgeNodes(tx, nodes, server).find((node) => fits(node) && node.broken === undefined)
    if (to) return { server: { id: server.id, hostname: server.hostname }, to: { id: to.nodeId, name: to.name } }
  }
  return null
}

export function showGroup(call: Showing, group: PlacementGroup) {
  const { tx, actor } = call
  const homes = homesOf(tx, group)
  const broken = brokenRule(tx, group)
  const misplaced = new Set(broken?.misplaced.map(({ workloadId }) => workloadId))
  const isStaff = actor.kind === 'staff'
  return {
    id: group.id,
    name: group.name,
    policy: group.policy,
    hard: group.hard,
    owner: { id: group.ownerId, name: accountById(tx, group.ownerId)?.name ?? '' },
    members: homes.map(({ workloadId, hostname, nodeId, kind }) => ({
      kind: kind === serverKind.kind ? ('server' as const) : ('gpu_instance' as const),
      server: { id: workloadId, hostname },
      location: locationOf(tx, workloadById(tx, workloadId)!),
      node: isStaff ? { id: nodeId, name: nodeById(tx, nodeId)?.name ?? '' } : null,
      misplaced: misplaced.has(workloadId),
    })),
    violation: broken?.words ?? null,
    suggestion: isStaff && broken ? mendingMove(call, broken.misplaced) : null,
    access: groupAccess(tx, actor, group)!,
    createdAt: iso(group.createdAt),
  }
}
