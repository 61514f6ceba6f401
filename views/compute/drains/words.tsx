import type { getDrain } from '../../../src/compute/drains/list.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Link } from '../../components/link.tsx'

export type Drain = Answers<{ drain: typeof getDrain }>['drain']
export type DrainServer = Drain['servers'][number]

export const titleOf = ({ kind, node }: Pick<Drain, 'kind' | 'node'>) =>
  kind === 'drain' ? `Drain ${node.name}` : `Bring servers back to ${node.name}`

type Named = { id: string; kind: 'server' | 'gpu_instance'; hostname: string }
export const ServerLink = ({ of: { id, kind, hostname } }: { of: Named }) => (
  <Link href={kind === 'server' ? `/admin/servers/${id}` : `/admin/gpu-instances/${id}`}>{hostname}</Link>
)
