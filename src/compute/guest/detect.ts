// Detect OS: staff ask the guest of a running server for its system now, beside the background (watch.ts).
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { operation } from '../../kernel/api/operation.ts'
import { hour } from '../../kernel/db/clock.ts'
import { CommandFailed } from '../../kernel/jobs/failures.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { jobResponse, server, serverJob } from '../server-records/model.ts'
import { noteSystem } from './queries.ts'
import { guestActions } from './states.ts'

export const detectOs = operation({
  id: 'servers.detect-os',
  method: 'POST',
  path: '/servers/{id}/actions/detect-os',
  summary: 'Detect the operating system of a running server: asks its guest agent',
  past: 'Detected the system',
  access: { staff: ['servers:settings'] },
  on: server,
  response: jobResponse,
  status: 202,
  refuses: [...guestActions.refusalsOf('detect_os'), 'server_busy'],
  run({ tx, actor, target, clock }) {
    guestActions.mustAllowFor(tx, actor, target, 'detect_os')
    const about = serverJob(target, { by: actor, title: `Detect the system of ${target.hostname}`, now: clock() })
    return {
      jobId: startJob(tx, detectingOs, { serverId: target.id, nodeId: target.nodeId }, about),
      serverId: target.id,
    }
  },
})

export const detectingOs = saga<{ serverId: string; nodeId: string }>('detect_os', {
  title: 'System detection',
  cancelWith: 'servers:settings',
})
  .command('look', 'Reading the system from its guest agent', {
    abandonable: true,
    do: ({ input }) => nodeCommand(input.nodeId, 'guest.look', { workload: input.serverId, script: false }),
  })
  .record('note', 'Recording its system', {
    do: (tx, { input, out, now, log }) => {
      const { system, fileSystems } = out.look
      if (!system) throw new CommandFailed('guest_agent_silent', 'No guest agent answers in the server.')
      log(`It runs ${[system.osName, system.osVersion].filter(Boolean).join(' ') || 'a system without a name'}.`)
      noteSystem(tx, input.serverId, { system, fileSystems }, now, now + 6 * hour)
    },
  })
