// The change of a server's package, up or down, on the node where it stands. The larger of the old and the new amounts
// is held from the call until the job has ended. Addresses stay as they are.

import { Type as t } from 'typebox'
import { nodeCommand, type Vm, type Volume } from '../../../../agent/protocol/wire.ts'
import { packageOnSale } from '../../../catalog/packages/model.ts'
import { packageById } from '../../../catalog/packages/queries.ts'
import { capacityOf } from '../../../fleet/placement/capacity.ts'
import { poolSpaceOf } from '../../../fleet/storage-pools/queries.ts'
import { mustHaveSpace } from '../../../fleet/storage-pools/space.ts'
import { resize } from '../../../fleet/workloads/stays/stays.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { mustAllowChange, resellerOf } from '../../../identity/resellers/model.ts'
import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation, see } from '../../../kernel/api/operation.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { emit } from '../../../kernel/jobs/outbox.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { exactGb } from '../../../kernel/words.ts'
import { diskJob } from '../../server-records/disk-lock.ts'
import { type DiskLimits, diskLimitsOf } from '../../server-records/limits.ts'
import { inEvent, load, type Server, server } from '../../server-records/model.ts'
import { updateServer } from '../../server-records/queries.ts'
import { GIB, vmOf, volumeOf } from '../../server-vm/definition.ts'
import { lookAtPower } from '../../server-vm/steps.ts'
import { setSpeed } from '../../speed/tell.ts'
import { mustAllowFor, refusalsOf } from '../states.ts'

/** The part of a package that a server takes over when it changes to it. */
type Sizes = {
  packageId: string
  vcpus: number
  memoryMb: number
  diskGb: number
  trafficGb: number | null
  portMbps: number | null
} & DiskLimits
const sizesOf = (of: Sizes): Sizes => ({
  packageId: of.packageId,
  vcpus: of.vcpus,
  memoryMb: of.memoryMb,
  diskGb: of.diskGb,
  trafficGb: of.trafficGb,
  portMbps: of.portMbps,
  ...diskLimitsOf(of),
})
const isSame = (a: Sizes, b: Sizes) => JSON.stringify(sizesOf(a)) === JSON.stringify(sizesOf(b))

export const changeServerPackage = operation({
  id: 'servers.change-package',
  method: 'POST',
  path: '/servers/{id}/actions/change-package',
  summary: 'Change the package of a server: the disk only grows, and addresses stay',
  access: { staff: ['servers:resize'], reseller: ['reseller:servers'] },
  on: server,
  body: fields({ packageId: t.String({ minLength: 1, maxLength: 40 }) }),
  response: namedSchema('PackageChange', {
    jobId: described(nullable(t.String()), 'The job that was started; null where the server has this package already.'),
    serverId: t.String(),
    takesEffect: described(
      t.Enum(['now', 'at_restart']),
      'at_restart: it runs, so memory and vCPUs change when it is restarted in the panel or by `servers.power`; a ' +
        'reboot from inside is not enough. The disk grows at once.',
    ),
  }),
  status: 202,
  idempotent: true,
  refuses: [
    ...refusalsOf('change_package'),
    'server_busy',
    'no_capacity',
    'reseller_suspended',
    'package_not_allowed',
    'quota_exceeded',
  ],
  example: { packageId: '<package_id>' },
  run({ tx, actor, target, body, clock }) {
    const chosen = see(tx, actor, packageOnSale, body.packageId, 'packageId')
    const [from, to] = [sizesOf(target), sizesOf({ ...chosen, packageId: chosen.id })]
    if (to.diskGb < from.diskGb)
      throw invalid({
        field: 'packageId',
        message:
          `has a disk of ${exactGb(to.diskGb)}, and the server has one of ${exactGb(from.diskGb)}. A disk cannot ` +
          'shrink: choose a package with one at least as large.',
      })
    const isNew = chosen.id !== target.packageId
    if (isNew) mustBeOfClass(tx, target, chosen.storageClass)
    if (isNew && chosen.archived) throw invalid({ field: 'packageId', message: 'is archived. Choose another package.' })
    mustAllowFor(tx, actor, target, 'change_package')
    if (isSame(from, to)) return { jobId: null, serverId: target.id, takesEffect: 'now' as const }
    const reseller = resellerOf(tx, accountById(tx, target.ownerId)!)
    if (reseller) mustAllowChange(tx, clock(), reseller, from, chosen)
    mustHaveCapacity(tx, target, to, actor.kind === 'staff')
    const title = `Change the package of ${target.hostname} to ${chosen.name}`
    const input = { serverId: target.id, nodeId: target.nodeId, from, to }
    const jobId = startJob(tx, resizing, input, diskJob(target, { by: actor, title, now: clock() }))
    // The job's first step can be undone even if it never began, and returns these.
    resize(tx, target.id, larger(from, to))
    const waits = target.power === 'running' && (from.vcpus !== to.vcpus || from.memoryMb !== to.memoryMb)
    return { jobId, serverId: target.id, takesEffect: waits ? ('at_restart' as const) : ('now' as const) }
  },
})

