import { instanceStatusesOnNode } from '../../../src/compute/gpu-instances/model.ts'
import { WorkloadState } from '../../components/state.tsx'
import { appearances, type Instance, instanceStates, works } from './words.ts'

const onNode: ReadonlySet<string> = new Set(instanceStatusesOnNode)

type StateProps = { of: Pick<Instance, 'status' | 'job' | 'nodeConnected' | 'nodeSeenAt'>; tag?: boolean }
export const InstanceState = ({ of: { status, job, nodeConnected, nodeSeenAt }, tag }: StateProps) => (
  <WorkloadState
    of={{ job, nodeConnected: nodeConnected || !onNode.has(status), nodeSeenAt }}
    words={instanceStates[status]}
    look={appearances[status]}
    works={works}
    tag={tag}
  />
)
