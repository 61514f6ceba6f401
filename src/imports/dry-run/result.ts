import { Type as t } from 'typebox'
import { capacityRowOf } from '../../fleet/node-records/queries.ts'
import { described, namedSchema, nullable, operation, stream, time } from '../../kernel/api/operation.ts'
import { csvPages } from '../../kernel/csv.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { countFreeIpv4 } from '../../network/ip-pools/queries.ts'
import { findingLevels, findings } from '../import-records/checks/findings.ts'
import {
  checkCounts,
  checkOf,
  checkTotals,
  findingCounts,
  findingsOf,
  hostOf,
  longestAway,
  plannedByNode,
  secondsByHypervisor,
} from '../import-records/checks/queries.ts'
import { hypervisorRows, serverStates, serversBySlice } from '../import-records/inventory/queries.ts'
import { filterFrom, serverQuery } from '../import-records/inventory/server-filter.ts'
import {
  type ImportRecord,
  type ImportServer,
  importAccess,
  importRecord,
  importResponse,
  showImport,
} from '../import-records/model.ts'
import { changeImport, importById, noteIn } from '../import-records/queries.ts'
import { reasonOf } from '../import-records/refusals.ts'
import { mustAllow } from '../import-records/states.ts'
import { speedOf } from './estimate.ts'

export const dryRun = operation({
  id: 'imports.dry-run',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/dry-run',
  summary:
    'Check every server from the node that would do the work: nothing changes anywhere, and what is decided stays',
  past: 'Started a dry run',
  access: importAccess,
  on: importRecord,
  response: importResponse,
  refuses: ['import_not_discovered', 'import_busy', 'import_started', 'import_ended'],
  run(call) {
    const { tx, target, clock } = call
    mustAllow(target, 'dry-run')
    changeImport(tx, target.id, {
      status: 'checking',
      checkPhase: 'clearing',
      dryRun: target.dryRun + 1,
      checkBeganAt: clock(),
    })
    noteIn(tx, target.id, clock(), 'info', 'The dry run begins.')
    return showImport(call, importById(tx, target.id)!)
  },
})

const servers = t.Integer()
export const getDryRun = operation({
  id: 'imports.get-dry-run',
  method: 'GET',
  path: '/admin/migrations/{id}/dry-run',
  summary: 'What the last dry run found; the servers of an import have the result of each',
  access: importAccess,
  on: importRecord,
  response: namedSchema('ImportDryRun', {
    isRunning: t.Boolean(),
    phase: described(nullable(t.Enum(['clearing', 'comparing', 'checking'])), 'While it runs.'),
    isOutdated: described(t.Boolean(), 'Something was decided since, or the panel was read anew. Run it again.'),
    beganAt: nullable(time),
    endedAt: described(nullable(time), 'Null: none has come to its end since the panel was read.'),
    words: described(t.String(), 'What a dry run does not see.'),
    servers: t.Object({
      total: servers,
      ready: servers,
      remark: described(servers, 'They can come; something about each is worth knowing.'),
      toFix: described(servers, 'They can come once something was done.'),
      stays: described(servers, 'They cannot come.'),
      leftOut: servers,
      alreadyMoved: servers,
      unchecked: described(servers, 'Not looked at yet.'),
    }),
    findings: described(
      t.Array(
        t.Object({
          code: t.String(),
          level: t.Enum([...findingLevels]),
          words: described(t.String(), '… stands for what differs from server to server.'),
          remedy: described(t.String(), 'The next step; empty where there is none.'),
          servers,
        }),
      ),
      'The worst first, then those of most servers.',
    ),
    diskBytes: described(t.Integer(), 'Of the disks of servers that can come.'),
    usedBytes: described(t.Integer(), 'What of them is copied: holes are skipped.'),
    newIpv4: described(t.Integer(), 'Addresses that copies get from the pools of their nodes.'),
    nodes: described(
      t.Array(
        t.Object({
          ...{ id: t.String(), name: t.String(), servers, memoryMb: t.Integer(), diskGb: t.Integer() },
          newIpv4: t.Integer(),
          freeIpv4: described(t.Integer(), 'In the pools that it routes; other nodes may route them too.'),
        }),
      ),
      'Where they would go.',
    ),
    hypervisors: t.Array(
      t.Object({
        ...{ id: t.String(), name: t.String(), servers },
        copySeconds: described(t.Integer(), 'Of all its copies, one after another.'),
        bytesPerSecond: t.Integer(),
        isMeasured: described(t.Boolean(), 'False: the usual speed, because none was measured.'),
      }),
    ),
    copySeconds: described(t.Integer(), 'Of the hypervisor that takes the longest. An estimate, no promise.'),
    longest: described(
      nullable(t.Object({ serverId: t.String(), hostname: t.String(), awaySeconds: t.Integer() })),
      'The server that is away the longest.',
    ),
  }),
  run: ({ tx, target }) => showDryRun(tx, target),
})

