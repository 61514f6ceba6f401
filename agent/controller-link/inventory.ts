import type { SeenContainer } from '../drivers/container/container.ts'
import type { Hypervisor, Seen } from '../drivers/hypervisor/hypervisor.ts'
import type { Host } from '../host/host.ts'
import type { Inventory, SilentPart } from '../protocol/wire.ts'

type LookAtVms = () => Promise<Awaited<ReturnType<Hypervisor['look']>> | undefined>
type LookAtContainers = () => Promise<SeenContainer[] | undefined>

/** Everything on the host with Berth's mark. A look that answers nothing makes its part a silent one. */
export async function inventoryOf(
  { storage, workspaces }: Pick<Host, 'storage' | 'workspaces'>,
  lookAtVms: LookAtVms,
  lookAtContainers: LookAtContainers,
): Promise<Inventory> {
  const [vms, { volumes, silent: silentPools }, instances] = await Promise.all([
    lookAtVms(),
    storage.volumes(),
    lookAtContainers(),
  ])
  // After the pools, because it touches one of them.
  const files = await workspaces.list().catch(() => undefined)
  const silent: SilentPart[] = vms ? [] : ['hypervisor']
  if (!instances || !files) silent.push('containers')
  const powers = (seen: readonly Seen[]) => seen.map(({ id, power }) => ({ workload: id, power }))
  return {
    ...{ type: 'inventory', vms: powers(vms?.ours ?? []), volumes, foreign: vms?.foreign ?? [] },
    ...(instances?.length && { containers: powers(instances) }),
    ...(files?.length && { workspaces: files }),
    ...(silent.length && { silent }),
    ...(silentPools.length && { silentPools }),
  }
}
