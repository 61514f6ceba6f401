// A server that is rolled back runs at its source or here at the end, whatever happens, and never at both.
import type { FakeSourceHosts } from '../../../agent/drivers/source-host/fake.ts'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { GIB, volumeOf } from '../../../src/compute/server-vm/definition.ts'
import { changeMove, insertMove } from '../../../src/imports/import-records/moves/queries.ts'
import { write } from '../../../src/kernel/db/open.ts'
import type { Scenario } from '../../support/crash-matrix/scenario.ts'
import { order } from '../../support/crash-matrix/servers.ts'
import { type World, world } from '../../support/world/panel.ts'
import { addImport } from '../record.ts'

const [ADDRESS, DOMAIN] = ['192.0.2.13', 'v41']
type Way = 'copy' | 'adopt'
const hostOf = (way: Way) => (way === 'adopt' ? null : { address: ADDRESS, port: 22, hostKey: null })
const sourcesOf = (p: World) => [...p.agents.values()][0]!.host.sourceHosts as FakeSourceHosts
const drive = {
  ...({ path: '/var/lib/images/v41.qcow2', format: 'qcow2', holder: 'file', backing: null } as const),
  virtualBytes: 10 * GIB,
}

/** A server that has moved; answers its id here. */
const movedBy = (way: Way) => async (p: World) => {
  const { id: importId, serverId } = addImport(p)
  const workloadId = await order(p)
  const { nodeId, diskGeneration, diskGb } = p.server(workloadId)
  const { moving } = sourcesOf(p)
  sourcesOf(p).describe(ADDRESS, { lets: 'everyone' })
  const there = { host: hostOf(way), domain: DOMAIN }
  const { definition, isPersistent } = await moving.save(there)
  await moving.stop(there, 0)
  if (way === 'adopt') {
    // Its disk here is the one from there.
    const { host } = p.node.agent
    const volume = volumeOf(p.server(workloadId), diskGeneration!)
    await host.hypervisor.stop(workloadId, 0)
    await (await host.storage.answering(volume.pool)).remove(volume)
    const send = (name: 'source-host.adopt' | 'vm.start', input: object) =>
      p.controller.hub.send(`test/${name}`, nodeCommand(nodeId, name, input as never))
    await send('source-host.adopt', { domain: DOMAIN, drive, volume, sizeBytes: diskGb * GIB })
    await send('vm.start', { workload: workloadId })
  }
  write(p.db, (tx) => {
    insertMove(tx, {
      ...{ serverId, importId, hypervisorId: '3', position: 1, way, nodeId, workloadId, attempts: 1, isPersistent },
      ...({ method: 'plain', state: 'waiting', wasRunning: true, definition } as const),
      ...{ drive: { ...drive, bus: 'virtio', nicModel: 'virtio' }, startedAt: p.now(), movedAt: p.now() },
    })
    changeMove(tx, serverId, { state: 'moved', whereItRuns: 'here' })
  })
  p.db.$client.run("UPDATE imports SET status = 'verifying' WHERE id = ?", [importId])
  return workloadId
}

async function start(p: World, workloadId: string) {
  const { serverId } = p.db.$client.query('SELECT server_id AS serverId FROM import_moves').get() as {
    serverId: string
  }
  const path = `/admin/migration-servers/${serverId}/actions/roll-back`
  const { jobId } = await p.admin('POST', path, { hostname: 'shop.panel.test' })
  return { jobId, serverId: workloadId }
}

const measuredBy = (way: Way) => async (p: World, id: string) => {
  const { host } = p.node.agent
  const { server } = await sourcesOf(p).moving.find({ host: hostOf(way), domain: DOMAIN })
  const here = await host.hypervisor.power(id)
  const one = (sql: string) => p.db.$client.query(sql).get() as { n: number }
  const move = p.db.$client.query('SELECT state, where_it_runs AS runs FROM import_moves').get() as any
  return {
    here,
    there: server.state,
    runs: [here, server.state].filter((power) => power === 'running').length,
    volumes: (await host.storage.list()).length,
    rules: host.state.portRules().length,
    status: p.server(id).lifecycle,
    move: `${move.state}, runs ${move.runs}`,
    addresses: one('SELECT count(*) AS n FROM addresses WHERE workload_id IS NOT NULL').n,
    held: one('SELECT count(*) AS n FROM workloads WHERE released_at IS NULL').n,
    events: p.events().filter((type) => type === 'server.terminated').length,
    openJobs: one("SELECT count(*) AS n FROM jobs WHERE state IN ('queued', 'running', 'undoing')").n,
  }
}
const back = {
  ...{ here: 'absent', there: 'running', runs: 1, volumes: 0, rules: 0, status: 'terminated' },
  ...{ move: 'rolled_back, runs source', addresses: 0, held: 0, events: 1, openJobs: 0 },
}
const stayed = {
  ...{ here: 'running', runs: 1, volumes: 1, rules: 1, status: 'active' },
  ...{ move: 'moved, runs here', addresses: 1, held: 1, events: 0, openJobs: 0 },
}

export const scenarios: readonly Scenario[] = (['copy', 'adopt'] as const).map((way) => ({
  name: way === 'copy' ? 'rolling a copied server back' : 'rolling an adopted server back',
  kind: 'import_roll_back',
  open: world,
  before: movedBy(way),
  start,
  measure: measuredBy(way),
  succeeds: back,
  fails: { ...stayed, there: way === 'copy' ? 'off' : 'absent' },
}))
