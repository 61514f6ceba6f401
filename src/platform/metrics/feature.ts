import { cardsOn } from '../../fleet/gpus/queries.ts'
import { nodeById } from '../../fleet/node-records/queries.ts'
import { workloadById } from '../../fleet/workloads/queries.ts'
import { stayChanges, staysOf } from '../../fleet/workloads/stays/queries.ts'
import { minute, second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { gauge } from '../../kernel/monitoring.ts'
import { CardMetrics, cardFigures } from './cards/card-metrics.ts'
import { getInstanceMetrics, getNodeCardMetrics } from './cards/show.ts'
import { getStorageFill, storeFill } from './fill.ts'
import { Metrics } from './metrics.ts'
import { expiringBlocks } from './queries.ts'
import { getMetrics, getNodeMetrics } from './show.ts'
import { metricBlocks } from './tables.ts'
import { writtenBetween } from './written.ts'

declare module '../../kernel/register.ts' {
  interface Services {
    /** The use of servers and nodes over time. */
    metrics: Metrics
    /** The same of cards. */
    cardMetrics: CardMetrics
  }
}

export const metricsFeature = feature({
  name: 'metrics',
  tables: [metricBlocks],
  expiring: expiringBlocks,
  operations: [getMetrics, getNodeMetrics, getStorageFill, getInstanceMetrics, getNodeCardMetrics],
  services: ({ db, clock }) => ({
    metrics: new Metrics(
      db,
      clock,
      (id) => {
        const workload = workloadById(db, id)
        if (workload?.lifecycle === 'terminated') return undefined
        const changes = stayChanges(db, id)
        if (workload) {
          const { vcpus, memoryMb } = workload
          return { nodeIds: staysOf(db, id).map(({ nodeId }) => nodeId), vcpus, memoryMb, changes }
        }
        const node = nodeById(db, id)
        if (node?.removedAt !== null) return undefined
        return { nodeIds: [id], vcpus: node.threads, memoryMb: node.memoryMb, changes }
      },
      (id) => stayChanges(db, id),
    ),
    cardMetrics: new CardMetrics(db, clock, (nodeId) => new Map(cardsOn(db, nodeId).map(({ id, uuid }) => [uuid, id]))),
  }),
  bytesWritten: (app, tx, workloadId, between) => writtenBetween(tx, app.metrics.recent, workloadId, between),
  figures: ({ app }) => [
    gauge(
      'berth_metric_workloads',
      'Workloads whose use was reported within the hour.',
      app.metrics.recent.workloads(),
    ),
    {
      name: 'berth_metric_samples_total',
      help: 'Samples of the use of workloads and nodes that were taken in.',
      type: 'counter',
      samples: [{ value: app.metrics.recent.taken }],
    },
    ...cardFigures(app.cardMetrics.present()),
  ],
  takeMetrics({ metrics, cardMetrics }, nodeId, { samples, host, cards }) {
    metrics.take(nodeId, samples)
    if (host) metrics.takeHost(nodeId, host)
    if (cards) cardMetrics.take(nodeId, cards)
  },
  schedule: [
    {
      everyMs: 10 * minute,
      words: 'storing how full storage pools are',
      work: ({ db, app }) => storeFill(db, app.clock(), app.nodes.connected),
    },
    { everyMs: 10 * second, words: 'finishing the minutes of metrics', work: ({ app }) => app.metrics.advance() },
    {
      everyMs: 2 * second,
      words: 'storing metrics',
      work: ({ app }) => app.metrics.storeDue(),
      atStop: ({ app }) => app.metrics.storeAll(),
    },
    {
      everyMs: minute,
      words: 'storing metrics of cards',
      work: ({ app }) => app.cardMetrics.storeDue(),
      atStop: ({ app }) => app.cardMetrics.storeAll(),
    },
  ],
})
