// The record of a GPU instance, as each actor may see it.
import { JUPYTER_PORT, SSH_PORT } from '../../catalog/gpu-images/model.ts'
import { gpuImageById } from '../../catalog/gpu-images/queries.ts'
import { imagesOf } from '../../catalog/gpu-offers/model.ts'
import { gpuOfferById } from '../../catalog/gpu-offers/queries.ts'
import { heldOf } from '../../fleet/gpus/hold.ts'
import { locationOf } from '../../fleet/locations/reference.ts'
import { isGoneNode, nodeById } from '../../fleet/node-records/queries.ts'
import { accountById } from '../../identity/accounts/queries.ts'
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
export function showInstance({ tx, actor, nodes, secrets }: ShowContext, it: GpuInstance) {
  const access = accessLevel(tx, actor, it)!
  const rights = rightsWith(access)
  const { status } = it
  const owner = accountById(tx, it.ownerId)!
  const offer = gpuOfferById(tx, it.offerId)
  const image = gpuImageById(tx, it.imageId)!
  const held = heldOf(tx, it)
  const ownIpv4 = primaryIpv4(tx, it.id)
  const address = ownIpv4 ?? held.hostAddress
  const ports = ownIpv4 === null ? mappedPorts(tx, it, image) : []
  /** The port of the address that leads to a port of the container; undefined: none does. */
  const reached = (container: number) =>
    ownIpv4 === null ? ports.find((port) => port.container === container)?.host : container
  const [sshPort, jupyterPort] = [reached(SSH_PORT), reached(JUPYTER_PORT)]
  const isStaff = actor.kind === 'staff'
  const mayEnter = access === 'own' || access === 'operate' || access === 'manage'
  const token = image.jupyter && mayEnter ? openJupyterToken(secrets, it) : null
  const names = httpLinksOf(tx, it, image)
  const jupyter =
    names.httpPorts.find(({ port }) => port === JUPYTER_PORT)?.url ??
    (address === null || jupyterPort === undefined ? undefined : `http://${address}:${jupyterPort}/`)
  const locked = isLockedFor(tx, actor, it)
  const circumstances = { status, locked, nodeLost: isGoneNode(tx, it.nodeId) }
  const nodeSeenAt = nodes.lastSeen(it.nodeId)
  const mayDo = (action: (typeof instanceActions.actions)[number]) => {
    const operation = actionOf(action, actor)
    // Only owners delete their own.
    if (action === 'delete' && access !== 'own') return false
    return mayCall(operation, actor) && (!rights || mayCallOn(operation, actor, rights))
  }
  return {
    id: it.id,
    number: it.number,
    name: it.name,
    hostname: it.hostname,
    status,
    failure: it.failure,
    suspendReason: access === 'own' ? it.suspendReason : null,
    lastEnd:
      it.endedAt === null
        ? null
        : {
            at: iso(it.endedAt),
            reason: it.endReason!,
            exitCode: it.exitCode,
            oomKilled: it.oomKilled,
            detail: it.endDetail,
          },
    access,
    owner: { id: it.ownerId, name: owner.name, email: access === 'own' ? owner.email : null },
    offerId: it.offerId,
    offer: { id: it.offerId, name: offer?.name ?? '' },
    billingProductId: offer?.billingProductId ?? null,
    billingServiceId: access === 'own' ? it.billingServiceId : null,
    location: locationOf(tx, it),
    node: isStaff ? { id: it.nodeId, name: nodeById(tx, it.nodeId)?.name ?? '' } : null,
    placement: isStaff ? it.placement : null,
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
    jupyterUrl: token === null || jupyter === undefined ? null : `${jupyter}?token=${token}`,
    image: { id: image.id, name: image.name },
    images: imagesOf(tx, it.offerId).map(({ id, name }) => ({ id, name })),
    cards: held.cards.map(({ uuid, model, memoryMb }) => ({ model, memoryMb, uuid: isStaff ? uuid : null })),
    vcpus: it.vcpus,
    memoryMb: it.memoryMb,
    workspaceGb: it.diskGb,
    environment: access === 'own' || access === 'manage' ? openEnvironment(secrets, it) : null,
    command: it.command,
    sshKeys: it.sshKeys.map(({ id, name, fingerprint }) => ({ id, name, fingerprint })),
    restartPolicy: it.restartPolicy,
    job: openJobOf(tx, it.id),
    locked,
    nodeConnected: nodeSeenAt === undefined,
    nodeSeenAt: isoOrNull(nodeSeenAt ?? null),
    allowed: instanceActions.actions.filter(
      (action) => !instanceActions.disabledReason(circumstances, action) && mayDo(action),
    ),
    createdAt: iso(it.createdAt),
    terminatedAt: isoOrNull(it.terminatedAt),
  }
}
