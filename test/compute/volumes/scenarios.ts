import { expect } from 'bun:test'
import type { FakeHypervisor } from '../../../agent/drivers/hypervisor/fake.ts'
import { workloadById } from '../../../src/fleet/workloads/queries.ts'
import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { built, order, running } from '../../support/crash-matrix/servers.ts'
import type { World } from '../../support/world/panel.ts'

/** A package whose servers have extra volumes. */
async function withVolumes(p: World) {
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 50 })
  return order(p)
}
async function withVolume(p: World) {
  const id = await withVolumes(p)
  await p.admin('POST', `/servers/${id}/volumes`, { name: 'data', sizeGb: 10 })
  await p.settle()
  return id
}
const onVolume = async (p: World, method: string, action: string, body?: object) => {
  const { id } = (await p.admin('GET', '/volumes')).data[0]
  return p.admin(method, `/volumes/${id}${action}`, body)
}
async function withDetachedVolume(p: World) {
  const id = await withVolume(p)
  await onVolume(p, 'POST', '/actions/detach')
  await p.settle()
  return id
}

async function extraOf(p: World): Promise<string> {
  const { storage, state, hypervisor } = p.node.agent.host
  const nameOf = (id: string | null | undefined) => (id ? workloadById(p.db, id)!.hostname : 'none')
  const rows = p.db.$client
    .query<{ name: string; size: number; held: number; server: string | null; state: string; job: string | null }, []>(
      `SELECT name, size_gb AS size, held_gb AS held, server_id AS server, state, job_id AS job
       FROM volumes ORDER BY id`,
    )
    .all()
  const recorded = rows.map(
    ({ name, size, held, server, state, job }) =>
      `${name} ${size}/${held} ${state} on ${nameOf(server)}${job ? ' with a job' : ''}`,
  )
  const there = (await storage.list()).filter(({ workload }) => workload.startsWith('vol_'))
  const onNode = await Promise.all(
    there.map(async (volume) => {
      const holder = state.holderOf(volume.workload)
      const size = (await storage.pool(volume.pool).sizeBytes(volume))! / 1024 ** 3
      const isIn = !!holder && (hypervisor as FakeHypervisor).volumes(holder).length > 0
      return `${size} on ${nameOf(holder)}${holder && !isIn ? ', which lacks it' : ''}`
    }),
  )
  return `${recorded.join(', ') || 'none'}; ${onNode.join(', ') || 'none'}`
}

export const measures: Measures = {
  /** Extra volumes: by the record, and on the node with the vms that have them. */
  extra: extraOf,
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'making an extra volume',
    kind: 'create_volume',
    before: withVolumes,
    start: (p, id) => p.admin('POST', `/servers/${id}/volumes`, { name: 'data', sizeGb: 10 }),
    succeeds: {
      ...running,
      volumes: 2,
      extra: 'data 10/10 ready on web01; 10 on web01',
      events: [...built, 'volume.created'],
    },
    fails: { ...running, extra: 'none; none' },
  },
  {
    name: 'moving an extra volume to another server',
    kind: 'move_volume',
    before: async (p) => {
      const id = await withVolume(p)
      await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02' })
      await p.settle()
      return id
    },
    start: async (p, id) => {
      const { data } = await p.admin('GET', '/servers')
      const serverId = data.find((other: { id: string }) => other.id !== id).id
      return { ...(await onVolume(p, 'POST', '/actions/attach', { serverId })), serverId: id }
    },
    succeeds: { volumes: 3, openJobs: 0, extra: 'data 10/10 ready on web02; 10 on web02' },
    fails: { volumes: 3, openJobs: 0, extra: 'data 10/10 ready on web01; 10 on web01' },
  },
  {
    name: 'enlarging an extra volume',
    kind: 'grow_volume',
    before: withVolume,
    start: async (p, id) => ({ ...(await onVolume(p, 'POST', '/actions/grow', { sizeGb: 20 })), serverId: id }),
    succeeds: { openJobs: 0, volumes: 2, extra: 'data 20/20 ready on web01; 20 on web01' },
    // A disk that has grown stays so, also where its node could not say it any more.
    fails: ({ extra }: { extra: string }) => ({
      openJobs: 0,
      extra: extra.includes('data 20')
        ? 'data 20/20 ready on web01; 20 on web01'
        : expect.stringMatching(/^data 10\/10 ready on web01; (10|20) on web01$/),
    }),
  },
  {
    name: 'deleting an extra volume',
    kind: 'delete_volume',
    before: withDetachedVolume,
    start: async (p, id) => ({ ...(await onVolume(p, 'DELETE', '')), serverId: id }),
    succeeds: { ...running, extra: 'none; none', events: [...built, 'volume.created', 'volume.deleted'] },
  },
]
