// The move of a box to another node, in the one folder of its kind: a stay opens there, the box runs there, the home is
// switched, and a second job clears the former home. Its disk is made anew: this is about stays, not about a copy.
import { Type as t } from 'typebox'
import { type ImageSource, nodeCommand, type Volume } from '../../../../agent/protocol/wire.ts'
import { image, sourceOf } from '../../../../src/catalog/images/model.ts'
import { node } from '../../../../src/fleet/node-records/model.ts'
import { nodeById } from '../../../../src/fleet/node-records/queries.ts'
import { capacityOf } from '../../../../src/fleet/placement/capacity.ts'
import { lockOf } from '../../../../src/fleet/workloads/kind.ts'
import { changeWorkload } from '../../../../src/fleet/workloads/queries.ts'
import { judgeForMove } from '../../../../src/fleet/workloads/stays/second-node.ts'
import { closeStay, openArriving, switchHome } from '../../../../src/fleet/workloads/stays/stays.ts'
import { system } from '../../../../src/kernel/api/actor.ts'
import { ApiError } from '../../../../src/kernel/api/errors.ts'
import { fields, operation, see } from '../../../../src/kernel/api/operation.ts'
import { forwardSaga, saga } from '../../../../src/kernel/jobs/saga.ts'
import { startJob } from '../../../../src/kernel/jobs/start.ts'
import { box, boxById, boxKind, jobOf, plan, started, volumeOf } from './box.ts'

type Moving = { boxId: string; from: string; to: string; pool: string; image: ImageSource }

export const moving = saga<Moving>('move-box', { twoNodes: true })
  .record('open', 'Holding its place', {
    do: (tx, { input: { boxId, to, pool }, now }) => {
      const target = boxById(tx, boxId)!
      openArriving(tx, boxId, { nodeId: to, pool, spareDiskGb: 0 }, now)
      return plan(tx, { ...target, nodeId: to, pool })
    },
    undo: (tx, { input: { boxId, to }, now }) => closeStay(tx, boxId, to, now),
    undoAtOnce: false,
  })
  .command('image', 'Fetching the image', { do: ({ input }) => nodeCommand(input.to, 'image.ensure', input.image) })
  .command('disk', 'Making its disk', {
    do: ({ input, out: { open } }) =>
      nodeCommand(input.to, 'volume.create', { volume: open.volume, image: input.image.id, sizeBytes: open.sizeBytes }),
    undo: ({ input, out }) => nodeCommand(input.to, 'volume.remove', out.open.volume),
  })
  .command('firewall', 'Loading its network rules', {
    do: ({ input, out }) => nodeCommand(input.to, 'firewall.allow', out.open.portRules),
    undo: ({ input }) => nodeCommand(input.to, 'firewall.forget', { workload: input.boxId }),
  })
  .command('define', 'Defining the machine', {
    do: ({ input, out }) => nodeCommand(input.to, 'vm.define', out.open.vm),
    undo: ({ input }) => nodeCommand(input.to, 'vm.remove', { workload: input.boxId }),
  })
  .command('stop', 'Stopping it where it was', {
    do: ({ input }) => nodeCommand(input.from, 'vm.stop', { workload: input.boxId, graceSeconds: 0 }),
    undo: ({ input }) => nodeCommand(input.from, 'vm.start', { workload: input.boxId }),
  })
  .pivot('switch', 'Changing its home', {
    do: (tx, { input: { boxId, from, to }, now }) => {
      const volume = volumeOf(boxById(tx, boxId)!)
      switchHome(tx, boxId, nodeHome(nodeById(tx, to)!))
      changeWorkload(tx, boxId, { power: 'running', wantedPower: 'running' })
      const about = { by: system, title: 'Clear what a box left behind', nodeId: from, now }
      startJob(tx, clearing, { boxId, nodeId: from, volume }, { ...about, subject: { type: boxKind.kind, id: boxId } })
    },
  })
  // Behind the point of no return: an undo could not stop it on a node that is away, and would start it where it was.
  .command('start', 'Starting it', {
    do: ({ input }) => nodeCommand(input.to, 'vm.start', { workload: input.boxId }),
  })
const nodeHome = ({ id, locationId }: { id: string; locationId: string }) => ({ nodeId: id, locationId })

export const clearing = forwardSaga<{ boxId: string; nodeId: string; volume: Volume }>('clear-box')
  .command('remove', 'Removing the machine', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.remove', { workload: input.boxId }),
  })
  .command('disk', 'Deleting its disk', { do: ({ input }) => nodeCommand(input.nodeId, 'volume.remove', input.volume) })
  .command('firewall', 'Removing its network rules', {
    do: ({ input }) => nodeCommand(input.nodeId, 'firewall.forget', { workload: input.boxId }),
  })
  .record('close', 'Giving back what it held', {
    do: (tx, { input: { boxId, nodeId }, now }) => closeStay(tx, boxId, nodeId, now),
  })

export const moveBox = operation({
  id: 'boxes.move',
  method: 'POST',
  path: '/boxes/{id}/actions/move',
  summary: 'Move a box to another node',
  access: { staff: ['servers:create'] },
  on: box,
  body: fields({ nodeId: t.String({ maxLength: 40 }), imageId: t.String({ maxLength: 40 }) }),
  response: started,
  status: 202,
  refuses: ['no_capacity'],
  run({ tx, actor, target, body, clock, nodes }) {
    const to = see(tx, actor, node, body.nodeId, 'nodeId').id
    const source = sourceOf(see(tx, actor, image, body.imageId, 'imageId'))
    const brought = { storageClass: null, spareDiskGb: 0 }
    const there = judgeForMove(tx, target, brought, nodes)(capacityOf(tx, to))
    if ('disabledReason' in there) throw new ApiError('no_capacity', `Its node ${there.disabledReason}.`)
    const input = { boxId: target.id, from: target.nodeId, to, pool: there.pool, image: source }
    const about = jobOf({ ...target, node: { id: target.nodeId } }, actor, clock())
    return {
      jobId: startJob(tx, moving, input, { ...about, ...lockOf(boxKind, target.id), otherNodeId: to }),
      boxId: target.id,
    }
  },
})
