// An order. Node, disk space, addresses and hostname are held by the same transaction that accepts it, so two orders
// never get the same; whatever comes later can be undone, and this is not promised twice.
import { type Static, Type as t } from 'typebox'
import { administratorOf, hardwareOf } from '../../catalog/images/hardware.ts'
import { sourceOf } from '../../catalog/images/model.ts'
import { isNodeIn } from '../../fleet/node-records/queries.ts'
import { areas } from '../../identity/account-records/areas.ts'
import type { Account } from '../../identity/account-records/model.ts'
import { mustAllowOrder } from '../../identity/resellers/model.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { type Code, invalid } from '../../kernel/api/errors.ts'
import { type Call, described, fields, isDryRun, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { mailTo } from '../../kernel/mail/mail.ts'
import type { MailContent } from '../../kernel/mail/mail-content.ts'
import { type Given, given } from '../given.ts'
import { acceptServer, namedIn, refusalsOfOrder } from '../installation/accept.ts'
import { installing } from '../installation/install.ts'
import {
  access,
  accessFrom,
  accessOn,
  firstBootFields,
  firstBootFrom,
  hostname,
  imageOf,
  mustFit,
  mustSuit,
  rootPasswordFor,
} from '../installation/order.ts'
import { orderedFor, ownerOf } from '../ordered-for.ts'
import { groupFor } from '../ordered-group.ts'
import { serverJob } from '../server-records/model.ts'
import type { RootPassword } from '../server-vm/root-password.ts'
import { displayName } from '../workloads/acting.ts'
import { mustBeOrderable, welcomeOwner } from '../workloads/order.ts'
import { billingServiceId } from '../workloads/service-id.ts'

const named = t.String({ minLength: 1, maxLength: 40 })
const wanted = {
  ownerId: orderedFor,
  packageId: named,
  nodeGroupId: named,
  imageId: t.Optional(nullable(named)),
  hostname: t.Optional(nullable(hostname)),
  name: t.Optional(nullable(displayName)),
  access: t.Optional(nullable(access)),
  scriptId: t.Optional(nullable(firstBootFields.scriptId)),
  userData: t.Optional(nullable(firstBootFields.userData)),
  billingServiceId: t.Optional(nullable(billingServiceId)),
  placementGroupId: t.Optional(
    described(
      nullable(named),
      'A placement group of the owner, which the server joins: it says to which node it may go.',
    ),
  ),
}
const order = fields(wanted)
type OrderBody = Static<typeof order>
/** An order whose fields that are null are left out: billing systems send both for what a product does not set. */
type Order = Given<OrderBody>

/** The orders of staff and of resellers have nearly everything in common. */
const ordering = {
  method: 'POST' as const,
  response: namedSchema('ServerOrdered', {
    jobId: nullable(t.String()),
    serverId: described(nullable(t.String()), 'Null only in the answer to a dry run.'),
    ipv4: described(nullable(t.String()), 'In the answer to a dry run the address that is next; it is not held.'),
    rootPassword: t.Optional(t.String()),
    user: t.Optional(described(t.String(), 'Beside `rootPassword`: the user whose password it is.')),
  }),
  status: 201 as const,
  idempotent: true as const,
  dryRun: true as const,
  refuses: ['billing_service_id_taken', ...refusalsOfOrder] satisfies Code[],
  example: {
    ownerId: '<customer_id>',
    packageId: '<package_id>',
    nodeGroupId: '<location_id>',
    imageId: '<image_id>',
    hostname: 'web01',
    access: { mode: 'ssh_keys' as const, sshKeyIds: ['<ssh_key_id>'] },
  },
  prepare: async ({ body }: { body: OrderBody }) => rootPasswordFor(body.access ?? undefined),
}

export const createServer = operation({
  ...ordering,
  id: 'servers.create',
  path: '/admin/servers',
  summary: 'Order a server; without an image it waits for its owner to set it up',
  past: 'Ordered',
  access: { staff: ['servers:create'] },
  body: fields({
    ...wanted,
    nodeId: t.Optional(nullable(named)),
    useReserve: t.Optional(described(nullable(t.Boolean()), 'It may take memory of the reserve of the location.')),
  }),
  run: (call) => accept(call, { nodeId: call.body.nodeId, usesReserve: call.body.useReserve === true }),
})

export const createResellerServer = operation({
  ...ordering,
  id: 'reseller.create-server',
  path: '/reseller/servers',
  summary: 'Order a server for yourself or one of your customers; without an image it waits for its owner to set it up',
  past: 'Ordered',
  access: { reseller: ['reseller:servers'] },
  body: order,
  run: (call) => accept(call),
})

/** `nodeId` is a node that was asked for by name. What is wrong in itself is refused before what is only wrong now. */
function accept(
  {
    tx,
    actor,
    body: asked,
    query,
    clock,
    config,
    secrets,
    brandFor,
    nodes,
    prepared: rootPassword,
  }: Call<unknown, OrderBody, RootPassword>,
  { nodeId, usesReserve }: { nodeId?: string | null | undefined; usesReserve?: boolean } = {},
) {
  const body = given(asked)
  const owner = ownerOf({ tx, actor, query, clock }, ordering, asked.ownerId)
  const { pack, where } = namedIn(tx, actor, body)
  const first =
    body.imageId === undefined ? noImage(body) : withImage(tx, actor, body, body.imageId, owner.id, rootPassword)
  if (first) mustFit(first.image, pack.diskGb)
  if (nodeId) mustStandIn(tx, nodeId, where.id)
  const group = groupFor(tx, actor, owner.id, body.placementGroupId)
  mustBeOrderable(tx, actor, owner, body.billingServiceId, (reseller) =>
    mustAllowOrder(tx, clock(), reseller, pack, where),
  )
  const { id, hostname, node, ipv4 } = acceptServer(
    { tx, actor, nodes, clock },
    {
      owner,
      pack,
      where,
      hardware: first && hardwareOf(first.image),
      hostname: first?.hostname,
      name: body.name,
      lifecycle: first ? 'provisioning' : 'pending_setup',
      nodeId,
      usesReserve,
      server: { imageId: first?.image.id ?? null },
      billingServiceId: body.billingServiceId,
      group,
    },
  )
  const mails = { secrets, clock, config, brandFor }
  welcomeOwner(tx, mails, owner)
  if (!first) mailTo(tx, mails, owner, invitation(hostname, owner, id))
  const jobId = first
    ? startJob(
        tx,
        installing,
        {
          serverId: id,
          nodeId: node.id,
          image: sourceOf(first.image),
          hardware: hardwareOf(first.image),
          access: accessOn(tx, first.image.os, { id, nodeId: node.id }, first.access, rootPassword),
          firstBoot: first.firstBoot,
        },
        serverJob({ id, nodeId: node.id }, { by: actor, title: `Install ${hostname}`, now: clock() }),
      )
    : null
  if (isDryRun(ordering, query)) return { jobId: null, serverId: null, ipv4 }
  const login = rootPassword && first && { rootPassword: rootPassword.tell, user: administratorOf(first.image.os) }
  return { jobId, serverId: id, ipv4, ...login }
}

/** Tells the owner of a server without an image that the next step is theirs. */
const invitation = (host: string, { kind, email, passwordHash }: Account, id: string): MailContent => ({
  subject: `${host} is ready to be set up`,
  paragraphs: [`Your new server ${host} is ready: choose an operating system and how you sign in to it.`],
  button: { words: 'Set it up', path: `${areas[kind]}/servers/${id}` },
  ...(passwordHash === null && {
    closing:
      'You have not chosen a password yet: the mail "Your account is ready" has a link for that. If the link has ' +
      `expired, open "Forgot your password?" on the sign-in page and enter this address, ${email}.`,
  }),
})

function noImage(body: Order): undefined {
  for (const field of ['hostname', 'access', 'scriptId', 'userData'] as const)
    if (body[field] !== undefined)
      throw invalid({ field, message: 'needs an image. Leave it out for a server that its owner sets up.' })
  return undefined
}
function withImage(tx: Tx, actor: Actor, body: Order, imageId: string, ownerId: string, rootPassword: RootPassword) {
  const chosen = imageOf(tx, actor, [ownerId], imageId)
  if (body.hostname === undefined) throw invalid({ field: 'hostname', message: 'is required when an image is given.' })
  if (body.access === undefined) throw invalid({ field: 'access', message: 'is required when an image is given.' })
  mustSuit(chosen, body)
  return {
    image: chosen,
    hostname: body.hostname.toLowerCase(),
    access: accessFrom(tx, [ownerId], body.access, rootPassword),
    firstBoot: firstBootFrom(tx, [ownerId], body, chosen.os),
  }
}

function mustStandIn(tx: Tx, nodeId: string, locationId: string) {
  if (!isNodeIn(tx, nodeId, locationId)) throw invalid({ field: 'nodeId', message: 'is not a node of this location.' })
}
