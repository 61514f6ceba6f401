// A volume moves: away from the server that has it, then to another one or to none. The first guest has to release it
// before the next one gets it, so that no two ever write it.
import { Type as t } from 'typebox'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { changeVolume, volumeById } from '../../fleet/volume-records/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation, see } from '../../kernel/api/operation.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { load, server, serverJob } from '../server-records/model.ts'
import { mustBeChangeable, mustHavePort, onNode, volume, volumeJob } from './model.ts'
import { volumeActions } from './states.ts'

const moved = namedSchema('VolumeMoved', {
  jobId: described(nullable(t.String()), 'Null: it is there already.'),
  volumeId: t.String(),
})

export const attachVolume = operation({
  id: 'volumes.attach',
  method: 'POST',
  path: '/volumes/{id}/actions/attach',
  summary:
    'Attach an extra volume to a server of its owner on the same machine; another one that has it loses it first',
  past: 'Attached a volume',
  access: everybody('servers:settings'),
  on: volume,
  body: fields({ serverId: t.String({ minLength: 1, maxLength: 40 }) }),
  response: moved,
  status: 202,
  idempotent: true,
  refuses: [
    ...volumeActions.refusalsOf('volume', 'detach_volume'),
    'server_busy',
    'volume_busy',
    'volume_lost',
    'volume_elsewhere',
    'limit_reached',
  ],
  example: { serverId: '<server_id>' },
  run({ tx, actor, target, body, clock }) {
    const to = see(tx, actor, server, body.serverId, 'serverId')
    // A volume does not leave its owner, also by staff who see all servers.
    if (to.ownerId !== target.ownerId || to.lifecycle === 'terminated')
      throw invalid({ field: 'serverId', message: `No such ${server.name}.` })
    mustBeChangeable(tx, actor, target)
    const { id: volumeId, nodeId, serverId: from, name } = target
    if (from === to.id) return { jobId: null, volumeId }
    volumeActions.mustAllowFor(tx, actor, to, 'volume')
    if (to.nodeId !== nodeId)
      throw new ApiError(
        'volume_elsewhere',
        `The volume ${name} is on another machine than ${to.hostname}, and a volume stays on its machine. Make a new ` +
          `volume for ${to.hostname}, and copy what is on this one.`,
      )
    if (from !== null) volumeActions.mustAllowFor(tx, actor, load(tx, from), 'detach_volume')
    mustHavePort(tx, to)
    const about = serverJob(to, { by: actor, title: `Attach volume ${name} to ${to.hostname}`, now: clock() })
    const jobId = startJob(tx, movingVolume, { volumeId, nodeId, from, to: to.id }, about)
    changeVolume(tx, volumeId, { jobId })
    return { jobId, volumeId }
  },
})

export const detachVolume = operation({
  id: 'volumes.detach',
  method: 'POST',
  path: '/volumes/{id}/actions/detach',
  summary: 'Detach an extra volume from its server; unmount it in the server first',
  past: 'Detached a volume',
  access: everybody('servers:settings'),
  on: volume,
  response: moved,
  status: 202,
  idempotent: true,
  refuses: [...volumeActions.refusalsOf('detach_volume'), 'volume_busy', 'volume_lost'],
  run({ tx, actor, target, clock }) {
    mustBeChangeable(tx, actor, target)
    const { id: volumeId, nodeId, serverId: from, name } = target
    if (from === null) return { jobId: null, volumeId }
    const server = load(tx, from)
    volumeActions.mustAllowFor(tx, actor, server, 'detach_volume')
    const title = `Detach volume ${name} from ${server.hostname}`
    const about = volumeJob(tx, target, { by: actor, title, now: clock() })
    const jobId = startJob(tx, movingVolume, { volumeId, nodeId, from, to: null }, about)
    changeVolume(tx, volumeId, { jobId })
    return { jobId, volumeId }
  },
})

type Moving = { volumeId: string; nodeId: string; from: string | null; to: string | null }

export const movingVolume = saga<Moving>('move_volume', { title: 'Volume attachment', cancelWith: 'servers:settings' })
  .record('plan', 'Preparing the move', {
    do: (tx, { input }) => ({ volume: onNode(volumeById(tx, input.volumeId)!) }),
    // Not before its node has undone the rest.
    undo: (tx, { input }) => changeVolume(tx, input.volumeId, { jobId: null }),
  })
  .command('detach', 'Taking it from the server that has it', {
    do: ({ input: { nodeId, from }, out: { plan } }) =>
      from === null ? undefined : nodeCommand(nodeId, 'volume.detach', { workload: from, volume: plan.volume }),
    undo: ({ input: { nodeId, from }, out: { plan } }) =>
      from === null ? undefined : nodeCommand(nodeId, 'volume.attach', { workload: from, volume: plan.volume }),
  })
  .record('free', 'Recording that none has it', {
    do: (tx, { input }) => changeVolume(tx, input.volumeId, { serverId: null }),
    // A server that was deleted meanwhile has given it up.
    undo: (tx, { input: { volumeId, from } }) =>
      changeVolume(tx, volumeId, { serverId: from !== null && load(tx, from).releasedAt === null ? from : null }),
  })
  .command('attach', 'Attaching it', {
    do: ({ input: { nodeId, to }, out: { plan } }) =>
      to === null ? undefined : nodeCommand(nodeId, 'volume.attach', { workload: to, volume: plan.volume }),
    undo: ({ input: { nodeId, to }, out: { plan } }) =>
      to === null ? undefined : nodeCommand(nodeId, 'volume.detach', { workload: to, volume: plan.volume }),
  })
  .record('note', 'Recording where it is', {
    do: (tx, { input: { volumeId, to } }) => {
      if (to !== null && load(tx, to).lifecycle === 'terminated')
        throw new ApiError('server_terminated', 'The server was terminated meanwhile.')
      changeVolume(tx, volumeId, { serverId: to, jobId: null, ...(to !== null && { lastServerId: to }) })
    },
  })
