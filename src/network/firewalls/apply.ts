// The job that brings the firewall of a server to its node. It reads the firewall when it begins, and the node keeps
// the newest, so that jobs of several changes may end in any order. A node that is away gets it when it is back.
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { load, type Server, serverKind } from '../../compute/servers/model.ts'
import { isGoneNode } from '../../fleet/node-records/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { forwardSaga, saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { policyOf } from '../firewall-records/policy.ts'
import {
  changeServerFirewall,
  keepReport,
  noteApplied,
  serversWith,
  sharedOn,
  takeShared,
} from '../firewall-records/queries.ts'

type Input = { serverId: string; nodeId: string }
type Start = { by: Actor; now: number }

/**
 * Counts a change of the server's firewall, and starts the job for its node. Answers null where the node has no vm of
 * it: the installation brings the firewall.
 */
export function applyFirewall(tx: Tx, server: Server, { by, now }: Start): string | null {
  changeServerFirewall(tx, server.id, {})
  return send(tx, server, { by, now })
}

/** The same after `changeServerFirewall`, which counted the change. */
export function send(tx: Tx, server: Server, { by, now }: Start): string | null {
  if (!hasVm(tx, server)) return null
  return startJob(
    tx,
    applying,
    { serverId: server.id, nodeId: server.nodeId },
    {
      by,
      title: `Firewall of ${server.hostname}`,
      now,
      nodeId: server.nodeId,
      // It takes no lock: a firewall is closed at once, whatever else works on the server.
      subject: { type: serverKind.kind, id: server.id },
    },
  )
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

const hasVm = (tx: Tx, { lifecycle, releasedAt, nodeId }: Server) =>
  lifecycle !== 'pending_setup' && releasedAt === null && !isGoneNode(tx, nodeId)

export const applying = forwardSaga<Input>('firewall')
  .record('plan', 'Reading its rules', {
    do: (tx, { input: { serverId } }) => {
      const server = load(tx, serverId)
      return { policy: hasVm(tx, server) ? policyOf(tx, server) : null }
    },
  })
  .command('load', 'Loading them on its node', {
    do: ({ input: { serverId, nodeId }, out: { plan } }) =>
      plan.policy ? nodeCommand(nodeId, 'firewall.set-policy', { workload: serverId, policy: plan.policy }) : undefined,
  })
  .record('note', 'Recording it', {
    do: (tx, { input: { serverId }, out: { plan } }) => {
      if (plan.policy) noteApplied(tx, serverId, plan.policy.revision)
    },
  })

export const counting = saga<Input>('firewall_counters', { cancelWith: 'servers:read' })
  .command('look', 'Reading its counters', {
    abandonable: true,
    do: ({ input: { serverId, nodeId } }) => nodeCommand(nodeId, 'firewall.look', { workload: serverId }),
  })
  .record('keep', 'Keeping the answer', {
    do: (tx, { input: { serverId }, out, now }) => keepReport(tx, serverId, out.look, now),
  })
