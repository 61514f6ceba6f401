// The record of a GPU instance, as each actor may see it.

import { priceOf } from '../../catalog/goods.ts'
import { JUPYTER_PORT, openedPort, SSH_PORT } from '../../catalog/gpu-images/model.ts'
import { gpuImageById } from '../../catalog/gpu-images/queries.ts'
import { imagesOf } from '../../catalog/gpu-offers/model.ts'
import { gpuOfferById } from '../../catalog/gpu-offers/queries.ts'
import { heldOf } from '../../fleet/gpus/hold.ts'
import { locationOf } from '../../fleet/locations/reference.ts'
import { isGoneNode, nodeById } from '../../fleet/node-records/queries.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { accessLevel, isLockedFor, rightsWith } from '../../identity/team/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { type AppContext, mayCall, mayCallOn } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { openJobOf } from '../../kernel/jobs/queries.ts'
import { primaryIpv4 } from '../../network/ip-pools/allocate.ts'
import { actionOf } from './actions.ts'
import { httpLinksOf } from './http/ports.ts'
import type { GpuInstance } from './model.ts'
import { mappedPorts, openEnvironment, openJupyterToken } from './run/container.ts'
import { instanceActions } from './state.ts'

type ShowContext = Pick<AppContext, 'nodes' | 'secrets'> & { tx: Db; actor: Actor }
/** The record of one instance, as the actor reads it. */
export function showInstance({ tx, actor, nodes, secrets }: ShowContext, instance: GpuInstance) {
  const access = accessLevel(tx, actor, instance)!
  const rights = rightsWith(access)
  const { status } = instance
  const owner = accountById(tx, instance.ownerId)!
  const offer = gpuOfferById(tx, instance.offerId)
  const image = gpuImageById(tx, instance.imageId)!
  const held = heldOf(tx, instance)
  const ownIpv4 = primaryIpv4(tx, instance.id)
  const address = ownIpv4 ?? held.hostAddress
  const ports = ownIpv4 === null ? mappedPorts(tx, instance, image) : []
  /** The port of the address that leads to a port of the container; undefined: none does. */
  const reached = (container: number) =>
    ownIpv4 === null ? ports.find((port) => port.container === container)?.host : container
  const sshPort = reached(SSH_PORT)
  const isStaff = actor.kind === 'staff'
  const mayEnter = access === 'own' || access === 'operate' || access === 'manage'
  const token = image.jupyter && mayEnter ? openJupyterToken(secrets, instance) : null
  const names = httpLinksOf(tx, instance, image)
  /** Where a browser reaches a port of the container; undefined: nowhere. */
  const urlOf = (container: number) => {
    const port = reached(container)
    return (
      names.httpPorts.find((named) => named.port === container)?.url ??
      (address === null || port === undefined ? undefined : `http://${address}:${port}/`)
    )
  }
  const jupyter = urlOf(JUPYTER_PORT)
  const jupyterUrl = token === null || jupyter === undefined ? null : `${jupyter}?token=${token}`
  const opened = openedPort(image)
  const locked = isLockedFor(tx, actor, instance)
  const circumstances = { status, locked, nodeLost: isGoneNode(tx, instance.nodeId) }
  const nodeSeenAt = nodes.lastSeen(instance.nodeId)
  const mayDo = (action: (typeof instanceActions.actions)[number]) => {
    const operation = actionOf(action, actor)
    // Only owners delete their own.
    if (action === 'delete' && access !== 'own') return false
    return mayCall(operation, actor) && (!rights || mayCallOn(operation, actor, rights))
  }
  return {
    id: instance.id,
    number: instance.number,
    name: instance.name,
    hostname: instance.hostname,
    status,
    failure: instance.failure,
    suspendReason: access === 'own' ? instance.suspendReason : null,
    lastEnd:
      instance.endedAt === null
        ? null
        : {
            at: iso(instance.endedAt),
            reason: instance.endReason!,
            exitCode: instance.exitCode,
            oomKilled: instance.oomKilled,
            detail: instance.endDetail,
          },
    access,
    owner: { id: instance.ownerId, name: owner.name, email: access === 'own' ? owner.email : null },
    offerId: instance.offerId,
    offer: { id: instance.offerId, name: offer?.name ?? '' },
    billingProductId: offer?.billingProductId ?? null,
    billingServiceId: access === 'own' ? instance.billingServiceId : null,
    location: locationOf(tx, instance),
    node: isStaff ? { id: instance.nodeId, name: nodeById(tx, instance.nodeId)?.name ?? '' } : null,
    placement: isStaff ? instance.placement : null,
    address,
    ownAddress: ownIpv4 !== null,
    ports,
    sshCommand:
      address === null || sshPort === undefined
        ? null
        : sshPort === SSH_PORT
          ? `ssh root@${address}`
          : `ssh -p ${sshPort} root@${address}`,
    ...names,
    jupyterUrl,
    openUrl: opened === null ? null : opened === JUPYTER_PORT && image.jupyter ? jupyterUrl : (urlOf(opened) ?? null),
    // A reseller asks its customers for prices of its own; those with whom an instance is shared pay none.
    price:
      offer && access === 'own' && (actor.kind !== 'customer' || owner.resellerId === null) ? priceOf(offer) : null,
    image: { id: image.id, name: image.name, docsUrl: image.docsUrl },
    images: imagesOf(tx, instance.offerId).map(({ id, name }) => ({ id, name })),
    cards: held.cards.map(({ uuid, model, memoryMb }) => ({ model, memoryMb, uuid: isStaff ? uuid : null })),
    vcpus: instance.vcpus,
    memoryMb: instance.memoryMb,
    workspaceGb: instance.diskGb,
    environment: access === 'own' || access === 'manage' ? openEnvironment(secrets, instance) : null,
    command: instance.command,
    sshKeys: instance.sshKeys.map(({ id, name, fingerprint }) => ({ id, name, fingerprint })),
    restartPolicy: instance.restartPolicy,
    job: openJobOf(tx, instance.id),
    locked,
    nodeConnected: nodeSeenAt === undefined,
    nodeSeenAt: isoOrNull(nodeSeenAt ?? null),
    allowed: instanceActions.actions.filter(
      (action) => !instanceActions.disabledReason(circumstances, action) && mayDo(action),
    ),
    createdAt: iso(instance.createdAt),
    terminatedAt: isoOrNull(instance.terminatedAt),
  }
}
