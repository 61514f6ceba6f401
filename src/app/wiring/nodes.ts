// The controller's end of the nodes: their sockets, their reports, the jobs that command them.
import type { CommandName } from '../../../agent/protocol/wire.ts'
import { connectedBefore, isGoneNode, nodeById } from '../../fleet/node-records/queries.ts'
import { Reports } from '../../fleet/nodes/report.ts'
import { kindsByName } from '../../fleet/workloads/kind.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { CommandFailed } from '../../kernel/jobs/failures.ts'
import type { Nodes } from '../../kernel/jobs/runner/execution.ts'
import { Runner } from '../../kernel/jobs/runner/runner.ts'
import { log } from '../../kernel/log.ts'
import { Hub } from '../../kernel/nodes/hub.ts'
import { MisconductLog } from '../../kernel/nodes/misconduct.ts'
import { NodeReads } from '../../kernel/nodes/reads.ts'
import type { Base } from './base.ts'

export type NodeSide = ReturnType<typeof connectNodes>

/** `app`: is there when the first node connects. `pauseMs`: between the tries of a step, by their number. */
export function connectNodes(base: Base, app: () => AppContext, pauseMs?: (tries: number) => number) {
  const { db, clock } = base
  /** As people call it: an id alone helps nobody who reads the journal. */
  const nameOf = (nodeId: unknown) => (typeof nodeId === 'string' ? nodeById(db, nodeId)?.name : undefined)
  const misconduct = new MisconductLog(db, clock, nameOf)
  const reports: Reports = takeReports(base, app, misconduct, (nodeId, seq) => hub.trafficStored(nodeId, seq))
  const hub: Hub = new Hub(clock, {
    log: (jobId, line) => runner.log.add(jobId, line),
    progress: (jobId, percent, copied) => {
      runner.log.progress(jobId, percent)
      if (copied) for (const { takeCopied } of base.registry.features) takeCopied?.(app(), jobId, copied)
    },
    report: (nodeId, report) => reports.take(nodeId, report),
    connected: (nodeId) => {
      reports.connected(nodeId)
      runner.nodeChanged()
      log.info('node connected', { nodeId, node: nameOf(nodeId) })
    },
    disconnected: (nodeId) => {
      if (base.life.isRestarting) return
      reports.disconnected(nodeId)
      runner.nodeChanged()
      log.warning('node disconnected', { nodeId, node: nameOf(nodeId) })
    },
    misconduct: (nodeId, offence, details) => misconduct.note(nodeId, offence, details),
    isGone: (nodeId) => isGoneNode(db, nodeId),
  })
  hub.expect(connectedBefore(db))
  const runner: Runner = new Runner({
    db,
    sagas: base.registry.jobs,
    failures: base.registry.failures,
    nodes: startingOnce(hub, reports, nameOf),
    clock,
    secrets: base.secrets,
    services: app,
    failpoints: base.failpoints,
    pauseMs,
    tell: (level, message, about) => log[level](message, { ...about, node: nameOf(about['nodeId']) }),
  })
  return { hub, runner, reports, misconduct, nameOf }
}

/** The commands after which a workload runs. */
const starting: ReadonlySet<CommandName> = new Set<CommandName>([
  'vm.start',
  'container.start',
  'source-host.start-here',
])

/** The nodes as jobs command them: nothing is started while another node runs it. */
function startingOnce(hub: Hub, { elsewhere }: Reports, nameOf: (nodeId: string) => string | undefined): Nodes {
  return {
    send(key, command) {
      const { workload } = command.input as { workload?: string }
      const other = workload && starting.has(command.name) ? elsewhere.nodeOf(workload) : undefined
      if (other === undefined || other === command.nodeId) return hub.send(key, command)
      const where = `It runs on ${nameOf(other) ?? other}, and the records say that it is on another node`
      return Promise.reject(new CommandFailed('runs_elsewhere', `${where}: two nodes never run it.`))
    },
    drop: (key, error) => hub.drop(key, error),
    state: hub.state,
    awaySince: hub.awaySince,
  }
}

/** Reports go to the features that take them. */
function takeReports(
  { db, time, registry }: Base,
  app: () => AppContext,
  misconduct: MisconductLog,
  trafficStored: (nodeId: string, seq: number) => void,
): Reports {
  const trafficTakers = registry.features.flatMap(({ takeTraffic }) => takeTraffic ?? [])
  const metricsTakers = registry.features.flatMap(({ takeMetrics }) => takeMetrics ?? [])
  return new Reports(
    db,
    time,
    ({ nodeId, offence, details }) => misconduct.note(nodeId, offence, details),
    (...day) => {
      for (const take of trafficTakers) take(...day)
    },
    trafficStored,
    (nodeId, frame) => {
      for (const take of metricsTakers) take(app(), nodeId, frame)
    },
    kindsByName(registry),
  )
}

/** The nodes as features see them. */
export function nodesOf({ hub, runner, reports, misconduct }: NodeSide): AppContext['nodes'] {
  const nodeReads = new NodeReads(hub)
  return {
    connected: hub.connected,
    isReconnecting: hub.isReconnecting,
    lastSeen: (nodeId) => (hub.connected(nodeId) ? undefined : reports.lastSeen(nodeId)),
    contactVersion: () => hub.contactVersion + reports.contactVersion,
    heartbeat: reports.heartbeat,
    misconduct: (nodeId) => misconduct.of(nodeId),
    strays: () => reports.elsewhere.all(),
    disksOn: (nodeId) => reports.disksOn(nodeId),
    disconnect(nodeId) {
      const close = hub.closerOf(nodeId)
      setTimeout(() => {
        close()
        runner.nodeChanged()
      })
    },
    read: (command) => nodeReads.read(command),
    openConsole: (nodeId, console) => hub.openConsole(nodeId, console),
    openFiles: hub.openFiles,
    lookForRelease: hub.lookForRelease,
    acceptRelease: hub.acceptRelease,
  }
}
