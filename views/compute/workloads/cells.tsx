// Cells of the lists of workloads, and the filters that links from other pages set.
import type { Area } from '../../components/area.ts'
import { Link } from '../../components/link.tsx'
import type { Filter } from '../../components/list.tsx'

type Owned = { owner: { id: string; name: string }; access: string }
/** A workload that is shared is not its reader's customer's: its owner is a name without a link. */
export const OwnerLink = ({ of: { owner, access }, area }: { of: Owned; area: Area }) =>
  access === 'own' ? <Link href={`${area}/customers/${owner.id}`}>{owner.name}</Link> : owner.name

export const SharedBy = ({ of: { owner, access } }: { of: Owned }) =>
  access === 'own' ? null : <small>Shared by {owner.name}</small>

type Placed = { location: { name: string }; node: { id: string; name: string } | null }
/** `node`: false where the list is of one node. */
export const Place = ({ of: { location, node: home }, node = true }: { of: Placed; node?: boolean }) => (
  <>
    {location.name}
    {node && home && (
      <small>
        <Link href={`/admin/nodes/${home.id}`}>{home.name}</Link>
      </small>
    )}
  </>
)

type First = (Owned & Pick<Placed, 'node'>) | undefined
/** `first`: the first row, which has the names for the ids of the address. `node`: the filter by node. */
export const linkedFilters = (
  first: First,
  query: Readonly<Record<string, string>>,
  node: Filter | string,
): Filter[] => [
  { name: 'ownerId', label: 'Owner', value: first?.owner.name ?? query['ownerId'] },
  typeof node === 'string' ? { name: 'nodeId', label: node, value: first?.node?.name ?? query['nodeId'] } : node,
  { name: 'resellerId', label: 'Reseller', value: 'one and its customers' },
]
