// Why a location cannot take a package, said before the order is sent. The order itself decides
// (src/fleet/placement/placement.ts).

import type { listPackages } from '../../../src/catalog/packages/packages.ts'
import type { listNodes } from '../../../src/fleet/nodes/nodes.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { exactGb, exactMb, gb, mb } from '../../components/words.ts'

type Offer = Answers<{ offer: typeof listPackages }>['offer']
export type Package = Offer['data'][number]
/** The fields of a package that decide where an order fits. */
type Sized = Pick<Package, 'name' | 'memoryMb' | 'diskGb' | 'storageClass' | 'ipv4'>
export type Location = Offer['locations'][number]
export type Node = Answers<{ nodes: typeof listNodes }>['nodes']['data'][number]

const freeMemory = (n: Node) => Math.max(0, n.memoryMb - n.reservedMemoryMb - n.heldMemoryMb)

/** The pools that may take the disk of the package. */
const poolsFor = (n: Node, { storageClass }: Sized) =>
  n.storagePools.filter((pool) => pool.open && (storageClass === null || pool.class === storageClass))
/** The largest disk that one of them takes. */
const freeDisk = (n: Node, p: Sized) => Math.max(0, ...poolsFor(n, p).map((pool) => pool.freeDiskGb))

const RECONNECTING = 'reconnecting'
const comesBack = 'It is reconnecting to the panel. Reload this page in a minute.'

export const nodeHindrance = (n: Node, p: Sized | undefined): string | undefined =>
  !n.open
    ? 'closed'
    : !n.connected && !n.reconnecting
      ? 'not connected'
      : p && freeMemory(n) < p.memoryMb
        ? `${mb(freeMemory(n))} memory free`
        : p && p.storageClass !== null && !poolsFor(n, p).length
          ? `no ${p.storageClass} storage`
          : p && freeDisk(n, p) < p.diskGb
            ? `${gb(freeDisk(n, p))} disk free`
            : n.connected
              ? undefined
              : RECONNECTING

export function locationObstacle(
  l: Location,
  p: Sized | undefined,
  nodes: readonly Node[] | undefined,
  usesReserve = false,
): string | undefined {
  if (!l.open) return 'Closed for new servers.'
  if (!l.nodes) return 'It has no node yet.'
  if (!l.connectedNodes && !l.reconnectingNodes) return 'None of its nodes is connected.'
  if (!p) return l.connectedNodes ? undefined : comesBack
  if (p.ipv4 > 0 && !l.freeIpv4) return 'No free IPv4 address.'
  const here = nodes?.filter((n) => n.location.id === l.id)
  const hindrances = here?.map((n) => nodeHindrance(n, p))
  if (hindrances?.includes(RECONNECTING) && !hindrances.includes(undefined)) return comesBack
  const needsReserve = l.orderableMemoryMb < p.memoryMb && !usesReserve
  if (l.reserve > 0 && needsReserve) return `${mb(l.reserveMb)} of its memory are kept in reserve.`
  const fits = hindrances
    ? hindrances.includes(undefined)
    : l.memoryMb - l.heldMemoryMb >= p.memoryMb && l.freeDiskGb >= p.diskGb
  return fits ? undefined : `No node has room for ${p.name} (${exactMb(p.memoryMb)}, ${exactGb(p.diskGb)}).`
}
