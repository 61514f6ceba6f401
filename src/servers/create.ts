// An order. Node, disk space, addresses and hostname are held by the same transaction that accepts it, so two orders never get
// the same; whatever comes later can be undone, and this is not promised twice.
import { randomBytes } from 'node:crypto'
import { type Static, Type as t } from 'typebox'
import { customer, mustNotBeLocked } from '../accounts/account.ts'
import { takeIpv4, takeIpv6 } from '../addresses/allocate.ts'
import { image, sourceOf } from '../images/image.ts'
import { invalid } from '../kernel/api/errors.ts'
import { fields, nullable, operation, see } from '../kernel/api/operation.ts'
import { newId } from '../kernel/db/ids.ts'
import { prepared, type Tx } from '../kernel/db/open.ts'
import { inserting } from '../kernel/db/rows.ts'
import { emit } from '../kernel/jobs/outbox.ts'
import { startJob } from '../kernel/jobs/runner.ts'
import type { Letter } from '../kernel/web/letter.ts'
import { mailTo } from '../kernel/web/mail.ts'
import { location } from '../locations/location.ts'
import { placeIn } from '../locations/placement.ts'
import { packageOnSale } from '../packages/packages.ts'
import { installing } from './install.ts'
import { access, accessFrom, displayName, hostname, mustBePublished, mustFit, refuseHostnameTaken, rootPasswordFor } from './order.ts'
import { inEvent, load } from './server.ts'
import { servers } from './tables.ts'

const body = fields({
  ownerId: t.String({ maxLength: 40 }),
  packageId: t.String({ maxLength: 40 }),
  nodeGroupId: t.String({ maxLength: 40 }),
  nodeId: t.Optional(nullable(t.String({ maxLength: 40 }))),
  imageId: t.Optional(t.String({ maxLength: 40 })),
  hostname: t.Optional(hostname),
  name: t.Optional(displayName),
  access: t.Optional(access),
})

export const createServer = operation({
  id: 'servers.create',
  method: 'POST',
  path: '/admin/servers',
  summary: 'Order a server; without an image it waits for its owner to set it up',
  access: { staff: ['servers:create'] },
  body,
  answer: t.Object({ jobId: nullable(t.String()), serverId: t.String(), ipv4: nullable(t.String()), rootPassword: t.Optional(t.String()) }),
  status: 201,
  remembers: true,
  refuses: ['disk_too_small', 'account_locked', 'location_closed', 'hostname_taken', 'no_capacity', 'no_addresses'],
  example: {
    ownerId: '<customer_id>',
    packageId: '<package_id>',
    nodeGroupId: '<location_id>',
    imageId: '<image_id>',
    hostname: 'web01',
    access: { mode: 'ssh_keys', sshKeyIds: ['<ssh_key_id>'] },
  },
  prepare: async ({ body }) => rootPasswordFor(body.access),
  run({ tx, actor, body, clock, config, secrets, nodes, prepared: rootPassword }) {
    const owner = see(tx, actor, customer, body.ownerId, 'ownerId')
    const what = see(tx, actor, packageOnSale, body.packageId, 'packageId')
    if (what.archived) throw invalid({ field: 'packageId', message: 'is a package that is archived.' })
    const where = see(tx, actor, location, body.nodeGroupId, 'nodeGroupId')
    const first = body.imageId === undefined ? noImage(body) : withImage(tx, actor, body, body.imageId, owner.id, rootPassword)
    // What is wrong in itself is refused before what is only wrong now.
    if (first) mustFit(first.image, what.diskGb)
    if (body.nodeId) mustStandIn(tx, body.nodeId, where.id)
    mustNotBeLocked(owner)

    const { node, reason } = placeIn(tx, where, what, nodes.connected, body.nodeId)
    const id = newId('server')
    const number = nextNumber(tx)
    const host = first?.hostname ?? `server${number}`
    try {
      insert(tx, {
        id,
        number,
        ownerId: owner.id,
        resellerId: owner.resellerId,
        nodeId: node.id,
        locationId: where.id,
        packageId: what.id,
        imageId: first?.image.id ?? null,
        hostname: host,
        name: body.name ?? host,
        status: first ? 'provisioning' : 'pending_setup',
        vcpus: what.vcpus,
        memoryMb: what.memoryMb,
        diskGb: what.diskGb,
        trafficGb: what.trafficGb,
        portMbps: what.portMbps,
        mac: newMac(),
        pool: node.pool,
        format: 'qcow2',
        placement: reason,
        createdAt: clock(),
      })
    } catch (error) {
      return refuseHostnameTaken(error, host)
    }
    const [ipv4 = null] = takeIpv4(tx, id, node.id, what.ipv4)
    if (what.ipv6Prefix) takeIpv6(tx, id, node.id, what.ipv6Prefix)

    const { concerning, data } = inEvent(tx, load(tx, id))
    emit(tx, clock(), 'server.created', concerning, { ...data, image: first?.image.id ?? null })
    if (!first) mailTo(tx, { secrets, clock, config }, owner, invitation(host, id))
    const jobId = first
      ? startJob(
          tx,
          installing,
          { serverId: id, nodeId: node.id, image: sourceOf(first.image), access: first.access, purpose: 'create' },
          { by: actor, title: `Install ${host}`, holds: id, nodeId: node.id, serverId: id, now: clock() },
        )
      : null
    return { jobId, serverId: id, ipv4, ...(rootPassword && first ? { rootPassword: rootPassword.tell } : {}) }
  },
})

/** Tells the owner of a server without an image that the next step is theirs. */
const invitation = (host: string, id: string): Letter => ({
  subject: `${host} is ready to be set up`,
  paragraphs: [`Your new server ${host} is reserved and waits for you: choose an operating system and how you sign in to it.`],
  button: { words: 'Set it up', path: `/servers/${id}` },
})

type Body = Static<typeof body>
function noImage(body: Body): undefined {
  for (const field of ['hostname', 'access'] as const)
    if (body[field] !== undefined)
      throw invalid({ field, message: 'goes with an image. Leave both out for a server that its owner sets up.' })
  return undefined
}
function withImage(
  tx: Tx,
  actor: Parameters<typeof see>[1],
  body: Body,
  imageId: string,
  ownerId: string,
  rootPassword: ReturnType<typeof rootPasswordFor>,
) {
  const chosen = see(tx, actor, image, imageId, 'imageId')
  mustBePublished(chosen)
  if (body.hostname === undefined) throw invalid({ field: 'hostname', message: 'is required with an image.' })
  if (body.access === undefined) throw invalid({ field: 'access', message: 'is required with an image.' })
  return { image: chosen, hostname: body.hostname.toLowerCase(), access: accessFrom(tx, ownerId, body.access, rootPassword) }
}

const insert = inserting(servers)
const statements = prepared(({ $client }) => ({
  number: $client.prepare<{ n: number }, []>('SELECT coalesce(max(number), 0) + 1 AS n FROM servers'),
  node: $client.prepare<{ id: string }, [string, string]>('SELECT id FROM nodes WHERE id = ? AND location_id = ? AND removed_at IS NULL'),
}))
const nextNumber = (tx: Tx) => statements(tx).number.get()!.n
function mustStandIn(tx: Tx, nodeId: string, locationId: string) {
  if (!statements(tx).node.get(nodeId, locationId)) throw invalid({ field: 'nodeId', message: 'is no node of this location.' })
}

/** Locally administered (02), with 40 random bits: the unique index settles the rest. */
const newMac = () => ['02', ...randomBytes(5).toString('hex').match(/../g)!].join(':')
