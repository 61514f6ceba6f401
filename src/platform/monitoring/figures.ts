// Figures about the controller, its queues and what it holds.
import { serverKind } from '../../compute/server-records/model.ts'
import { countByStatus, everyWorkload } from '../../fleet/workloads/reports.ts'
import { day } from '../../kernel/db/clock.ts'
import { troubleOf } from '../../kernel/db/open.ts'
import { backlog, endedSince } from '../../kernel/jobs/figures.ts'
import { lastEvent } from '../../kernel/jobs/outbox.ts'
import { type Figure, type FigureParts, gauge, gauges } from '../../kernel/monitoring.ts'
import { queueState } from '../../kernel/queue/queries.ts'
import { VERSION } from '../../kernel/version.ts'

const second = 1000
const seconds = (ms: number) => Math.max(0, Math.round(ms / second))

export function controllerFigures({ db, app }: FigureParts): readonly Figure[] {
  const { user, system } = process.cpuUsage()
  const disk = app.host.disk()
  const cpu = (user + system) / 1e6
  return [
    {
      name: 'berth_build_info',
      help: 'The version.',
      type: 'gauge',
      samples: [{ labels: { version: VERSION }, value: 1 }],
    },
    gauge('berth_start_time_seconds', 'When the controller started.', seconds(app.startedAt)),
    gauge('berth_resident_memory_bytes', 'Memory of the controller.', process.memoryUsage.rss()),
    {
      name: 'berth_cpu_seconds_total',
      help: 'Processor time of the controller.',
      type: 'counter',
      samples: [{ value: cpu }],
    },
    gauge('berth_database_bytes', 'Size of the database with its log.', app.host.databaseBytes()),
    gauge('berth_database_writable', '0 while changes are refused.', Number(!troubleOf(db))),
    gauge('berth_data_disk_bytes', 'Size of the disk that holds the database.', disk.totalBytes),
    gauge('berth_data_disk_used_bytes', 'Used on the disk that holds the database.', disk.usedBytes),
    gauges('berth_servers', 'Servers by status.', 'status', countByStatus(db, serverKind, everyWorkload)),
    { name: 'berth_events_total', help: 'Events emitted.', type: 'counter', samples: [{ value: lastEvent(db) }] },
  ]
}

export function jobFigures({ db, app }: FigureParts): readonly Figure[] {
  const now = app.clock()
  const { states, oldest } = backlog(db)
  return [
    gauges('berth_jobs', 'Jobs that have not ended, by state.', 'state', states),
    gauge(
      'berth_jobs_oldest_queued_seconds',
      'Age of the oldest job that waits.',
      oldest === null ? 0 : seconds(now - oldest),
    ),
    gauges('berth_jobs_ended_last_day', 'Jobs that ended within 24 hours.', 'state', endedSince(db, now - day)),
    gauge(
      'berth_jobs_interrupted',
      'Jobs that an error outside their steps has stopped.',
      app.interruptedJobs().length,
    ),
  ]
}

export function queueFigures({ db, app }: FigureParts): readonly Figure[] {
  const now = app.clock()
  const kinds = app.registry.deliveries.map(({ kind }) => [kind, queueState(db, kind)] as const)
  const of = (name: Figure['name'], help: string, value: (state: ReturnType<typeof queueState>) => number) =>
    gauges(name, help, 'kind', Object.fromEntries(kinds.map(([kind, state]) => [kind, value(state)])))
  return [
    of('berth_deliveries_waiting', 'Webhooks and mails that wait to be delivered.', ({ waiting }) => waiting),
    of('berth_deliveries_oldest_seconds', 'Age of the oldest that waits.', ({ oldest }) =>
      oldest === null ? 0 : seconds(now - oldest),
    ),
    of(
      'berth_deliveries_dropped',
      'Dropped because a queue was full, of those that are kept.',
      ({ dropped }) => dropped,
    ),
  ]
}
