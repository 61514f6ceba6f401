import type { getDrain } from '../../../src/compute/drains/list.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import type { IconName } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { State, type Tone } from '../../components/state.tsx'

export type Drain = Answers<{ drain: typeof getDrain }>['drain']
export type DrainServer = Drain['servers'][number]

export const titleOf = ({ kind, node }: Pick<Drain, 'kind' | 'node'>) =>
  kind === 'drain' ? `Drain ${node.name}` : `Bring servers back to ${node.name}`

type Named = { id: string; kind: 'server' | 'gpu_instance'; hostname: string }
export const ServerLink = ({ of: { id, kind, hostname } }: { of: Named }) => (
  <Link href={kind === 'server' ? `/admin/servers/${id}` : `/admin/gpu-instances/${id}`}>{hostname}</Link>
)

export const serverStates: Record<DrainServer['state'], { words: string; tone: Tone; shape: IconName }> = {
  waiting: { words: 'Waiting', tone: 'idle', shape: 'wait' },
  moving: { words: 'Moving', tone: 'work', shape: 'work' },
  moved: { words: 'Moved', tone: 'ok', shape: 'tick' },
  failed: { words: 'Failed, stayed', tone: 'bad', shape: 'fail' },
  left: { words: 'Cannot move', tone: 'hold', shape: 'hold' },
  gone: { words: 'Gone by itself', tone: 'idle', shape: 'tick' },
  stopping: { words: 'Being stopped', tone: 'work', shape: 'work' },
  stopped: { words: 'Stopped', tone: 'hold', shape: 'stop' },
}
export const ServerState = ({ state }: { state: DrainServer['state'] }) => {
  const { words, tone, shape } = serverStates[state]
  return (
    <State tone={tone} shape={shape}>
      {words}
    </State>
  )
}
