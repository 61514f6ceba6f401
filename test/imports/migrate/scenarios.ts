// A server is copied, and one is adopted. However it ends, it runs at its source as before, or here and complete; its
// guest is never on at both.
import { DatabaseUnavailable } from '../../../src/kernel/db/health.ts'
import type { Scenario } from '../../support/crash-matrix/scenario.ts'
import type { World } from '../../support/world/panel.ts'
import { world } from '../../support/world/panel.ts'
import { addMigrating, powerAtSource } from './migrating.ts'

const count = (p: World, sql: string) => p.db.$client.query<{ n: number }, []>(sql).get()!.n
const move = (p: World) =>
  p.db.$client
    .query<{ state: string; place: string; workloadId: string | null; jobId: string }, []>(
      'SELECT state, where_it_runs AS place, workload_id AS workloadId, job_id AS jobId FROM import_moves',
    )
    .get()!

const measureOf = (way: 'copy' | 'adopt') => async (p: World) => {
  const { host } = p.node.agent
  const { ours } = await host.hypervisor.look()
  const atSource = await powerAtSource(p, way)
  const { state, place } = move(p)
  return {
    ...{ state, place, atSource, runsHere: ours.filter(({ power }) => power === 'running').length },
    ...{ vms: ours.length, volumes: (await host.storage.list()).length, rules: host.state.portRules().length },
    addresses: count(p, 'SELECT count(workload_id) AS n FROM addresses'),
    held: count(p, 'SELECT count(*) AS n FROM workloads WHERE released_at IS NULL'),
    told: count(p, "SELECT count(*) AS n FROM events WHERE type LIKE 'server.%'"),
    usage: count(p, 'SELECT count(*) AS n FROM usage_intervals'),
    openJobs: count(
      p,
      "SELECT count(*) AS n FROM jobs WHERE state IN ('queued', 'running', 'undoing') OR undo_node_id IS NOT NULL",
    ),
  }
}
const here = {
  state: 'moved',
  place: 'here',
  runsHere: 1,
  vms: 1,
  volumes: 1,
  rules: 1,
  addresses: 1,
  held: 1,
  told: 2,
}
const asBefore = { state: 'failed', place: 'source', atSource: 'running', runsHere: 0, vms: 0, volumes: 0, rules: 0 }
const nothing = { addresses: 0, held: 0, told: 0, usage: 0, openJobs: 0 }

const scenario = (way: 'copy' | 'adopt', name: string, kind: string): Scenario => ({
  ...{ name, kind, open: world, measure: measureOf(way) },
  before: async (p) => addMigrating(p, way).serverId,
  async start(p, serverId) {
    // The job has begun by then; the rest of the turn comes again with the next one.
    await p.controller.app.importDispatcher.turn(p.db, p.controller.app).catch((error) => {
      if (!(error instanceof DatabaseUnavailable)) throw error
    })
    return { jobId: move(p).jobId, serverId }
  },
  succeeds: { ...here, atSource: way === 'copy' ? 'off' : 'absent', openJobs: 0 },
  fails: { ...asBefore, ...nothing },
})
export const scenarios: readonly Scenario[] = [
  scenario('copy', 'copying a server from another panel', 'import'),
  scenario('adopt', 'adopting a server of another panel', 'import_adopt'),
]
