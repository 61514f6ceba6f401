// States and actions of a GPU instance in words.
import type { getInstance } from '../../../src/compute/gpu-instances/list.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import type { IconName } from '../../components/icon.tsx'
import type { Tone } from '../../components/state.tsx'
import { exactMb } from '../../components/words.ts'
import { whileSuspended, whyDisabled } from '../workloads/words.ts'

export type Instance = Answers<{ i: typeof getInstance }>['i']
export type InstanceStatus = Instance['status']

export const instanceStates = {
  creating: 'Being set up',
  running: 'Running',
  stopped: 'Stopped',
  suspended: 'Suspended',
  failed: 'Failed',
  deleting: 'Being deleted',
  deleted: 'Deleted',
} as const satisfies Record<InstanceStatus, string>

export const appearances: Record<InstanceStatus, [Tone, IconName]> = {
  creating: ['work', 'work'],
  running: ['ok', 'run'],
  stopped: ['idle', 'stop'],
  suspended: ['hold', 'hold'],
  failed: ['bad', 'fail'],
  deleting: ['work', 'work'],
  deleted: ['idle', 'fail'],
}

/** The state while a job of this kind changes it. */
export const works: Readonly<Record<string, string>> = {
  gpu_instance: 'Setting up',
  gpu_stop: 'Stopping',
  gpu_suspend: 'Suspending',
  gpu_unsuspend: 'Unsuspending',
  gpu_keys: 'Changing keys',
  gpu_delete: 'Deleting',
  gpu_hold_back: 'Stopping',
}

const because: Record<InstanceStatus, string> = {
  creating: 'It is being set up.',
  running: 'It is running.',
  stopped: 'It is stopped.',
  suspended: 'It is suspended.',
  failed: 'It has failed.',
  deleting: 'It is being deleted.',
  deleted: 'It was deleted.',
}

/** Why nothing can be changed while the host is away; customers do not know of hosts. */
export const away = (instance: Pick<Instance, 'nodeConnected'>) =>
  instance.nodeConnected ? undefined : 'The panel cannot reach it now.'

/** The words for an action that the record does not list as allowed; undefined for one that it lists. */
export const disabledReason = (instance: Instance, action: string): string | undefined =>
  whyDisabled(
    instance,
    action,
    () => because[instance.status] + (instance.status === 'suspended' ? whileSuspended(instance) : ''),
  )

/** `2 × NVIDIA H100 80GB HBM3` */
export const cardWords = ({ cards }: Pick<Instance, 'cards'>): string => {
  const models = [...new Set(cards.map(({ model }) => model))]
  return (
    models.map((model) => `${cards.filter((card) => card.model === model).length} × ${model}`).join(', ') || 'No cards'
  )
}

export const sizeWords = ({ vcpus, memoryMb }: Pick<Instance, 'vcpus' | 'memoryMb'>) =>
  `${vcpus} vCPU · ${exactMb(memoryMb)} memory`

/** How it ended last, as a sentence. */
export function endWords({ reason, detail, exitCode, oomKilled }: NonNullable<Instance['lastEnd']>): string {
  if (reason === 'requested') return 'It was stopped on request.'
  if (detail) return detail
  const cause = oomKilled ? 'A process was killed because the memory was full.' : 'It ended by itself.'
  return exitCode === null ? cause : `${cause} Exit code ${exitCode}.`
}
