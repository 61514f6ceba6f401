import type { Measures, Scenario } from '../../support/crash-matrix/scenario.ts'
import { built, order, running, there } from '../../support/crash-matrix/servers.ts'
import type { World } from '../../support/world/panel.ts'

function backupTestIn(p: World): string {
  const sql = 'SELECT test_finding AS finding FROM backup_targets'
  return p.db.$client.query<{ finding: string | null }, []>(sql).get()?.finding ?? 'none'
}

export const measures: Measures = {
  /** The finding of the last test of the only backup target. */
  backupTest: backupTestIn,
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'testing a backup target',
    kind: 'test_backup_target',
    before: order,
    async start(p, serverId) {
      const body = { name: 'Oslo', address: 'https://backups.example.com/web/' }
      const { id } = await p.admin('POST', '/admin/backup-targets/rest', body)
      const { jobId } = await p.admin('POST', `/admin/backup-targets/${id}/actions/test`, { nodeId: p.node.id })
      return { jobId, serverId }
    },
    succeeds: { ...there, status: 'running', power: 'running', backupTest: 'works', events: built },
    // A failure before it began leaves no test.
    fails: ({ backupTest }: { backupTest: string }) => ({
      ...running,
      backupTest: backupTest === 'none' ? 'none' : 'not_tested',
    }),
  },
]
