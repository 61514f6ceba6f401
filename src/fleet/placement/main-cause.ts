// The main cause of a refusal: what most of the nodes lack. It decides code and headline, in an order as in the stock.
import type { AddressLack } from '../../network/ip-pools/allocate.ts'
import type { ShortageReason } from './placement.ts'

/** A node in service lacks addresses, or memory or storage. */
export type Lack = 'address' | 'room'
const roomShortages: readonly (ShortageReason | undefined)[] = ['memory', 'storage_class', 'disk', 'storage_silent']

type Judged = { shortage?: ShortageReason | undefined; addressLack?: AddressLack | undefined }
/** Undefined: neither. A node that is closed or away says nothing about what the location has run out of. */
export const lackOf = ({ shortage, addressLack }: Judged): Lack | undefined =>
  addressLack ? 'address' : roomShortages.includes(shortage) ? 'room' : undefined

/** True where as many nodes lack addresses as lack room, or more: otherwise more addresses would help few of them. */
export function lackAddressesMostly(lacks: readonly (Lack | undefined)[]): boolean {
  const many = (lack: Lack) => lacks.filter((one) => one === lack).length
  return many('address') > 0 && many('address') >= many('room')
}
