import { crashWords } from '../../fleet/workloads/crashes.ts'
import { attentionOf } from '../workloads/attention.ts'
import { gpuInstanceKind, load, pageOf } from './model.ts'

export const { failed: failedInstances, crashed: crashedInstances } = attentionOf(gpuInstanceKind, {
  action: 'Open GPU instance',
  pageOf,
  failed: ({ name, failure }) => ({
    what: `The GPU instance ${name} has failed.`,
    effect: `${failure ?? 'It does not run.'} It is billed until it is deleted.`,
  }),
  crashed: {
    what: ({ name }) => `The GPU instance ${name} ended by itself`,
    why: ({ tx }, { id, cause }) => load(tx, id).endDetail ?? crashWords[cause],
    restarted: 'It was started again.',
  },
})
