import { Type as t } from 'typebox'
import { workloadId } from '../bounds.ts'
import { act } from './declare.ts'

const nothing = t.Object({})
const changesWorkspace = ['no_pool', 'pool_silent', 'workspace_busy', 'workspace_damaged'] as const
/** Failures of a workspace that is made ready for its container. */
export const findsWorkspace = [...changesWorkspace, 'no_workspace'] as const

export const workspaceCommands = {
  /**
   * Makes the file system of the instance's /workspace, which may hold `sizeBytes`. One that exists is kept, and grows
   * if it is smaller.
   */
  'workspace.create': act({
    input: t.Object({
      workload: workloadId,
      number: t.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }),
      sizeBytes: t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    }),
    output: nothing,
    failures: [...changesWorkspace, 'pool_full', 'slot_taken'],
  }),
  /** Deletes /workspace and all that is in it; without one it does nothing. */
  'workspace.remove': act({ input: t.Object({ workload: workloadId }), output: nothing, failures: changesWorkspace }),
}
