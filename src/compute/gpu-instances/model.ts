// A GPU instance: its row, the resource by which operations find it, and what events say of it.
import { Type as t } from 'typebox'
import { gpuOfferById } from '../../catalog/gpu-offers/queries.ts'
import { hostAddressOf } from '../../fleet/gpus/hold.ts'
import { locationOf, locationReferred } from '../../fleet/locations/reference.ts'
import { lockOf, type WorkloadKind } from '../../fleet/workloads/kind.ts'
import { rowsOf, type WorkloadRow } from '../../fleet/workloads/queries.ts'
import { namedStatuses } from '../../fleet/workloads/status.ts'
import type { Area } from '../../identity/account-records/areas.ts'
import { customerData, customerInEvent } from '../../identity/account-records/model.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { canSeeEnded, workloadResource } from '../../identity/team/access.ts'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { type EventData, type EventName, emit } from '../../kernel/jobs/outbox.ts'
import type { Subject } from '../../kernel/jobs/saga.ts'
import type { NewJob } from '../../kernel/jobs/start.ts'
import { primaryIpv4 } from '../../network/ip-pools/allocate.ts'
import { gpuInstances } from './tables.ts'

/** The response of operations that may start a job for an instance. */
export const jobResponse = namedSchema('InstanceJobStarted', {
  jobId: described(nullable(t.String()), 'The job that was started; null where there is no work for a node.'),
  instanceId: t.String(),
})

/** The response of changes that are done at once. */
export const changeResponse = namedSchema('InstanceChanged', { instanceId: t.String() })
export const jobDetailResponse = {
  schema: jobResponse,
  of: (instanceId: string, jobId: string | null) => ({ jobId, instanceId }),
}

export const gpuInstanceKind: WorkloadKind = {
  kind: 'gpu_instance',
  idPrefix: 'gpu',
  hostnamePrefix: 'gpu',
  words: { one: 'GPU instance', many: 'GPU instances' },
  busy: 'gpu_instance_busy',
}

/** While its container and its /workspace are being removed it is `deleting`. */
export const instanceStatuses = namedStatuses({
  provisioning: 'creating',
  pending_setup: 'creating',
  running: 'running',
  stopped: 'stopped',
  suspended: 'suspended',
  failed: 'failed',
  terminated: { held: 'deleting', released: 'deleted' },
})
export type InstanceStatus = (typeof instanceStatuses)['statuses'][number]
/** The statuses in which the host has something of an instance: with the host away it is unreachable. */
export const instanceStatusesOnNode = [
  'creating',
  'running',
  'stopped',
  'suspended',
  'failed',
] as const satisfies InstanceStatus[]
export type GpuInstance = WorkloadRow<typeof gpuInstances, InstanceStatus>

export const instanceById = rowsOf(gpuInstances, instanceStatuses.of)
/** For sagas: the row behind a job's input, which is never deleted. */
export const load = (tx: Db, id: string): GpuInstance => instanceById(tx, id)!

export const gpuInstance: Resource<GpuInstance> = {
  name: 'GPU instance',
  notFound: 'gpu_instance_not_found',
  ...workloadResource(instanceById),
}
/** The same with those whose deletion waits for a second person. */
export const endedInstance: Resource<GpuInstance> = {
  ...gpuInstance,
  ...workloadResource(instanceById, canSeeEnded),
}

/** Fields that every job about an instance has: it takes the instance's lock, and its subject is the instance. */
export const instanceJob = (
  { id, nodeId }: Pick<GpuInstance, 'id' | 'nodeId'>,
  { by, title, now, parentId }: Pick<NewJob, 'by' | 'title' | 'now' | 'parentId'>,
): NewJob & { subject: Subject } => ({ by, title, now, parentId, nodeId, ...lockOf(gpuInstanceKind, id) })

/** The address by which people reach it: its own, or that of its host. Null: its host has told none. */
export const addressOf = (tx: Db, { id, nodeId }: Pick<GpuInstance, 'id' | 'nodeId'>): string | null =>
  primaryIpv4(tx, id) ?? hostAddressOf(tx, nodeId)

/** The page with the list of instances, for each part of the panel. */
export const pageOfList = (area: Area) => (area === '/admin' ? '/admin/gpu-instances' : (`${area}/gpu` as const))
/** The page of an instance. */
export const pageOf = (area: Area, id: string) => `${pageOfList(area)}/${id}` as const

/** An instance as events carry it. */
const instanceData = namedSchema('EventGpuInstance', {
  id: t.String(),
  name: t.String(),
  status: t.String(),
  offerId: t.String(),
  billingProductId: nullable(t.String()),
  location: locationReferred,
  address: nullable(t.String()),
  createdAt: time,
  billingServiceId: nullable(t.String()),
})
/** The data that every event of an instance has. */
export const aboutInstance = { gpuInstance: instanceData, customer: customerData }

/** Emits an event of an instance, as it is now, with the further data of its type. */
export function tell<N extends Extract<EventName, `gpu_instance.${string}`>>(
  tx: Tx,
  now: number,
  type: N,
  id: string,
  more: Omit<EventData<N>, 'gpuInstance' | 'customer'>,
) {
  const instance = load(tx, id)
  const data = {
    gpuInstance: {
      id: instance.id,
      name: instance.name,
      // For billing a deletion is done when it is told, also while its /workspace waits for the brake.
      status: type === 'gpu_instance.deleted' ? 'deleted' : instance.status,
      offerId: instance.offerId,
      billingProductId: gpuOfferById(tx, instance.offerId)?.billingProductId ?? null,
      location: locationOf(tx, instance),
      address: addressOf(tx, instance),
      createdAt: iso(instance.createdAt),
      billingServiceId: instance.billingServiceId,
    },
    customer: customerInEvent(accountById(tx, instance.ownerId)!),
    ...more,
  }
  const { ownerId: customerId, resellerId } = instance
  const subject = { type: gpuInstanceKind.kind, id }
  emit(tx, now, type, { subject, customerId, resellerId }, data as unknown as EventData<N>)
}
