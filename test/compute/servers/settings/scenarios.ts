import { workloadById } from '../../../../src/fleet/workloads/queries.ts'
import { definitionOnNode } from '../../../support/crash-matrix/fake-node.ts'
import type { Measures, Scenario } from '../../../support/crash-matrix/scenario.ts'
import { act, built, order, running, stopped, there } from '../../../support/crash-matrix/servers.ts'
import type { World } from '../../../support/world/panel.ts'

/** To a package with more of everything. */
const toLarger = async (p: World, id: string) => {
  const { id: packageId } = await p.admin('POST', '/admin/packages', {
    name: 'KVM 4G',
    vcpus: 4,
    memoryMb: 4096,
    diskGb: 30,
  })
  return act('change-package', { packageId })(p, id)
}
const larger = { size: '4 vCPU 4096 MB 30 GB', onNode: '4 vCPU 4096 MB' }
const grown = { size: '2 vCPU 2048 MB 30 GB', onNode: '2 vCPU 2048 MB' }
const smaller = { size: '2 vCPU 2048 MB 20 GB', onNode: '2 vCPU 2048 MB' }

function bootFirstOf(p: World, id: string): string {
  const sql = 'SELECT boot_first AS first FROM servers WHERE id = ?'
  const recorded = p.db.$client.query<{ first: string }, [string]>(sql).get(id)?.first
  return `${recorded} ${definitionOnNode(p, id)?.['bootFirst']}`
}

export const measures: Measures = {
  /** The restart policy of the panel's record, and of a vm that should run on the node. */
  restart: (p, id) => `${workloadById(p.db, id)!.restartPolicy} ${p.node.agent.host.state.wantedOne(id)?.restart}`,
  /** By the record, and in the definition on the node. */
  bootFirst: bootFirstOf,
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'changing the package of a running server',
    kind: 'resize',
    before: order,
    start: toLarger,
    succeeds: { ...there, ...larger, status: 'running', power: 'running', events: [...built, 'server.resized'] },
    // A disk that has grown stays so: what is recorded is never less than what is there.
    fails: ({ size }: { size: string }) => ({
      ...there,
      ...(/ 30 GB/.test(size) ? grown : smaller),
      status: 'running',
      power: 'running',
      events: built,
    }),
  },
  {
    name: 'changing the package of a stopped server',
    kind: 'resize',
    before: stopped,
    start: toLarger,
    succeeds: { ...there, ...larger, status: 'stopped', power: 'stopped', events: [...built, 'server.resized'] },
    fails: ({ size }: { size: string }) => ({
      ...there,
      ...(/ 30 GB/.test(size) ? grown : smaller),
      status: 'stopped',
      power: 'stopped',
      events: built,
    }),
  },
  {
    name: 'changing the boot order',
    kind: 'boot_order',
    before: order,
    start: (p, id) => p.admin('PUT', `/servers/${id}/boot-order`, { bootFirst: 'cd' }),
    succeeds: { ...running, bootFirst: 'cd cd' },
    fails: { ...running, bootFirst: 'disk disk' },
  },
  {
    name: 'changing the restart policy',
    kind: 'restart_policy',
    before: order,
    start: (p, id) => p.admin('PUT', `/servers/${id}/restart-policy`, { restartPolicy: 'always' }),
    succeeds: { ...running, restart: 'always always' },
    fails: { ...running, restart: 'on_failure on_failure' },
  },
]
