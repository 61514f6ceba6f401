import { AWAY_SHOWN_MS } from '../../fleet/nodes/model.ts'
import { areas } from '../../identity/account-records/areas.ts'
import { visible } from '../../identity/team/access.ts'
import { MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { iso } from '../../kernel/db/clock.ts'
import { serverKind } from '../server-records/model.ts'
import { attentionOf } from '../workloads/attention.ts'
import { serversByNode, waitingServerRows } from './queries.ts'

export const { failed: failedServers, crashed: crashedServers } = attentionOf(serverKind, {
  action: 'Open server',
  pageOf: (area, id) => `${area}/servers/${id}`,
  failed: ({ hostname, failure }) => ({
    what: `The installation of ${hostname} failed.`,
    effect: failure ?? 'Reinstall or terminate it.',
  }),
  crashed: { what: ({ hostname }) => `${hostname} ended unexpectedly`, restarted: 'It was started again each time.' },
})

/** One row for all servers of a node, which it does not name: customers do not see nodes. Staff see the node itself. */
export const awayServers: Source = ({ tx, actor, nodes, clock }) => {
  if (actor.kind === 'staff') return []
  const now = clock()
  return serversByNode(tx, visible(tx, actor))
    .filter((n) => !nodes.connected(n.nodeId) && now - n.seenAt > AWAY_SHOWN_MS)
    .map(({ n, id, hostname, seenAt }) => ({
      level: 'bad',
      what:
        n === 1
          ? `${hostname} cannot be reached by the panel.`
          : `${n} servers cannot be reached by the panel, ${hostname} among them.`,
      effect:
        `${n === 1 ? 'It keeps' : 'They keep'} running but cannot be changed until the connection is back. ` +
        'Your provider sees this too.',
      since: iso(seenAt),
      ...(n === 1
        ? { action: 'Open server', href: `${areas[actor.kind]}/servers/${id}` }
        : { action: 'Show servers', href: `${areas[actor.kind]}/servers` }),
    }))
}

/**
 * Servers that wait for the actor or for its provider; those in a reseller's care wait for the customer, not for the
 * reseller.
 */
export const waitingServers: Source = ({ tx, actor }) => {
  if (actor.kind === 'staff') return []
  return waitingServerRows(tx, visible(tx, actor), actor.accountId, MOST_SHOWN).map(
    ({ id, hostname, status, reason, createdAt }) => {
      const href = `${areas[actor.kind]}/servers/${id}`
      return status === 'suspended'
        ? {
            level: 'bad',
            what: `${hostname} is suspended.`,
            effect: `It is switched off and cannot be started. ${reasonWords(reason)}`,
            since: null,
            action: 'Open server',
            href,
          }
        : {
            level: 'warn',
            what: `${hostname} is waiting for its setup.`,
            effect: 'It runs once you have chosen what to install.',
            since: iso(createdAt),
            action: 'Set it up',
            href: `${href}#setup`,
          }
    },
  )
}

const reasonWords = (reason: string | null) =>
  reason ? `Reason: ${reason.replace(/\.$/, '')}.` : 'Ask your provider about it.'
