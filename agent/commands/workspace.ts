import type { Handlers } from '../host/host.ts'
import type { workspaceCommands } from '../protocol/commands/workspace.ts'

export const workspace = {
  async 'workspace.create'({ workload, number, sizeBytes }, { workspaces }) {
    await workspaces.create(workload, number, sizeBytes)
    return {}
  },

  async 'workspace.remove'({ workload }, { access, workspaces }) {
    await workspaces.remove(workload)
    await access.forget(workload)
    return {}
  },
} satisfies Handlers<typeof workspaceCommands>
