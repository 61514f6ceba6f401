import { type Static, Type as t } from 'typebox'
import { hardwareOf } from '../../catalog/images/hardware.ts'
import { type Image, sourceOf } from '../../catalog/images/model.ts'
import { refuseImage, runsOn } from '../../fleet/placement/hardware.ts'
import { changeWorkload } from '../../fleet/workloads/queries.ts'
import { refuseHostnameTaken } from '../../fleet/workloads/reserve.ts'
import { everybody } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { fields, namedSchema, operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { type Server, server, serverJob } from '../server-records/model.ts'
import { updateServer } from '../server-records/queries.ts'
import type { RootPassword } from '../server-vm/root-password.ts'
import { displayName } from '../workloads/acting.ts'
import { settingUp } from './install.ts'
import {
  access,
  accessFrom,
  accessOn,
  type FirstBootBody,
  firstBootFields,
  firstBootFrom,
  hostname,
  imageOf,
  mustFit,
  mustSuit,
  rootPasswordFor,
} from './order.ts'
import { installationActions } from './states.ts'

/** The access of setup and reinstallation. */
export const who = everybody('servers:reinstall')
/** The response of setup and reinstallation. */
export const installationStarted = namedSchema('InstallationStarted', {
  jobId: t.String(),
  serverId: t.String(),
  rootPassword: t.Optional(t.String()),
})

/**
 * The image of this id, published or own. Throws what `see` throws, `validation_failed`, `disk_too_small`,
 * `image_not_supported`.
 */
export function imageFor(tx: Tx, actor: Actor, target: Server, imageId: string): Image {
  const chosen = imageOf(tx, actor, [target.ownerId, actor.accountId], imageId)
  mustFit(chosen, target.diskGb)
  if (!runsOn(tx, target.nodeId, hardwareOf(chosen)))
    refuseImage(`The node of ${target.hostname} cannot`, hardwareOf(chosen))
  return chosen
}

/** The input that setup and reinstallation have in common. SSH keys may be the owner's or the caller's. */
export const installationOf = (
  tx: Tx,
  actor: Actor,
  target: Server,
  chosen: Image,
  wanted: { access: Static<typeof access> } & FirstBootBody,
  password: RootPassword,
) => {
  mustSuit(chosen, wanted)
  const whose: [string, string] = [target.ownerId, actor.accountId]
  return {
    serverId: target.id,
    nodeId: target.nodeId,
    image: sourceOf(chosen),
    hardware: hardwareOf(chosen),
    access: accessOn(tx, chosen.os, target, accessFrom(tx, whose, wanted.access, password), password),
    firstBoot: firstBootFrom(tx, whose, wanted, chosen.os),
  }
}

export const setupServer = operation({
  id: 'servers.setup',
  method: 'POST',
  path: '/servers/{id}/actions/setup',
  summary: 'Set up a server that waits for it: choose image, hostname and access',
  past: 'Started the installation',
  access: who,
  on: server,
  body: fields({
    imageId: t.String({ minLength: 1, maxLength: 40 }),
    hostname,
    name: t.Optional(displayName),
    access,
    ...firstBootFields,
  }),
  response: installationStarted,
  status: 202,
  idempotent: true,
  refuses: [
    ...installationActions.refusalsOf('setup'),
    'server_busy',
    'hostname_taken',
    'disk_too_small',
    'image_not_supported',
  ],
  example: { imageId: '<image_id>', hostname: 'web01', access: { mode: 'password' } },
  prepare: async ({ body }) => rootPasswordFor(body.access),
  run({ tx, actor, target, body, clock, prepared: password }) {
    // Errors of the request come before those that only the present state causes.
    const chosen = imageFor(tx, actor, target, body.imageId)
    const input = installationOf(tx, actor, target, chosen, body, password)
    installationActions.mustAllowFor(tx, actor, target, 'setup')
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
