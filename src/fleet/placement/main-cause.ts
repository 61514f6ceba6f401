// The main cause of a refusal: what most of the nodes lack. It decides code and headline, in an order as in the stock.
import type { AddressLack } from '../../network/ip-pools/allocate.ts'

/** The reasons why a node cannot take a workload, addresses apart, with their words in a refusal. */
export const shortageReasons = {
  closed: 'closed',
  disconnected: 'not connected',
  hypervisor_silent: 'libvirt does not answer',
  memory: 'no memory left',
  storage_class: 'no storage of its class',
  disk: 'no disk left',
  storage_silent: 'storage does not answer',
} as const
export type ShortageReason = keyof typeof shortageReasons

/** A node in service lacks addresses, or memory or storage. */
export type Lack = 'address' | 'capacity'
const capacityShortages: readonly (ShortageReason | undefined)[] = ['memory', 'storage_class', 'disk', 'storage_silent']

type Judged = { shortage?: ShortageReason | undefined; addressLack?: AddressLack | undefined }
/** Undefined: neither. A node that is closed or away says nothing about what the location has run out of. */
export const lackOf = ({ shortage, addressLack }: Judged): Lack | undefined =>
  addressLack ? 'address' : capacityShortages.includes(shortage) ? 'capacity' : undefined

/** Do at least as many nodes lack addresses as capacity? Otherwise more addresses would help few of them. */
export const areAddressesMost = ({ address, capacity }: Record<Lack, number>): boolean =>
  address > 0 && address >= capacity
/** The same, of the lacks of nodes. */
export function lackAddressesMostly(lacks: readonly (Lack | undefined)[]): boolean {
  const many = (lack: Lack) => lacks.filter((one) => one === lack).length
  return areAddressesMost({ address: many('address'), capacity: many('capacity') })
}
