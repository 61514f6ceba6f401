import { Type as t } from 'typebox'
import { image, sourceOf } from '../../catalog/images/model.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { fields, namedSchema, operation, see } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { changeWorkload } from '../workloads/queries.ts'
import { refuseHostnameTaken } from '../workloads/reserve.ts'
import { installing } from './install.ts'
import { type Server, server } from './model.ts'
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
import { updateServer } from './queries.ts'
import { mustAllow, refusalsOf } from './state.ts'

const who = { staff: ['servers:reinstall'], reseller: ['servers:reinstall'], customer: ['servers:reinstall'] } as const
const response = namedSchema('InstallationStarted', {
  jobId: t.String(),
  serverId: t.String(),
  rootPassword: t.Optional(t.String()),
})

export const setupServer = operation({
  id: 'servers.setup',
  method: 'POST',
  path: '/servers/{id}/actions/setup',
  summary: 'Choose image, hostname and access for a server that waits for its setup',
  access: who,
  on: server,
  body: fields({ imageId: t.String({ maxLength: 40 }), hostname, name: t.Optional(displayName), access }),
  response,
  status: 202,
  idempotent: true,
  refuses: [...refusalsOf('setup'), 'server_busy', 'hostname_taken', 'disk_too_small'],
  example: { imageId: '<image_id>', hostname: 'web01', access: { mode: 'password' } },
  prepare: async ({ body }) => rootPasswordFor(body.access),
  run: ({ tx, actor, target, body, clock, prepared }) =>
    install(tx, { actor, target, ...body, now: clock(), password: prepared, purpose: 'setup' }),
})

export const reinstallServer = operation({
  id: 'servers.reinstall',
  method: 'POST',
  path: '/servers/{id}/actions/reinstall',
  summary: 'Reinstall a server with an image; everything on its disk is lost',
  access: who,
  requiresRecentAuth: true,
  on: server,
  body: fields({ imageId: t.String({ maxLength: 40 }), hostname: t.Optional(hostname), access }),
  response,
  status: 202,
  idempotent: true,
  refuses: [...refusalsOf('reinstall'), 'hostname_taken', 'disk_too_small'],
  example: { imageId: '<image_id>', access: { mode: 'password' } },
  prepare: async ({ body }) => rootPasswordFor(body.access),
  run: ({ tx, actor, target, body, clock, prepared }) =>
    install(tx, {
      actor,
      target,
      hostname: target.hostname,
      ...body,
      now: clock(),
      password: prepared,
      purpose: 'again',
    }),
})

type Wanted = {
  actor: Actor
  target: Server
  imageId: string
  hostname: string
  name?: string | undefined
  access: { mode: string; sshKeyIds?: string[] | undefined }
  now: number
  password: RootPassword
  purpose: 'setup' | 'again'
}

/** What is wrong in itself is refused before what is only wrong now. */
function install(tx: Tx, { actor, target, imageId, hostname, name, access, now, password, purpose }: Wanted) {
  const chosen = see(tx, actor, image, imageId, 'imageId')
  mustBePublished(chosen)
  mustFit(chosen, target.diskGb)
  const host = hostname.toLowerCase()
  const input = {
    serverId: target.id,
    nodeId: target.nodeId,
    image: sourceOf(chosen),
    access: accessFrom(tx, [target.ownerId, actor.accountId], access, password),
    purpose,
  }
  mustAllow(target, purpose === 'setup' ? 'setup' : 'reinstall')
  const jobId = startJob(tx, installing, input, {
    by: actor,
    title: `${purpose === 'setup' ? 'Set up' : 'Reinstall'} ${host}`,
    holds: target.id,
    nodeId: target.nodeId,
    subject: { type: 'server', id: target.id },
    now,
  })
  try {
    changeWorkload(tx, target.id, {
      hostname: host,
      name: name ?? (target.name === target.hostname ? host : target.name),
      lifecycle: 'provisioning',
    })
    updateServer(tx, target.id, { imageId: chosen.id })
  } catch (error) {
    refuseHostnameTaken(error, host)
  }
  return { jobId, serverId: target.id, ...(password ? { rootPassword: password.tell } : {}) }
}
