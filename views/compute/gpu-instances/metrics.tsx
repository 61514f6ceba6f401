import { reading } from '../../../src/kernel/web/page.ts'
import { getInstanceMetrics } from '../../../src/platform/metrics/cards/show.ts'
import { pathOf } from '../../components/action.tsx'
import { CardCharts } from '../../platform/metrics/cards.tsx'
import { chartFiles, Periods, spanIn } from '../../platform/metrics/charts.tsx'
import { instancePage } from './area.ts'
import { InstanceFrame, instanceReads } from './frame.tsx'

export const instanceMetricsPages = instancePage({
  path: '/{id}/metrics',
  reads: {
    ...instanceReads,
    metrics: reading(getInstanceMetrics, (at) => ({ params: at.params, query: spanIn(at) })),
  },
  title: ({ instance }) => `Metrics of ${instance.name}`,
  files: chartFiles,
  view: ({ metrics, ...data }, area) => (
    <InstanceFrame {...data} area={area}>
      <Periods />
      <CardCharts
        metrics={metrics}
        address={pathOf(getInstanceMetrics, { id: data.instance.id })}
        none="It holds no cards now, so nothing is measured."
      />
    </InstanceFrame>
  ),
})
