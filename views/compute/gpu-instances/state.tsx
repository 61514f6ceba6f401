import { State } from '../../components/state.tsx'
import { Time } from '../../components/time.tsx'
import { appearances, type Instance, instanceStates, works } from './words.ts'

type StateProps = { of: Pick<Instance, 'status' | 'job' | 'nodeConnected' | 'nodeSeenAt'>; tag?: boolean }
/** A host that is away goes before a running job, which waits for it, and a job before the state that it changes. */
export function InstanceState({ of: { status, job, nodeConnected, nodeSeenAt }, tag }: StateProps) {
  if (!nodeConnected && status !== 'deleted') {
    const seen = nodeSeenAt && (
      <>
        last seen {instanceStates[status].toLowerCase()} <Time iso={nodeSeenAt} />
      </>
    )
    return (
      <>
        <State tone="bad" shape="away" tag={tag}>
          Unreachable {tag && seen && <span>· {seen}</span>}
        </State>
        {!tag && seen && <small>{seen}</small>}
      </>
    )
  }
  const [tone, shape] = job ? (['work', 'work'] as const) : appearances[status]
  return (
    <State tone={tone} shape={shape} tag={tag}>
      {job ? `${works[job.kind] ?? 'Working'} ${job.progress} %` : instanceStates[status]}
    </State>
  )
}
