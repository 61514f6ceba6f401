// An order. Host, cards, ports, disk space and address are held by the same transaction that accepts it, so the last
// card is sold once.
import { Type as t } from 'typebox'
import { gpuOffer, imagesOf, needOf } from '../../catalog/gpu-offers/model.ts'
import { reserveInstance } from '../../fleet/gpus/hold.ts'
import { location } from '../../fleet/locations/model.ts'
import { changeWorkload } from '../../fleet/workloads/queries.ts'
import { mustAllowInstance } from '../../identity/resellers/model.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described, fields, isDryRun, namedSchema, nullable, operation, see } from '../../kernel/api/operation.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { given } from '../given.ts'
import { orderedFor, ownerOf } from '../ordered-for.ts'
import { displayName } from '../workloads/acting.ts'
import { mustBeOrderable, welcomeOwner } from '../workloads/order.ts'
import { billingServiceId } from '../workloads/service-id.ts'
import { gpuInstanceKind, instanceJob, load, tell } from './model.ts'
import { insertInstance } from './queries.ts'
import { newJupyterToken } from './run/container.ts'
import { runningInstance } from './run/run.ts'
import { chosenKeys, everyKeyOf, keyIds } from './settings/keys.ts'

const named = t.String({ minLength: 1, maxLength: 40 })

const ordering = {
  method: 'POST' as const,
  dryRun: true as const,
}
export const createInstance = operation({
  ...ordering,
  id: 'gpu-instances.create',
  path: '/admin/gpu-instances',
  summary: 'Order a GPU instance',
  past: 'Ordered',
  access: { staff: ['servers:create'] },
  body: fields({
    ownerId: orderedFor,
    offerId: named,
    nodeGroupId: described(named, 'The location.'),
    imageId: t.Optional(described(nullable(named), 'An image of the offer; left out: the first one that is on sale.')),
    name: t.Optional(nullable(displayName)),
    sshKeyIds: t.Optional(
      described(nullable(keyIds), "Keys of the owner; left out: every key on the owner's account."),
    ),
    billingServiceId: t.Optional(nullable(billingServiceId)),
  }),
  response: namedSchema('InstanceOrdered', {
    jobId: nullable(t.String()),
    instanceId: described(nullable(t.String()), 'Null only in the answer to a dry run.'),
    address: described(nullable(t.String()), 'Its own IPv4 address, or that of its host.'),
  }),
  status: 201,
  idempotent: true,
  refuses: [
    'billing_service_id_taken',
    'account_locked',
    'reseller_suspended',
    'location_not_allowed',
    'quota_exceeded',
    'location_closed',
    'no_capacity',
    'no_addresses',
    'hostname_taken',
  ],
  example: { ownerId: '<customer_id>', offerId: '<gpu_offer_id>', nodeGroupId: '<location_id>' },
  // A call that is wrong in itself is refused before one that is only wrong now.
  run({ tx, actor, body: asked, query, nodes, clock, secrets, brandFor }) {
    const body = given(asked)
    const now = clock()
    const owner = ownerOf({ tx, actor, query, clock }, ordering, asked.ownerId)
    const offer = see(tx, actor, gpuOffer, body.offerId, 'offerId')
    if (offer.archived) throw invalid({ field: 'offerId', message: 'is archived. Choose another offer.' })
    const where = see(tx, actor, location, body.nodeGroupId, 'nodeGroupId')
    const sold = imagesOf(tx, offer.id)
    const image = body.imageId === undefined ? sold[0] : sold.find(({ id }) => id === body.imageId)
    if (!image)
      throw invalid(
        body.imageId === undefined
          ? { field: 'offerId', message: 'has no image that is on sale. Add one to the offer first.' }
          : { field: 'imageId', message: 'is not an image of this offer that is on sale. Choose another image.' },
      )
    const sshKeys = body.sshKeyIds === undefined ? everyKeyOf(tx, owner.id) : chosenKeys(tx, owner.id, body.sshKeyIds)
    const need = needOf(offer)
    mustBeOrderable(tx, actor, owner, body.billingServiceId, (reseller) =>
      mustAllowInstance(tx, now, reseller, where, need),
    )

    const held = reserveInstance(
      tx,
      { nodes, clock },
      { kind: gpuInstanceKind, owner, location: where, need, name: body.name, namesNodes: actor.kind === 'staff' },
    )
    const { id, nodeId } = held
    insertInstance(tx, {
      id,
      offerId: offer.id,
      imageId: image.id,
      jupyterToken: newJupyterToken(secrets, { id }),
      sshKeys,
    })
    if (body.billingServiceId) changeWorkload(tx, id, { billingServiceId: body.billingServiceId })
    tell(tx, now, 'gpu_instance.created', id, {})
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
  },
})
