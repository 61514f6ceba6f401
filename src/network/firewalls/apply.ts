// The job that brings the firewall of a server to a node where it stays: its home, and a second one while it moves. It
// reads the firewall when it begins, and the node keeps the newest, so that jobs of several changes may end in any
// order. A node that is away gets it when it is back.
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { load, type Server, serverKind } from '../../compute/server-records/model.ts'
import { isGoneNode } from '../../fleet/node-records/queries.ts'
import { stayOn, staysOf } from '../../fleet/workloads/stays/queries.ts'
import { noteRules } from '../../fleet/workloads/stays/stays.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { forwardSaga, saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { policyOf } from '../firewall-records/policy.ts'
import { changeServerFirewall, keepReport, serversWith, sharedOn, takeShared } from '../firewall-records/queries.ts'

type Input = { serverId: string; nodeId: string }
type Start = { by: Actor; now: number }

/**
 * Counts a change of the server's firewall, and starts the job for each node where it stays. Answers that of its home;
 * null where the node has no vm of it: the installation brings the firewall.
 */
export function applyFirewall(tx: Tx, server: Server, { by, now }: Start): string | null {
  changeServerFirewall(tx, server.id, {})
  return send(tx, server, { by, now })
}

/** The same after `changeServerFirewall`, which counted the change. */
export function send(tx: Tx, server: Server, { by, now }: Start): string | null {
  const jobs = new Map<string, string>()
  for (const { nodeId } of staysOf(tx, server.id)) {
    if (!hasVmOn(tx, server, nodeId)) continue
    const about = { by, title: `Update firewall of ${server.hostname}`, now, nodeId }
    // It takes no lock: a firewall is closed at once, whatever else works on the server.
    const subject = { type: serverKind.kind, id: server.id }
    jobs.set(nodeId, startJob(tx, applying, { serverId: server.id, nodeId }, { ...about, subject }))
  }
  return jobs.get(server.nodeId) ?? null
}

/** Brings a shared firewall to every server that has it. */
export function applyShared(tx: Tx, firewallId: string, start: Start) {
  for (const id of serversWith(tx, firewallId)) applyFirewall(tx, load(tx, id), start)
}

/** For a server that changes its owner: it loses the shared firewalls, which are the old owner's. */
export function detachShared(tx: Tx, server: Server, start: Start): string | null {
  const shared = sharedOn(tx, server.id)
  for (const { id } of shared) takeShared(tx, id, [server.id])
  return shared.length ? applyFirewall(tx, server, start) : null
}

const hasVmOn = (tx: Tx, { lifecycle }: Server, nodeId: string) =>
  lifecycle !== 'pending_setup' && !isGoneNode(tx, nodeId)

export const applying = forwardSaga<Input>('firewall', { title: 'Firewall update' })
  .record('plan', 'Reading its rules', {
    do: (tx, { input: { serverId, nodeId } }) => {
      const server = load(tx, serverId)
      const isThere = stayOn(tx, serverId, nodeId) && hasVmOn(tx, server, nodeId)
      return { policy: isThere ? policyOf(tx, server) : null }
    },
  })
  .command('load', 'Loading them on its node', {
    do: ({ input: { serverId, nodeId }, out: { plan } }) =>
      plan.policy ? nodeCommand(nodeId, 'firewall.set-policy', { workload: serverId, policy: plan.policy }) : undefined,
  })
  .record('note', 'Recording it', {
    do: (tx, { input: { serverId, nodeId }, out: { plan } }) => {
      if (plan.policy) noteRules(tx, serverId, nodeId, plan.policy.revision)
    },
  })

export const counting = saga<Input>('firewall_counters', { title: 'Firewall count', cancelWith: 'servers:read' })
  .command('look', 'Reading its counters', {
    abandonable: true,
    do: ({ input: { serverId, nodeId } }) => nodeCommand(nodeId, 'firewall.look', { workload: serverId }),
  })
  .record('keep', 'Keeping the answer', {
    do: (tx, { input: { serverId }, out, now }) => keepReport(tx, serverId, out.look, now),
  })
