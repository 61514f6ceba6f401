import { listGpus } from '../../../src/fleet/gpus/hosts.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { Head } from '../../components/head.tsx'
import { Live } from '../../components/live.tsx'
import { Empty } from '../../components/section.tsx'
import { Pager } from '../../components/table.tsx'
import { GpuHost } from './host.tsx'

export const gpusPage = page({
  path: '/admin/gpu',
  reads: { hosts: listGpus },
  title: 'GPUs',
  nav: 'gpus',
  view: ({ hosts }) => (
    <>
      <Head
        title="GPUs"
        sub={<span>Nodes with cards, and who has which. A card is sold once it has passed a check of its node.</span>}
      />
      {hosts.data.length ? (
        <Live id="list" every={4}>
          {hosts.data.map((host) => (
            <GpuHost of={host} title={host.name} href={`/admin/nodes/${host.nodeId}/gpus`} />
          ))}
        </Live>
      ) : (
        <Empty title="No GPUs yet">
          A node shows its cards here as soon as its agent finds them. On the node, berth agent doctor says what is
          missing.
        </Empty>
      )}
      <Pager of={hosts} />
    </>
  ),
})