const larger = (a: Sizes, b: Sizes) => ({
  vcpus: Math.max(a.vcpus, b.vcpus),
  memoryMb: Math.max(a.memoryMb, b.memoryMb),
  diskGb: Math.max(a.diskGb, b.diskGb),
})

/** Throws `validation_failed`: the disk stays in its pool. */
function mustBeOfClass(tx: Tx, target: Server, wanted: string | null) {
  const has = poolSpaceOf(tx, target)?.class ?? null
  if (wanted === null || wanted === has) return
  throw invalid({
    field: 'packageId',
    message:
      `needs ${wanted} storage, and the disk of the server stands on ` +
      `${has === null ? 'storage without a class' : `${has} storage`}. Choose another package, or order a new server.`,
  })
}

/** Throws `no_capacity`: the server stays on its node, and its disk in its pool. */
function mustHaveCapacity(tx: Tx, target: Server, to: Sizes, namesNode: boolean) {
  const node = capacityOf(tx, target.nodeId)
  const [memoryMb, diskGb] = [to.memoryMb - target.memoryMb, to.diskGb - target.diskGb]
  const lacks = (what: string) =>
    `${namesNode ? node.name : 'The node of the server'} has no ${what} left for this package. Choose a smaller one, ` +
    'or have the server moved.'
  if (memoryMb > 0 && node.memoryMb - node.heldMemoryMb < memoryMb) throw new ApiError('no_capacity', lacks('memory'))
  if (diskGb > 0) mustHaveSpace(tx, { ...target, name: target.hostname }, diskGb, lacks('disk space'))
}

type Resizing = { serverId: string; nodeId: string; from: Sizes; to: Sizes }
type Plan = { before: Vm; after: Vm; volume: Volume }

function plan(tx: Tx, { serverId, from, to }: Resizing): Plan {
  const target = load(tx, serverId)
  const volume = volumeOf(target, target.diskGeneration!)
  return {
    before: vmOf(tx, { ...target, ...from }, volume, false),
    // A server that was slowed down for its traffic begins anew with its package.
    after: vmOf(tx, { ...target, ...to, throttleMbps: null }, volume, false),
    volume,
  }
}

export const resizing = saga<Resizing>('resize', { title: 'Package change', neverStops: true })
  .record('hold', 'Holding the larger of both packages', {
    do: (tx, { input }) => plan(tx, input),
    // The operation holds the amounts.
    undo: (tx, { input: { serverId, from } }) => {
      const { vcpus, memoryMb, diskGb } = from
      resize(tx, serverId, { vcpus, memoryMb, diskGb })
    },
  })
  .command('look', ...lookAtPower)
  .command('define', 'Changing the virtual machine', {
    do: ({ input, out }) => nodeCommand(input.nodeId, 'vm.define', out.hold.after),
    undo: ({ input, out }) => nodeCommand(input.nodeId, 'vm.define', out.hold.before),
  })
  // In force at once, where memory and vCPUs wait for a restart.
  .command('speed', 'Changing its speed', {
    do: ({ input, out }) => setSpeed(input, out.hold.after.speed),
    undo: ({ input, out }) => setSpeed(input, out.hold.before.speed),
  })
  // After everything that can fail: a disk cannot shrink.
  .pivotCommand('grow', 'Enlarging its disk', {
    do: ({ input: { nodeId, from, to }, out }) =>
      to.diskGb > from.diskGb
        ? nodeCommand(nodeId, 'volume.grow', { volume: out.hold.volume, sizeBytes: to.diskGb * GIB })
        : undefined,
  })
  .record('tell', 'Recording the package', {
    do: (tx, { input: { serverId, from, to }, out, now, log }) => {
      const { vcpus, memoryMb, diskGb, ...ofServer } = to
      resize(tx, serverId, { vcpus, memoryMb, diskGb })
      updateServer(tx, serverId, { ...ofServer, throttleMbps: null, throttleMonth: null })
      if (out.look.power === 'running' && (from.vcpus !== vcpus || from.memoryMb !== memoryMb))
        log('Memory and vCPUs change when the server is restarted in the panel. A reboot from inside is not enough.')
      const { concerning, data } = inEvent(tx, load(tx, serverId))
      const [before, after] = [packageById(tx, from.packageId), packageById(tx, to.packageId)]
      emit(tx, now, 'server.resized', concerning, {
        ...data,
        from: before?.name ?? from.packageId,
        to: after?.name ?? to.packageId,
        fromPackageId: from.packageId,
        toPackageId: to.packageId,
        billingProductId: after?.billingProductId ?? null,
      })
    },
  })
