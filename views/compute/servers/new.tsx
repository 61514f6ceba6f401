// The pages of an order: what staff and resellers may choose from, and why something cannot be chosen.

import { listOfferedImages } from '../../../src/catalog/images/images.ts'
import { listPackages } from '../../../src/catalog/packages/packages.ts'
import { listGroups } from '../../../src/compute/placement-groups/groups.ts'
import { createResellerServer, createServer } from '../../../src/compute/servers/create.ts'
import { listNodes } from '../../../src/fleet/nodes/nodes.ts'
import { listCustomers } from '../../../src/identity/customers/customers.ts'
import { getResellerAccount, listResellerCustomers } from '../../../src/identity/resellers/own.ts'
import { ifAllowed, ifNamed, page, reading, readingAll } from '../../../src/kernel/web/page.ts'
import { MOST_CHOICES } from '../../../src/platform/choices/choices.ts'
import { Check, Select } from '../../components/field.tsx'
import { type Choices, Chooser, choicesOf, chooserFiles } from '../../components/forms/chooser.tsx'
import { Link } from '../../components/link.tsx'
import { count, gb, mb } from '../../components/words.ts'
import { overQuota, SuspendedWords } from '../../identity/resellers/own-terms.tsx'
import { customersFound, namedCustomer, withNamed } from '../workloads/owner-choice.tsx'
import { accessFiles, NoImages } from './access.tsx'
import { type Location, locationObstacle, type Node, nodeHindrance } from './fit.ts'
import { OrderPage, type Sold } from './order.tsx'

const images = readingAll(listOfferedImages)
/** Of the chosen owner. */
const groups = ifNamed(listGroups, ({ query }) =>
  query['ownerId'] ? { query: { ownerId: query['ownerId'], limit: '50' } } : undefined,
)
const reads = {
  customers: reading(listCustomers, customersFound),
  named: namedCustomer,
  offer: readingAll(listPackages),
  images,
  groups,
  nodes: ifAllowed(listNodes, () => ({ query: { limit: String(MOST_CHOICES) } })),
  choices: choicesOf('node', ({ query }) => query['nodeId']),
}
const resellerReads = {
  customers: reading(listResellerCustomers, customersFound),
  named: namedCustomer,
  account: reading(getResellerAccount, () => ({})),
  images,
  groups,
}

export const newServerPage = page({
  path: '/admin/servers/new',
  reads,
  title: 'Create server',
  nav: 'servers',
  files: [...accessFiles, ...chooserFiles],
  view: ({ offer, nodes: some, choices, ...data }) => {
    // Of many nodes the order itself says which has capacity.
    const nodes = some && !some.nextCursor ? some.data : undefined
    const located = new Map(offer.locations.map((l) => [l.id, l]))
    const usesReserve = data.at.query['useReserve'] === 'true'
    return (
      <OrderPage
        {...data}
        customers={withNamed(data)}
        area="/admin"
        order={createServer}
        packages={offer.data}
        packageObstacle={(p) => (p.archived ? 'Archived.' : undefined)}
        places={offer.locations}
        placeObstacle={(l, p) => locationObstacle(located.get(l.id)!, p, nodes, usesReserve)}
        aboutPlace={({ id }) => free(located.get(id)!)}
        nodePicker={({ what, where }) => (
          <>
            <NodePicker
              nodes={nodes}
              choices={choices}
              what={what}
              where={located.get(where?.id ?? '')}
              value={data.at.query['nodeId']}
            />
            {offer.locations.some(({ reserve }) => reserve > 0) && (
              <Check
                scope="new"
                name="useReserve"
                label="Use the reserve"
                hint="Takes memory that its location keeps for the loss of a node."
                checked={usesReserve}
              />
            )}
          </>
        )}
        none={{
          customers: <AddFirst words="There is no customer yet." href="/admin/customers" />,
          packages: <AddFirst words="There is no package yet." href="/admin/packages" />,
          places: <AddFirst words="There is no location yet." href="/admin/node-groups" />,
          images: <NoImages staff />,
        }}
      />
    )
  },
})

const AddFirst = ({ words, href }: { words: string; href: string }) => (
  <>
    {words} <Link href={href}>Add one</Link> first.
  </>
)

export const resellerNewServerPage = page({
  path: '/reseller/servers/new',
  reads: resellerReads,
  title: 'Create server',
  nav: 'servers',
  files: accessFiles,
  view: ({ account, ...data }) => (
    <OrderPage
      {...data}
      customers={withNamed(data)}
      area="/reseller"
      order={createResellerServer}
      itself={account}
      packages={account.packages}
      packageObstacle={(p) => overQuota(account, p)}
      places={account.locations}
      placeObstacle={(l) =>
        account.locations.find(({ id }) => id === l.id)?.open ? undefined : 'Closed for new servers.'
      }
      aboutPlace={() => undefined}
      nodePicker={() => undefined}
      none={{
        customers: (
          <>
            You have no customer yet. Order for yourself, or <Link href="/reseller/customers">add one</Link> first.
          </>
        ),
        packages: 'There is no package that you may sell yet. Ask your provider.',
        places: 'There is no location that you may sell in yet. Ask your provider.',
        images: <NoImages staff={false} />,
      }}
      {...(account.suspendedAt && { disabledReason: <SuspendedWords /> })}
    />
  ),
})

const free = (l: Location) =>
  l.nodes > 0 &&
  `${mb(Math.max(0, l.memoryMb - l.heldMemoryMb))} memory, ${gb(l.freeDiskGb)} disk and ` +
    `${count(l.freeIpv4, 'IPv4 address', 'IPv4 addresses')} free.`

type NodePickerProps = {
  /** Undefined: there are many, or the reader sees none. */
  nodes: readonly Node[] | undefined
  choices: Choices
  what: Sold | undefined
  where: Location | undefined
  value: string | undefined
}
/** The nodes of the chosen location, for readers who see nodes. */
function NodePicker({ nodes, choices, what, where, value }: NodePickerProps) {
  const automatic =
    where?.placement === 'fill' ? 'Automatic: the fullest that fits' : 'Automatic: the one with the most free capacity'
  const shared = { scope: 'new', name: 'nodeId', label: 'Node', nullable: true }
  if (!nodes && choices.more)
    return (
      <Chooser {...shared} of="node" choices={choices} value={value} none={automatic} hint="One of the location." />
    )
  const here = nodes?.filter((n) => n.location.id === where?.id) ?? []
  if (!here.length) return null
  return (
    <Select
      {...shared}
      value={value}
      options={[
        { value: '', label: automatic },
        ...here.map((n) => ({ value: n.id, label: n.name, why: nodeHindrance(n, what) })),
      ]}
    />
  )
}
