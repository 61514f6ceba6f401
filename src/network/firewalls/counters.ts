import { jobResponse, server, serverKind } from '../../compute/server-records/model.ts'
import { everybody } from '../../kernel/api/access.ts'
import { operation } from '../../kernel/api/operation.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { counting } from './apply.ts'
import { firewallActions } from './states.ts'

export const countFirewall = operation({
  id: 'servers.count-firewall',
  method: 'POST',
  path: '/servers/{id}/firewall/actions/count',
  summary: 'Read the firewall counters of a server; its record has them once the node has answered',
  access: everybody('servers:read'),
  on: server,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: firewallActions.refusalsOf('count_firewall'),
  run({ tx, actor, target, clock }) {
    firewallActions.mustAllowFor(tx, actor, target, 'count_firewall')
    const jobId = startJob(
      tx,
      counting,
      { serverId: target.id, nodeId: target.nodeId },
      {
        by: actor,
        title: `Read firewall counters of ${target.hostname}`,
        now: clock(),
        nodeId: target.nodeId,
        subject: { type: serverKind.kind, id: target.id },
      },
    )
    return { jobId, serverId: target.id }
  },
})
