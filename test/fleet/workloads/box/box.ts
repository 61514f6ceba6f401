// A second kind of workload, as small as one can be: a box has a node, memory, a disk and an address, and nothing else.
import { Type as t } from 'typebox'
import {
  type ImageSource,
  nodeCommand,
  TAP_PREFIX,
  usualMachine,
  type Volume,
} from '../../../../agent/protocol/wire.ts'
import { image, sourceOf } from '../../../../src/catalog/images/model.ts'
import { location } from '../../../../src/fleet/locations/model.ts'
import { nodeById } from '../../../../src/fleet/node-records/queries.ts'
import { lockOf, type WorkloadKind } from '../../../../src/fleet/workloads/kind.ts'
import { changeWorkload, workloadById } from '../../../../src/fleet/workloads/queries.ts'
import { reserve } from '../../../../src/fleet/workloads/reserve.ts'
import { statusOf } from '../../../../src/fleet/workloads/status.ts'
import { releaseHome } from '../../../../src/fleet/workloads/stays/stays.ts'
import type { Workload } from '../../../../src/fleet/workloads/tables.ts'
import { customer } from '../../../../src/identity/account-records/model.ts'
import { workloadResource } from '../../../../src/identity/team/access.ts'
import type { Actor } from '../../../../src/kernel/api/actor.ts'
import { fields, operation, type Resource, see } from '../../../../src/kernel/api/operation.ts'
import type { Db, Tx } from '../../../../src/kernel/db/open.ts'
import { forwardSaga, saga } from '../../../../src/kernel/jobs/saga.ts'
import { startJob } from '../../../../src/kernel/jobs/start.ts'
import { addressesOf, releaseAddresses } from '../../../../src/network/ip-pools/allocate.ts'

export const boxKind: WorkloadKind = {
  kind: 'box',
  idPrefix: 'box',
  words: { one: 'box', many: 'boxes' },
  busy: 'server_busy',
}

export const boxById = (tx: Db, id: string): Workload | undefined => {
  const workload = workloadById(tx, id)
  return workload?.kind === boxKind.kind ? workload : undefined
}
export const box: Resource<Workload> = { name: 'box', notFound: 'server_not_found', ...workloadResource(boxById) }

const GIB = 1024 ** 3
type Input = { boxId: string; nodeId: string }
export const volumeOf = ({ id, pool }: Workload): Volume => ({
  workload: id,
  generation: 0,
  pool,
  format: 'qcow2',
})

/** The definitions for the node that `nodeId` names. */
export function plan(tx: Tx, workload: Workload) {
  const { id } = workload
  const held = addressesOf(tx, id)
  const tap = `${TAP_PREFIX}${workload.number}`
  const volume = volumeOf(workload)
  return {
    volume,
    sizeBytes: workload.diskGb * GIB,
    portRules: { workload: id, tap, mac: workload.mac, ipv4: held.map(({ address }) => address), ipv6: [] },
    vm: {
      workload: id,
      hostname: workload.hostname,
      vcpus: workload.vcpus,
      memoryMb: workload.memoryMb,
      volume,
      seeded: false,
      restartPolicy: workload.restartPolicy,
      ...usualMachine,
      network: { bridge: nodeById(tx, workload.nodeId)!.bridge, tap, mac: workload.mac },
      speed: { inMbps: null, outMbps: null, cpuPercent: null },
    },
  }
}

export const building = saga<Input & { image: ImageSource }>('build-box')
  .record('plan', 'Reserving what it needs', {
    do: (tx, { input }) => plan(tx, boxById(tx, input.boxId)!),
    undo: (tx, { input, error }) =>
      changeWorkload(tx, input.boxId, { lifecycle: 'failed', failure: error?.message ?? null, power: null }),
  })
  .command('image', 'Fetching the image', {
    do: ({ input }) => nodeCommand(input.nodeId, 'image.ensure', input.image),
  })
  .command('disk', 'Making the disk', {
    do: ({ input, out }) =>
      nodeCommand(input.nodeId, 'volume.create', {
        volume: out.plan.volume,
        image: input.image.id,
        sizeBytes: out.plan.sizeBytes,
      }),
    undo: ({ input, out }) => nodeCommand(input.nodeId, 'volume.remove', out.plan.volume),
  })
  .command('firewall', 'Loading its network rules', {
    do: ({ input, out }) => nodeCommand(input.nodeId, 'firewall.allow', out.plan.portRules),
    undo: ({ input }) => nodeCommand(input.nodeId, 'firewall.forget', { workload: input.boxId }),
  })
  .command('define', 'Defining the machine', {
    do: ({ input, out }) => nodeCommand(input.nodeId, 'vm.define', out.plan.vm),
    undo: ({ input }) => nodeCommand(input.nodeId, 'vm.remove', { workload: input.boxId }),
  })
  .command('start', 'Starting it', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.start', { workload: input.boxId }),
    undo: ({ input }) => nodeCommand(input.nodeId, 'vm.stop', { workload: input.boxId, graceSeconds: 0 }),
  })
  .record('note', 'Ready', {
    do: (tx, { input }) =>
      changeWorkload(tx, input.boxId, { lifecycle: 'active', power: 'running', wantedPower: 'running' }),
  })

