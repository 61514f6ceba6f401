// The operating system of a server that was imported.
import { expect, test } from 'bun:test'
import { serverGuests } from '../../../src/compute/guest/tables.ts'
import { moved } from './world.ts'

test(
  'Staff with the Settings, root password and rescue permission can click Detect OS on a running server’s Overview. ' +
    'Both are recorded in the server’s activity and the audit log.',
  async () => {
    using p = await moved()
    const may = p.staff(['servers.see_all', 'servers.settings'] as never)
    const mayNot = p.staff(['servers.see_all'] as never, 'Bo')
    const path = `/servers/${p.workloadId}/actions/detect-os`
    expect((await p.call(mayNot, 'POST', path)).status).toBe(403)
    expect((await p.call(may, 'POST', path)).status).toBe(202)
    await p.settle()
    expect(p.db.select().from(serverGuests).all()).toMatchObject([{ agentAnswers: true }])
    const { data } = await p.admin('GET', `/servers/${p.workloadId}/activity?limit=20`)
    expect(JSON.stringify(data)).toContain('detect-os')
    expect(JSON.stringify(p.auditLines())).toContain('servers.detect-os')
  },
)
