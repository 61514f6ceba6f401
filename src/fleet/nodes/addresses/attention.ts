import { mayCall, type ReadContext } from '../../../kernel/api/operation.ts'
import { type Attention, MOST_SHOWN, type Source } from '../../../kernel/attention.ts'
import { count } from '../../../kernel/words.ts'
import { awaitedWithPools } from '../../../network/ip-pools/awaited.ts'
import { conflictingClaims } from '../../../network/ip-pools/claims.ts'
import { nodeById } from '../../node-records/queries.ts'
import { workloadById } from '../../workloads/queries.ts'
import { listNodes } from '../nodes.ts'
import { conflictWords } from './differences.ts'

/** So many nodes are named in a sentence. */
const MOST_NAMED = 5

/** Nodes that keep pools from giving addresses since the database was put in place of another one. */
export const awaitedNodes: Source = (call) => {
  if (!mayCall(listNodes, call.actor)) return []
  const awaited = awaitedWithPools(call.tx).map(({ id }) => id)
  const connected = awaited.filter((id) => call.nodes.connected(id))
  return [
    ...awaits(
      call,
      awaited.filter((id) => !connected.includes(id)),
      'A node tells it by itself when it connects. Declare lost one that does not come back; if it is sure that no ' +
        'order was lost on one, its page takes orders without it.',
    ),
    ...awaits(
      call,
      connected,
      'Where a node is connected, this takes seconds. If it lasts, update its agent, and look at what its page lists ' +
        'under Differences.',
    ),
  ]
}

function awaits({ tx }: ReadContext, ids: readonly string[], hint: string): Attention[] {
  const [first] = ids
  if (first === undefined) return []
  const names = ids.slice(0, MOST_NAMED).map((id) => nodeById(tx, id)?.name ?? id)
  const more = ids.length - names.length
  const all = [...names, ...(more > 0 ? [count(more, 'more node')] : [])]
  return [
    {
      level: 'bad',
      what: `Orders wait for ${all.length > 1 ? `${all.slice(0, -1).join(', ')} and ${all.at(-1)}` : all[0]}.`,
      effect:
        'The database was restored, and since then it was not told which addresses are in use there. Until then the ' +
        `pools that are routed there give no addresses. ${hint}`,
      since: null,
      action: ids.length > 1 ? 'Show nodes' : 'Open node',
      href: ids.length > 1 ? '/admin/nodes' : `/admin/nodes/${first}`,
    },
  ]
}

/** Addresses that two servers have, as one of the nodes says. */
export const addressConflicts: Source = ({ tx, actor }) => {
  if (!mayCall(listNodes, actor)) return []
  return conflictingClaims(tx, MOST_SHOWN).flatMap(({ holder, ...claim }): Attention[] =>
    holder === null
      ? []
      : [
          {
            level: 'bad',
            what: conflictWords(tx, { ...claim, holder }),
            effect:
              'Connections reach one of the two by chance. Find out who owns the first one. Then give the second one ' +
              'another address, or shut the first one down on its node (virsh shutdown).',
            since: null,
            action: 'Show differences',
            href: `/admin/nodes/${claim.nodeId}#differences`,
          },
        ],
  )
}

/** Servers that another node runs than their home by the records of a restored database. */
export const strayWorkloads: Source = ({ tx, actor, nodes }) =>
  !mayCall(listNodes, actor)
    ? []
    : nodes
        .strays()
        .slice(0, MOST_SHOWN)
        .map(({ workloadId, nodeId }): Attention => {
          const workload = workloadById(tx, workloadId)!
          const [there, home] = [nodeId, workload.nodeId].map((id) => nodeById(tx, id)?.name ?? id)
          return {
            level: 'bad',
            what: `${workload.hostname} runs on ${there}, and the restored records say that it is on ${home}.`,
            effect:
              'It may have moved after the state that was restored: then its only disk is there. It is not started ' +
              `while ${there} runs it. Say that it is there, or restore a later state.`,
            since: null,
            action: 'Decide where it is',
            href: `/admin/servers/${workloadId}/elsewhere`,
          }
        })
