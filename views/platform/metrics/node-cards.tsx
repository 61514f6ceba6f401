// The use of the cards of a node over time.
import { getNode } from '../../../src/fleet/nodes/nodes.ts'
import { page, reading } from '../../../src/kernel/web/page.ts'
import { getNodeCardMetrics } from '../../../src/platform/metrics/cards/show.ts'
import { pathOf } from '../../components/action.tsx'
import { NodeFrame } from '../../fleet/nodes/frame.tsx'
import { CardCharts } from './cards.tsx'
import { chartFiles, Periods, spanIn } from './charts.tsx'

export const nodeCardMetricsPage = page({
  path: '/admin/nodes/{id}/gpu-metrics',
  reads: {
    node: reading(getNode, ({ params }) => ({ params })),
    metrics: reading(getNodeCardMetrics, (at) => ({ params: at.params, query: spanIn(at) })),
  },
  title: ({ node }) => `GPU metrics of ${node.name}`,
  nav: 'nodes',
  files: chartFiles,
  view: ({ node, metrics }) => (
    <NodeFrame node={node}>
      <Periods />
      <CardCharts
        metrics={metrics}
        address={pathOf(getNodeCardMetrics, { id: node.id })}
        none="This node has reported no cards."
      />
    </NodeFrame>
  ),
})