export const removing = forwardSaga<Input & { volume: Volume }>('remove-box')
  .command('remove', 'Removing the machine', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.remove', { workload: input.boxId }),
  })
  .command('disk', 'Deleting its disk', { do: ({ input }) => nodeCommand(input.nodeId, 'volume.remove', input.volume) })
  .command('firewall', 'Removing its network rules', {
    do: ({ input }) => nodeCommand(input.nodeId, 'firewall.forget', { workload: input.boxId }),
  })
  .record('release', 'Giving its address back', {
    do: (tx, { input, now }) => {
      releaseAddresses(tx, input.boxId)
      releaseHome(tx, input.boxId, now)
    },
  })

export const started = t.Object({ jobId: t.String(), boxId: t.String() })
const id = t.String({ maxLength: 40 })

const createBox = operation({
  id: 'boxes.create',
  method: 'POST',
  path: '/admin/boxes',
  summary: 'Order a box',
  access: { staff: ['servers:create'] },
  body: fields({ ownerId: id, nodeGroupId: id, imageId: id, memoryMb: t.Integer({ minimum: 1 }) }),
  response: started,
  status: 201,
  refuses: ['location_closed', 'no_capacity', 'no_addresses', 'hostname_taken'],
  run({ tx, actor, body, nodes, clock }) {
    const reserved = reserve(
      tx,
      { nodes, clock },
      {
        kind: boxKind,
        owner: see(tx, actor, customer, body.ownerId, 'ownerId'),
        location: see(tx, actor, location, body.nodeGroupId, 'nodeGroupId'),
        held: { vcpus: 1, memoryMb: body.memoryMb, diskGb: 10, gpus: 1, ipv4: 1, ipv6Prefix: null },
        hostname: undefined,
        name: undefined,
        lifecycle: 'provisioning',
        namesNodes: true,
      },
    )
    const source = sourceOf(see(tx, actor, image, body.imageId, 'imageId'))
    const input = { boxId: reserved.id, nodeId: reserved.node.id, image: source }
    return { jobId: startJob(tx, building, input, jobOf(reserved, actor, clock())), boxId: reserved.id }
  },
})

const removeBox = operation({
  id: 'boxes.remove',
  destroys: ['servers'],
  method: 'DELETE',
  path: '/boxes/{id}',
  summary: 'Remove a box',
  access: { staff: ['servers:terminate'] },
  on: box,
  response: started,
  status: 202,
  run: ({ tx, actor, target, clock }) => ({ jobId: remove(tx, target, actor, clock()), boxId: target.id }),
})

function remove(tx: Tx, target: Workload, actor: Actor, now: number): string {
  changeWorkload(tx, target.id, { lifecycle: 'terminated', terminatedAt: now })
  const input = { boxId: target.id, nodeId: target.nodeId, volume: volumeOf(target) }
  return startJob(tx, removing, input, jobOf({ ...target, node: { id: target.nodeId } }, actor, now))
}

const getBox = operation({
  id: 'boxes.get',
  method: 'GET',
  path: '/boxes/{id}',
  summary: 'One box',
  access: { staff: ['servers:read'], reseller: ['servers:read'], customer: ['servers:read'] },
  on: box,
  response: t.Object({ id: t.String(), status: t.String(), addresses: t.Array(t.String()) }),
  run: ({ tx, target }) => ({
    id: target.id,
    status: statusOf(target),
    addresses: addressesOf(tx, target.id).map(({ address }) => address),
  }),
})

type Reserved = { id: string; hostname: string; node: { id: string } }
export const jobOf = ({ id, hostname, node }: Reserved, by: Parameters<typeof startJob>[3]['by'], now: number) => ({
  by,
  title: `Box ${hostname}`,
  nodeId: node.id,
  now,
  ...lockOf(boxKind, id),
})

export const boxOperations = [createBox, removeBox, getBox]
export const endBox = (tx: Tx, id: string, by: Actor, now: number) => remove(tx, boxById(tx, id)!, by, now)