const UNSEEN = 'A server that was added or removed at the source since the panel was read needs Discover again.'
const sum = (numbers: readonly number[]) => numbers.reduce((all, n) => all + n, 0)
function showDryRun(tx: Db, target: ImportRecord) {
  const states = serverStates(tx, target.id)
  const counts = checkCounts(tx, target.id)
  const total = sum(Object.values(states))
  const known = {
    ready: counts.ready ?? 0,
    remark: counts.remark ?? 0,
    toFix: counts.to_fix ?? 0,
    stays: states.refused ?? 0,
    leftOut: states.left_out ?? 0,
    alreadyMoved: states.already_moved ?? 0,
  }
  const coming = checkTotals(tx, target.id).filter(({ result }) => result === 'ready' || result === 'remark')
  const hypervisors = secondsByHypervisor(tx, target.id).map(({ hypervisorId, n, seconds }) => {
    const { bytesPerSecond, isMeasured } = speedOf(hostOf(tx, target.id, hypervisorId)?.facts)
    const name = hypervisorRows.find(tx, target.id, hypervisorId)?.name ?? hypervisorId
    return { id: hypervisorId, name, servers: n, copySeconds: seconds, bytesPerSecond, isMeasured }
  })
  const longest = longestAway(tx, target.id)
  const isRunning = target.status === 'checking'
  return {
    isRunning,
    phase: target.checkPhase,
    isOutdated: !isRunning && target.checkedAt !== null && target.checkedVersion !== target.mappingVersion,
    beganAt: isoOrNull(target.checkBeganAt),
    endedAt: isoOrNull(target.checkedAt),
    words: UNSEEN,
    servers: { total, ...known, unchecked: Math.max(0, total - sum(Object.values(known))) },
    findings: findingCounts(tx, target.id)
      .toSorted((a, b) => findingLevels.indexOf(b.level) - findingLevels.indexOf(a.level) || b.n - a.n)
      .map(({ code, level, n }) => ({
        ...{ code, level, servers: n },
        words: findings[code].words.replace('{detail}', '…'),
        remedy: findings[code].remedy,
      })),
    diskBytes: sum(coming.map(({ diskBytes }) => diskBytes)),
    usedBytes: sum(coming.map(({ usedBytes }) => usedBytes)),
    newIpv4: sum(coming.map(({ newIpv4 }) => newIpv4)),
    nodes: plannedByNode(tx, target.id).map(({ nodeId, n, memoryMb, diskGb, newIpv4 }) => ({
      ...{ id: nodeId, name: capacityRowOf(tx, nodeId)?.name ?? nodeId, servers: n, memoryMb, diskGb, newIpv4 },
      freeIpv4: countFreeIpv4(tx, [nodeId]),
    })),
    hypervisors,
    copySeconds: Math.max(0, ...hypervisors.map(({ copySeconds }) => copySeconds)),
    longest: longest && { serverId: longest.id, hostname: longest.hostname, awaySeconds: longest.seconds },
  }
}

const AT_ONCE = 500
type Line = { server: ImportServer; outcome: string; finding: string; words: string; node: string | null } & Partial<
  NonNullable<ReturnType<typeof checkOf>>
>
const { state: _, ...csvQuery } = serverQuery
export const exportDryRun = operation({
  id: 'imports.export-dry-run',
  method: 'GET',
  path: '/admin/migrations/{id}/dry-run.csv',
  summary: 'The result of the dry run for each server as a spreadsheet, with the filters of the list of servers',
  access: importAccess,
  on: importRecord,
  query: csvQuery,
  produces: 'text/csv',
  response: stream,
  run({ tx, target, query }) {
    const filter = filterFrom(query)
    function* pages() {
      for (let after = ''; ; ) {
        const rows = serversBySlice(tx, target.id, filter, after, AT_ONCE)
        yield rows.map((row) => lineOf(tx, row))
        if (rows.length < AT_ONCE) return
        after = rows.at(-1)!.id
      }
    }
    return csvPages<Line>(
      {
        id: ({ server }) => server.id,
        sourceId: ({ server }) => server.sourceId,
        server: ({ server }) => server.hostname,
        domain: ({ server }) => server.domain,
        hypervisor: ({ server }) => server.hypervisorId,
        result: ({ outcome }) => outcome,
        findings: ({ finding }) => finding,
        words: ({ words }) => words,
        way: ({ way }) => way ?? null,
        node: ({ node }) => node,
        pool: ({ pool }) => pool ?? null,
        running: ({ isRunning }) => (isRunning == null ? null : isRunning ? 'yes' : 'no'),
        diskFormat: ({ diskFormat }) => diskFormat ?? null,
        diskBytes: ({ diskBytes }) => diskBytes ?? null,
        usedBytes: ({ usedBytes }) => usedBytes ?? null,
        mac: ({ mac }) => mac ?? null,
        newIpv4: ({ newIpv4 }) => newIpv4 ?? null,
        copySeconds: ({ copySeconds }) => copySeconds ?? null,
        awaySeconds: ({ awaySeconds }) => awaySeconds ?? null,
      },
      pages(),
    )
  },
})

function lineOf(tx: Db, server: ImportServer): Line {
  const check = checkOf(tx, server.id)
  const found = findingsOf(tx, server.id)
  const reason = found.map(({ words }) => words).join('; ') || reasonOf(server)
  const states: Partial<Record<ImportServer['state'], string>> = { refused: 'stays', waiting: 'unchecked' }
  return {
    ...check,
    server,
    outcome: server.state === 'left_out' ? 'left_out' : (check?.result ?? states[server.state] ?? server.state),
    finding: found.map(({ code }) => code).join(' ') || (server.refusal ?? ''),
    words: reason ?? '',
    node: check?.nodeId ? (capacityRowOf(tx, check.nodeId)?.name ?? check.nodeId) : null,
  }
}
