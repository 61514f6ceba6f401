import { type Static, Type as t } from 'typebox'
import { type Image, image, sourceOf } from '../../../catalog/images/model.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { refuseHostnameTaken } from '../../../fleet/workloads/reserve.ts'
import type { Actor } from '../../../kernel/api/actor.ts'
import { fields, namedSchema, operation, see } from '../../../kernel/api/operation.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { type Server, server, serverJob } from '../model.ts'
import { updateServer } from '../queries.ts'
import { mustAllowFor, refusalsOf } from '../state.ts'
import { settingUp } from './install.ts'
import {
  access,
  accessFrom,
  displayName,
  hostname,
  mustBePublished,
  mustFit,
  type RootPassword,
  rootPasswordFor,
} from './order.ts'

/** The access of setup and reinstallation. */
export const who = {
  staff: ['servers:reinstall'],
  reseller: ['servers:reinstall'],
  customer: ['servers:reinstall'],
} as const
/** The response of setup and reinstallation. */
export const installationStarted = namedSchema('InstallationStarted', {
  jobId: t.String(),
  serverId: t.String(),
  rootPassword: t.Optional(t.String()),
})

/** The published image of this id. Throws what `see` throws, `validation_failed` and `disk_too_small`. */
export function imageFor(tx: Tx, actor: Actor, target: Server, imageId: string): Image {
  const chosen = see(tx, actor, image, imageId, 'imageId')
  mustBePublished(chosen)
  mustFit(chosen, target.diskGb)
  return chosen
}

/** The input that setup and reinstallation have in common. SSH keys may be the owner's or the caller's. */
export const installationOf = (
  tx: Tx,
  actor: Actor,
  target: Server,
  chosen: Image,
  wanted: Static<typeof access>,
  password: RootPassword,
) => ({
  serverId: target.id,
  nodeId: target.nodeId,
  image: sourceOf(chosen),
  access: accessFrom(tx, [target.ownerId, actor.accountId], wanted, password),
})

export const setupServer = operation({
  id: 'servers.setup',
  method: 'POST',
  path: '/servers/{id}/actions/setup',
  summary: 'Choose image, hostname and access for a server that waits for its setup',
  access: who,
  on: server,
  body: fields({ imageId: t.String({ minLength: 1, maxLength: 40 }), hostname, name: t.Optional(displayName), access }),
  response: installationStarted,
  status: 202,
  idempotent: true,
  refuses: [...refusalsOf('setup'), 'server_busy', 'hostname_taken', 'disk_too_small'],
  example: { imageId: '<image_id>', hostname: 'web01', access: { mode: 'password' } },
  prepare: async ({ body }) => rootPasswordFor(body.access),
  run({ tx, actor, target, body, clock, prepared: password }) {
    // Errors of the request come before those that only the present state causes.
    const chosen = imageFor(tx, actor, target, body.imageId)
    const input = installationOf(tx, actor, target, chosen, body.access, password)
    mustAllowFor(tx, actor, target, 'setup')
    const host = body.hostname.toLowerCase()
    const about = serverJob(target, { by: actor, title: `Set up ${host}`, now: clock() })
    const jobId = startJob(tx, settingUp, input, about)
    try {
      changeWorkload(tx, target.id, {
        hostname: host,
        name: body.name ?? (target.name === target.hostname ? host : target.name),
        lifecycle: 'provisioning',
      })
      updateServer(tx, target.id, { imageId: chosen.id })
    } catch (error) {
      refuseHostnameTaken(error)
    }
    return { jobId, serverId: target.id, ...(password ? { rootPassword: password.tell } : {}) }
  },
})
