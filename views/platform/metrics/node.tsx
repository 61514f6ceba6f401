// The use of a node over time.
import { getNode } from '../../../src/fleet/nodes/nodes.ts'
import { page, reading } from '../../../src/kernel/web/page.ts'
import { getNodeMetrics } from '../../../src/platform/metrics/show.ts'
import { pathOf } from '../../components/action.tsx'
import { NodeFrame } from '../../fleet/nodes/frame.tsx'
import { Charts, chartFiles, Periods, spanIn } from './charts.tsx'

export const nodeMetricsPage = page({
  path: '/admin/nodes/{id}/metrics',
  reads: {
    node: reading(getNode, ({ params }) => ({ params })),
    metrics: reading(getNodeMetrics, (at) => ({ params: at.params, query: spanIn(at) })),
  },
  title: ({ node }) => `Metrics of ${node.name}`,
  nav: 'nodes',
  files: chartFiles,
  view: ({ node, metrics }) => (
    <NodeFrame node={node}>
      <Periods />
      <Charts metrics={metrics} address={pathOf(getNodeMetrics, { id: node.id })} />
    </NodeFrame>
  ),
})
