// Keys are added on a source hypervisor. A password that was lost with the controller adds none, and says so.
import type { Scenario } from '../../support/crash-matrix/scenario.ts'
import type { World } from '../../support/world/panel.ts'
import { world } from '../../support/world/panel.ts'
import { addImport } from '../record.ts'

const ADDRESS = '192.0.2.13'

/** The lines of root's keys there, each once, and what is stored of the host. */
const measure = async (p: World, id: string) => {
  const [agent] = [...p.agents.values()]
  const lines = agent!.host.sourceHosts.linesAt(ADDRESS)
  return {
    lines: lines.length,
    doubled: lines.length - new Set(lines).size,
    hosts: (p.db.$client.query('SELECT count(*) AS n FROM import_hosts WHERE import_id = ?').get(id) as { n: number })
      .n,
  }
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'adding keys on a source hypervisor',
    kind: 'import_keys',
    open: world,
    async before(p) {
      const { id } = addImport(p)
      p.db.$client.run("UPDATE import_hypervisors SET choice = 'copy', location_id = ? WHERE import_id = ?", [
        p.location,
        id,
      ])
      p.controller.app.sourceLogins.turn(p.controller.hub, p.db, p.controller.app)
      await p.controller.app.sourceLogins.settled()
      return id
    },
    async start(p, id) {
      const body = { hypervisorId: '3', password: 'canary-root-password' }
      const { jobId } = await p.admin('POST', `/admin/migrations/${id}/actions/add-keys`, body)
      return { jobId, serverId: id }
    },
    measure,
    succeeds: { lines: 1, doubled: 0, hosts: 1 },
    // A key that was added before the failure stays: it lets in only a node that copies.
    fails: (end: { lines: number }) => ({ lines: Math.min(1, end.lines), doubled: 0, hosts: 0 }),
  },
]
