import { mayCall, type ReadContext } from '../../../kernel/api/operation.ts'
import { type Attention, MOST_SHOWN, type Source } from '../../../kernel/attention.ts'
import { count } from '../../../kernel/words.ts'
import { awaitedWithPools } from '../../../network/ip-pools/awaited.ts'
import { conflictingClaims } from '../../../network/ip-pools/claims.ts'
import { listNodes } from '../nodes.ts'
import { nodeById } from '../queries.ts'
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
      'They tell it by themselves when they connect. Declare lost a node that does not come back; if it is sure that ' +
        'no order was lost on one, its page takes orders without it.',
    ),
    ...awaits(
      call,
      connected,
      'They are connected: this takes seconds. If it lasts, update their agents, and look at what their pages list ' +
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
        'The database was restored, and these nodes have not told since which addresses are in use on them. Until ' +
        `then the pools that they route give no addresses. ${hint}`,
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
