import { AWAY_SHOWN_MS } from '../../fleet/nodes/model.ts'
import { areas } from '../../kernel/api/access.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import { MOST_SHOWN, type Source } from '../../platform/overview/attention.ts'
import { visible } from '../workloads/access.ts'
import { statusIs, statusSql } from '../workloads/status.ts'

/** `seen`: over `workloads w`, those that the actor sees, shared ones too. */
function rows<Row>({ tx, actor }: ReadContext, sql: (seen: string) => string, ...more: string[]): Row[] {
  const { where, values } = visible(tx, actor)
  return tx.$client.query<Row, any[]>(sql(where)).all(...values, ...more)
}

export const failedServers: Source = (call) =>
  rows<{ id: string; hostname: string; failure: string | null }>(
    call,
    (seen) =>
      `SELECT w.id, w.hostname, w.failure FROM workloads w WHERE w.kind = 'server' AND ${seen} AND ${statusIs.failed}
       ORDER BY w.id DESC LIMIT ${MOST_SHOWN}`,
  ).map(({ id, hostname, failure }) => ({
    level: 'bad',
    what: `The installation of ${hostname} failed.`,
    effect: failure ?? 'Reinstall or terminate it.',
    since: null,
    action: 'Open server',
    href: `${areas[call.actor.kind]}/servers/${id}`,
  }))

/** One row however many servers stand there: which node it is, is the provider's business. Staff are told of the node. */
export const awayServers: Source = (call) => {
  const { actor } = call
  if (actor.kind === 'staff') return []
  const now = call.clock()
  return rows<{ nodeId: string; seenAt: number; n: number; id: string; hostname: string }>(
    call,
    (seen) =>
      `SELECT w.node_id AS nodeId, n.seen_at AS seenAt, count(*) AS n, min(w.id) AS id, w.hostname
       FROM workloads w JOIN nodes n ON n.id = w.node_id WHERE w.kind = 'server' AND ${seen} GROUP BY w.node_id`,
  )
    .filter((n) => !call.nodes.connected(n.nodeId) && now - n.seenAt > AWAY_SHOWN_MS)
    .map(({ n, id, hostname, seenAt }) => ({
      level: 'bad',
      what:
        n === 1
          ? `${hostname} cannot be reached by the panel.`
          : `${n} servers cannot be reached by the panel, ${hostname} among them.`,
      effect: `${n === 1 ? 'It keeps' : 'They keep'} running but cannot be changed until the connection is back. Your provider sees this too.`,
      since: iso(seenAt),
      ...(n === 1
        ? { action: 'Open server', href: `${areas[actor.kind]}/servers/${id}` }
        : { action: 'Show servers', href: `${areas[actor.kind]}/servers` }),
    }))
}

/** Waiting for their holder, or for the provider. Those in a reseller's care wait for somebody else than the reseller. */
export const waitingServers: Source = (call) => {
  const { actor } = call
  if (actor.kind === 'staff') return []
  return rows<{ id: string; hostname: string; status: 'suspended' | 'pending_setup'; createdAt: number }>(
    call,
    (seen) =>
      `SELECT w.id, w.hostname, ${statusSql} AS status, w.created_at AS createdAt FROM workloads w
       WHERE w.kind = 'server' AND ${seen} AND (${statusIs.suspended} OR ${statusIs.pending_setup}) AND w.reseller_id IS NOT ?
       ORDER BY w.id DESC LIMIT ${MOST_SHOWN}`,
    actor.accountId,
  ).map(({ id, hostname, status, createdAt }) => {
    const href = `${areas[actor.kind]}/servers/${id}`
    return status === 'suspended'
      ? {
          level: 'bad',
          what: `${hostname} is suspended.`,
          effect: 'It is switched off and cannot be started. Ask your provider about it.',
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
  })
}
