import { Type as t } from 'typebox'
import { areas } from '../../identity/account-records/areas.ts'
import { described } from '../../kernel/api/operation.ts'
import { minute, second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { searchOf } from '../workloads/search.ts'
import { crashedInstances, failedInstances } from './attention.ts'
import { settingHttpNames, tellHostsTheirNames } from './http/names.ts'
import { setInstanceHttpPorts } from './http/ports.ts'
import {
  deleteInstance,
  deleteOwnInstance,
  deleteReleased,
  deletingInstance,
  holdingBack,
  keepInstance,
  removeInstance,
} from './life/delete.ts'
import { suspendInstance, suspendingInstance, unsuspendInstance } from './life/suspend.ts'
import { getInstance, listAllInstances, listInstances } from './list.ts'
import { aboutInstance, gpuInstanceKind, load, pageOf, pageOfList } from './model.ts'
import { instanceNotices, tellInstanceOwner } from './notices.ts'
import { createInstance, createResellerInstance, orderInstance } from './order/create.ts'
import { listOrderableOffers } from './order/offers.ts'
import { instancesWithImage, instancesWithOffer, instanceTarget } from './queries.ts'
import { encryptedEnvironment, encryptedJupyterToken } from './run/container.ts'
import { powerInstance } from './run/power.ts'
import { stoppingInstance } from './run/power-job.ts'
import { rebuildInstance } from './run/rebuild.ts'
import { runningInstance, unsuspendingInstance } from './run/run.ts'
import { takeCrash, takeLoss, takePower } from './run/state-changes.ts'
import { setInstanceBillingService } from './settings/billing-service.ts'
import { setInstanceEnvironment } from './settings/environment.ts'
import { renameInstance } from './settings/rename.ts'
import { setInstanceRestartPolicy } from './settings/restart-policy.ts'
import { setInstanceKeys, settingInstanceKeys } from './settings/ssh-keys.ts'
import { instanceActions } from './state.ts'
import { gpuInstances } from './tables.ts'

/** Why an instance started or stopped; a crash also says how it ended. */
const spell = {
  ...aboutInstance,
  reason: t.String(),
  detail: t.Optional(t.String()),
  exitCode: t.Optional(t.Integer()),
  oomKilled: t.Optional(t.Boolean()),
}
const both = 'resellers and customers'
const events = {
  'gpu_instance.created': event(
    'resellers',
    'Created and being set up',
    t.Object({ ...aboutInstance, orderedBy: described(t.Enum(['staff', 'reseller', 'customer']), 'Who ordered it.') }),
  ),
  'gpu_instance.ready': event(both, 'Finished setting up and runs', t.Object(aboutInstance)),
  'gpu_instance.started': event(both, 'Started, restarted or unsuspended', t.Object(spell)),
  'gpu_instance.stopped': event(both, 'Stopped on request or on its own', t.Object(spell)),
  'gpu_instance.failed': event(
    both,
    'Setting up, starting or changing failed, or its host was lost',
    t.Object({ ...aboutInstance, action: t.String(), error: t.String() }),
  ),
  'gpu_instance.image_changed': event(both, 'Made again from another image', t.Object(aboutInstance)),
  'gpu_instance.suspended': event(both, 'Suspended', t.Object({ ...aboutInstance, reason: t.String() })),
  'gpu_instance.unsuspended': event(both, 'Unsuspended', t.Object(aboutInstance)),
  'gpu_instance.deleted': event(both, 'Instance and its /workspace deleted', t.Object(aboutInstance)),
  'gpu_instance.undeleted': event('resellers', 'Its deletion was refused: it is there again', t.Object(aboutInstance)),
}

const errors = {
  gpu_instance_not_found: {
    status: 404,
    when: 'There is no such GPU instance, or it is not yours.',
    remedy: 'Check the id.',
  },
  gpu_instance_busy: {
    status: 409,
    when: 'A job holds the GPU instance.',
    remedy: 'Follow that job, then try again.',
  },
  gpu_instance_suspended: {
    status: 409,
    when: 'The GPU instance is suspended.',
    remedy: 'Have it unsuspended first; a customer asks the provider.',
  },
  gpu_instance_failed: {
    status: 409,
    when: 'The GPU instance has failed: it could not be set up, started or changed.',
    remedy: 'Start it, rebuild it, or delete it.',
  },
  gpu_instance_deleted: {
    status: 409,
    when: 'The GPU instance is deleted, or is being deleted.',
    remedy: 'Nothing: it no longer exists.',
  },
} as const

const scopes = { 'gpu:order': { words: 'Order GPU instances', heldBy: ['customer'] } } as const

const ids = { gpuInstance: { prefix: 'gpu', sample: 'training', also: ['GPUInstance', 'instance'] } } as const

declare module '../../kernel/register.ts' {
  interface Names {
    'gpu-instances': {
      ids: typeof ids
      scopes: typeof scopes
      events: typeof events
      errors: typeof errors
      notices: typeof instanceNotices
    }
  }
}

/** Causes of failed jobs, in words for everybody. */
const failures = {
  container_ended: 'The container ended as soon as it was started.',
  container_engine_silent: 'The container engine of the node does not respond.',
  container_not_started: 'The container could not be started.',
  http_proxy_refused: 'The proxy for the HTTP ports of instances refuses its configuration.',
  instance_network: 'The network for container instances on the node has a mistake.',
  no_container: 'The container is missing on the node.',
  no_container_engine: 'The node is not set up for container instances.',
  no_http_proxy: 'The node lacks the proxy for the HTTP ports of instances.',
  no_workspace: 'The workspace of the instance is missing on the node.',
  port_taken: 'A port of the node is already in use.',
  slot_taken: 'Another instance of the node is in the way.',
  ssh_kit: 'The node lacks what instances need for SSH.',
  workspace_busy: 'The workspace of the instance is in use.',
  workspace_damaged: 'The file system of the workspace is damaged.',
} as const

export const gpuInstancesFeature = feature({
  name: 'gpu-instances',
  workloadActions: [instanceActions],
  failures,
  ids,
  scopes,
  errors,
  events,
  tables: [gpuInstances],
  encrypted: [encryptedEnvironment, encryptedJupyterToken],
  workloadKinds: [
    {
      ...gpuInstanceKind,
      runsAs: 'container',
      terminate: (tx, id, asked) => removeInstance(tx, load(tx, id), asked),
      undelete: (tx, id, asked) => keepInstance(tx, load(tx, id), asked),
      lost: takeLoss,
      crashed: takeCrash,
      powered: takePower,
    },
  ],
  catalogueUse: { ofGpuImage: instancesWithImage, ofGpuOffer: instancesWithOffer },
  jobs: [
    runningInstance,
    unsuspendingInstance,
    stoppingInstance,
    suspendingInstance,
    deletingInstance,
    holdingBack,
    settingInstanceKeys,
    settingHttpNames,
  ],
  operations: [
    createInstance,
    createResellerInstance,
    orderInstance,
    listOrderableOffers,
    listAllInstances,
    listInstances,
    getInstance,
    renameInstance,
    powerInstance,
    rebuildInstance,
    setInstanceKeys,
    setInstanceEnvironment,
    setInstanceRestartPolicy,
    setInstanceHttpPorts,
    setInstanceBillingService,
    suspendInstance,
    unsuspendInstance,
    deleteInstance,
    deleteOwnInstance,
  ],
  schedule: [
    {
      everyMs: 5 * second,
      words: 'telling hosts the names of HTTP ports',
      work: ({ db, app }) => tellHostsTheirNames(db, app),
    },
    {
      everyMs: minute / 2,
      words: 'deleting the GPU instances whose deletion was released',
      work: ({ db, app }) => deleteReleased(db, app),
    },
  ],
  onEvent: tellInstanceOwner,
  notices: instanceNotices,
  attention: [failedInstances, crashedInstances],
  auditTargets: [
    {
      ...instanceTarget,
      page: ({ id, isGone }, { kind }) => (kind === 'staff' || !isGone ? pageOf(areas[kind], id) : undefined),
    },
  ],
  search: [searchOf(gpuInstanceKind, { type: 'GPU instance', position: 12, list: pageOfList })],
})
