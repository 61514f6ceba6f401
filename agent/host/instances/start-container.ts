import type { SeenContainer } from '../../drivers/container/container.ts'
import type { Host } from '../host.ts'

/**
 * Checks the workspace, puts the rules of the network into force and starts the container. Used by `container.start`,
 * after a crash and after a boot of the host.
 */
export async function startContainer({ access, containers, httpNames, workspaces }: Host, workload: string) {
  if ((await containers.power(workload)) === 'stopped') {
    await workspaces.ready(workload)
    await access.open(workload)
  }
  await containers.start(workload)
  await access.started(workload)
  httpNames.opened(workload)
}

/** The ids of the instances that run. */
export const runningIn = (seen: readonly SeenContainer[]): ReadonlySet<string> =>
  new Set(seen.flatMap(({ id, power }) => (power === 'running' ? [id] : [])))
