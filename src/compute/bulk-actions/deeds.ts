// The actions that can be done to many workloads at once. Each does to one what its own operation does, in the
// transaction of its row.
import type { Workload } from '../../fleet/workloads/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { askSuspension as askInstanceSuspension } from '../gpu-instances/life/suspend.ts'
import { type GpuInstance, gpuInstanceKind, instanceById } from '../gpu-instances/model.ts'
import {
  changePower as changeInstancePower,
  type PowerAction as InstancePower,
  titles as instanceTitles,
} from '../gpu-instances/run/power-job.ts'
import { type Server, serverById, serverKind } from '../server-records/model.ts'
import { changeOwner } from '../servers/life/change-owner.ts'
import { askSuspension } from '../servers/life/suspend.ts'
import { changePower, type PowerAction, titles } from '../servers/power-job.ts'
import { actingServer, mustAllowFor } from '../servers/states.ts'
import { changeLabels } from '../workloads/labels.ts'

export type Acting = Pick<AppContext, 'clock' | 'registry'> & { tx: Tx; actor: Actor; parentId: string }

/** `operation`: the one for a single workload, whose name the line of the audit log has. */
export type Deed<Row, Body> = {
  operation: string
  /** In the title of the job. */
  title(body: Body): string
  /** It starts a job at once, so it waits while the node is away, and nodes take a few of them at a time. */
  loadsNodes: boolean
  /** Answers the job's id; null where nothing is left to do. Throws what the operation refuses. */
  act(call: Acting, target: Row, body: Body): string | null
}
export type BulkKind<Row extends Workload = any> = {
  kind: string
  words: { one: string; many: string }
  idPrefix: string
  find(tx: Db, id: string): Row | undefined
  deeds: Readonly<Record<string, Deed<Row, any>>>
}
const deed = <Row, Body>(one: Deed<Row, Body>): Deed<Row, Body> => one
const by = ({ actor, clock, parentId }: Acting) => ({ by: actor, now: clock(), parentId })

export const bulkServers: BulkKind<Server> = {
  ...serverKind,
  find: serverById,
  deeds: {
    power: deed<Server, { action: PowerAction }>({
      operation: 'servers.power',
      title: ({ action }) => titles[action],
      loadsNodes: true,
      act: (call, target, { action }) => changePower(call.tx, target, action, by(call)),
    }),
    suspend: deed<Server, { reason: string }>({
      operation: 'servers.suspend',
      title: () => 'Suspend',
      loadsNodes: false,
      act: (call, target, { reason }) => askSuspension.suspend(call.tx, target, { ...by(call), reason }),
    }),
    unsuspend: deed<Server, object>({
      operation: 'servers.unsuspend',
      title: () => 'Unsuspend',
      loadsNodes: true,
      act: (call, target) => askSuspension.unsuspend(call.tx, target, by(call)),
    }),
    label: deed<Server, { add?: string[]; remove?: string[] }>({
      operation: 'servers.label',
      title: () => 'Change labels of',
      loadsNodes: false,
      act({ tx, actor }, target, change) {
        mustAllowFor(tx, actor, target, 'rename')
        changeLabels(tx, actingServer, target, 'staff', change)
        return null
      },
    }),
    'change-owner': deed<Server, { ownerId: string }>({
      operation: 'servers.change-owner',
      title: () => 'Change the owner of',
      loadsNodes: false,
      act(call, target, { ownerId }) {
        changeOwner(call, target, ownerId)
        return null
      },
    }),
  },
}

export const bulkInstances: BulkKind<GpuInstance> = {
  ...gpuInstanceKind,
  find: instanceById,
  deeds: {
    power: deed<GpuInstance, { action: InstancePower }>({
      operation: 'gpu-instances.power',
      title: ({ action }) => instanceTitles[action],
      loadsNodes: true,
      act: (call, target, { action }) => changeInstancePower(call.tx, target, action, by(call)),
    }),
    suspend: deed<GpuInstance, { reason: string }>({
      operation: 'gpu-instances.suspend',
      title: () => 'Suspend',
      loadsNodes: false,
      act: (call, target, { reason }) => askInstanceSuspension.suspend(call.tx, target, { ...by(call), reason }),
    }),
    unsuspend: deed<GpuInstance, object>({
      operation: 'gpu-instances.unsuspend',
      title: () => 'Unsuspend',
      loadsNodes: true,
      act: (call, target) => askInstanceSuspension.unsuspend(call.tx, target, by(call)),
    }),
  },
}

export const bulkKinds: readonly BulkKind[] = [bulkServers, bulkInstances]
export const bulkKindOf = (kind: string): BulkKind => bulkKinds.find((one) => one.kind === kind)!
