// The addresses that the workloads of this host may use, for the controller: one whose database lost an order learns
// from it which addresses are not free.
import type { Host } from '../host/host.ts'
import { fitted } from '../protocol/bounds.ts'
import { Addresses, MOST_ADDRESS_PARTS, MOST_ADDRESSES } from '../protocol/wire.ts'

/** The frames of a report about these workloads; one without addresses too, because that is an answer. */
export async function addressReport(
  { portSecurity, access }: Pick<Host, 'portSecurity' | 'access'>,
  isHere: (workload: string) => boolean,
): Promise<Addresses[]> {
  const all = (await Promise.all([portSecurity.addresses(), access.addresses()])).flat()
  const held = all.filter(({ workload }) => isHere(workload)).slice(0, MOST_ADDRESSES * MOST_ADDRESS_PARTS)
  const parts = Math.max(1, Math.ceil(held.length / MOST_ADDRESSES))
  return Array.from({ length: parts }, (_, i) =>
    fitted(Addresses, {
      ...{ type: 'addresses', part: i + 1, parts },
      held: held.slice(i * MOST_ADDRESSES, (i + 1) * MOST_ADDRESSES),
    }),
  )
}

/** Whether an inventory names the workload. */
export function namedIn({ vms, volumes, containers = [], workspaces = [] }: Named): (workload: string) => boolean {
  const named = new Set([...[...vms, ...volumes, ...containers].map(({ workload }) => workload), ...workspaces])
  return (workload) => named.has(workload)
}
type Listed = readonly { workload: string }[]
type Named = { vms: Listed; volumes: Listed; containers?: Listed; workspaces?: readonly string[] }
