import { rowOnNode } from '../../support/crash-matrix/fake-node.ts'
import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { jobOf, order, running } from '../../support/crash-matrix/servers.ts'
import type { World } from '../../support/world/panel.ts'

function isoIn(p: World, id: string): string {
  const path = rowOnNode<{ iso: string | null }>(p, 'select iso from vms where workload = ?', id)?.iso
  const sql = 'SELECT iso_id AS isoId FROM servers WHERE id = ?'
  const recorded = p.db.$client.query<{ isoId: string | null }, [string]>(sql).get(id)?.isoId
  if (!path && !recorded) return 'none'
  return `${path ? 'in it' : 'empty'}, ${recorded && path?.endsWith(recorded) ? 'recorded' : 'not recorded'}`
}

export const measures: Measures = {
  /** The ISO in the drive, on the node and by the record. */
  iso: isoIn,
  /** Copies of ISOs on the node. */
  isoCopies: (p) => rowOnNode<{ n: number }>(p, 'select count(*) as n from isos')!.n,
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'putting an ISO into a server',
    kind: 'iso',
    before: order,
    start: async (p, id) => p.admin('PUT', `/servers/${id}/iso`, { isoId: p.addIso() }),
    succeeds: { ...running, iso: 'in it, recorded' },
    fails: { ...running, iso: 'none' },
  },
  {
    name: 'removing an ISO that a node has',
    kind: 'remove_iso',
    before: order,
    start: async (p, id) => {
      const isoId = p.addIso()
      for (const inIt of [isoId, null]) {
        await p.admin('PUT', `/servers/${id}/iso`, { isoId: inIt })
        await p.settle()
      }
      await p.admin('DELETE', `/isos/${isoId}`)
      return { jobId: jobOf(p, 'remove_iso')!, serverId: id }
    },
    succeeds: { ...running, iso: 'none', isoCopies: 0 },
  },
]
