// The common part of orders by staff, resellers and customers. Host, cards, ports, disk space and address are held by
// the same transaction that accepts an order, so the last card is sold once.
import { Type as t } from 'typebox'
import { environmentField } from '../../../catalog/gpu-images/model.ts'
import { gpuOffer, imagesOf, needOf } from '../../../catalog/gpu-offers/model.ts'
import { reserveInstance } from '../../../fleet/gpus/hold.ts'
import { type Location, location } from '../../../fleet/locations/model.ts'
import { locationById } from '../../../fleet/locations/queries.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import type { Account } from '../../../identity/account-records/model.ts'
import { mustAllowInstance } from '../../../identity/resellers/model.ts'
import { type Code, invalid } from '../../../kernel/api/errors.ts'
import {
  type Call,
  described,
  isDryRun,
  namedSchema,
  nullable,
  type Resource,
  secret,
  see,
} from '../../../kernel/api/operation.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { given } from '../../given.ts'
import { displayName } from '../../workloads/acting.ts'
import { mustBeOrderable, welcomeOwner } from '../../workloads/order.ts'
import { checkedHttpPorts, httpPortsField } from '../http/ports.ts'
import { gpuInstanceKind, instanceJob, load, tell } from '../model.ts'
import { insertInstance } from '../queries.ts'
import { closedEnvironment, newJupyterToken } from '../run/container.ts'
import { runningInstance } from '../run/run.ts'
import { mustNameEachOnce } from '../settings/environment.ts'
import { chosenKeys, everyKeyOf, keyIds } from '../settings/keys.ts'
import { mustBeWithinLimit } from './limit.ts'

const named = t.String({ minLength: 1, maxLength: 40 })

/** The fields of every order. */
export const orderFields = {
  offerId: named,
  nodeGroupId: described(named, 'The location.'),
  imageId: t.Optional(described(nullable(named), 'An image of the offer; left out: the first one that is on sale.')),
  name: t.Optional(nullable(displayName)),
  sshKeyIds: t.Optional(described(nullable(keyIds), "Keys of the owner; left out: every key on the owner's account.")),
  httpPorts: t.Optional(httpPortsField),
  environment: t.Optional(
    described(nullable(secret(environmentField)), 'Variables as `NAME=value`; each replaces that of the image.'),
  ),
}
type OrderBody = {
  offerId: string
  nodeGroupId: string
  imageId?: string | null
  name?: string | null
  sshKeyIds?: string[] | null
  httpPorts?: number[] | null
  environment?: string[] | null
  billingServiceId?: string | null
}

export const ordering = {
  method: 'POST' as const,
  response: namedSchema('InstanceOrdered', {
    jobId: nullable(t.String()),
    instanceId: described(nullable(t.String()), 'Null only in the answer to a dry run.'),
    address: described(nullable(t.String()), 'Its own IPv4 address, or that of its host.'),
  }),
  status: 201 as const,
  idempotent: true as const,
  dryRun: true as const,
}
/** Refusals of every order. */
export const refusalsOfOrder = [
  'account_locked',
  'reseller_suspended',
  'location_not_allowed',
  'quota_exceeded',
  'location_closed',
  'no_capacity',
  'no_addresses',
  'hostname_taken',
] satisfies Code[]

/** Customers see no location but by what they order: the list of offers names them. */
const orderedIn: Resource<Location> = { ...location, find: (tx, _, id) => locationById(tx, id) }

/** Accepts an order for the owner. A call that is wrong in itself is refused before one that is only wrong now. */
export function accept<B extends OrderBody>(
  { tx, actor, body: asked, query, nodes, clock, secrets, brandFor }: Call<unknown, B>,
  owner: Account,
) {
  const body = given<OrderBody>(asked)
  const now = clock()
  const offer = see(tx, actor, gpuOffer, body.offerId, 'offerId')
  if (offer.archived) throw invalid({ field: 'offerId', message: 'is archived. Choose another offer.' })
  const where = see(tx, actor, orderedIn, body.nodeGroupId, 'nodeGroupId')
  const sold = imagesOf(tx, offer.id)
  const image = body.imageId === undefined ? sold[0] : sold.find(({ id }) => id === body.imageId)
  if (!image)
    throw invalid(
      body.imageId === undefined
        ? { field: 'offerId', message: 'has no image that is on sale. Add one to the offer first.' }
        : { field: 'imageId', message: 'is not an image of this offer that is on sale. Choose another image.' },
    )
  const sshKeys = body.sshKeyIds === undefined ? everyKeyOf(tx, owner.id) : chosenKeys(tx, owner.id, body.sshKeyIds)
  const httpPorts = checkedHttpPorts(body.httpPorts ?? null)
  const environment = body.environment ?? []
  mustNameEachOnce(environment)
  const need = needOf(offer)
  mustBeOrderable(tx, actor, owner, body.billingServiceId, (reseller) =>
    mustAllowInstance(tx, now, reseller, where, need),
  )
  if (actor.kind === 'customer') mustBeWithinLimit(tx, owner, need)

  const held = reserveInstance(
    tx,
    { nodes, clock },
    { kind: gpuInstanceKind, owner, location: where, need, name: body.name, namesNodes: actor.kind === 'staff' },
  )
  const { id, nodeId } = held
  const jupyterToken = newJupyterToken(secrets, { id })
  insertInstance(tx, {
    ...{ id, offerId: offer.id, imageId: image.id, jupyterToken, sshKeys, httpPorts },
    environment: closedEnvironment(secrets, { id }, environment),
  })
  if (body.billingServiceId) changeWorkload(tx, id, { billingServiceId: body.billingServiceId })
  tell(tx, now, 'gpu_instance.created', id, { orderedBy: actor.kind })
  welcomeOwner(tx, { secrets, clock, brandFor }, owner)
  const { name } = load(tx, id)
  const jobId = startJob(
    tx,
    runningInstance,
    { instanceId: id, nodeId, action: 'create' },
    instanceJob(held, { by: actor, title: `Set up ${name}`, now }),
  )
  const address = held.ipv4 ?? held.hostAddress
  return isDryRun(ordering, query) ? { jobId: null, instanceId: null, address } : { jobId, instanceId: id, address }
}
