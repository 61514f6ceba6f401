// The cards of one node.
import { listGpus } from '../../../src/fleet/gpus/hosts.ts'
import { getNode } from '../../../src/fleet/nodes/nodes.ts'
import { page, reading } from '../../../src/kernel/web/page.ts'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Empty } from '../../components/section.tsx'
import { NodeHead } from '../nodes/frame.tsx'
import { GpuHost } from './host.tsx'

export const nodeGpusPage = page({
  path: '/admin/nodes/{id}/gpus',
  reads: {
    node: reading(getNode, ({ params }) => ({ params })),
    gpus: reading(listGpus, ({ params }) => ({ query: { nodeId: params['id'] ?? '' } })),
  },
  title: ({ node }) => `GPUs of ${node.name}`,
  nav: 'nodes',
  view: ({ node, gpus }) => (
    <Live id="node" every={4}>
      <NodeHead
        node={node}
        actions={
          gpus.data.length > 0 && (
            <Link class="btn" to="/admin/nodes/{id}/gpu-metrics" params={{ id: node.id }}>
              <Icon name="activity" />
              Use of the cards
            </Link>
          )
        }
      />
      {gpus.data.length ? (
        gpus.data.map((host) => <GpuHost of={host} title="Cards" />)
      ) : (
        <Empty title="No GPUs">The node has reported no card. On it, berth agent doctor says what is missing.</Empty>
      )}
    </Live>
  ),
})
