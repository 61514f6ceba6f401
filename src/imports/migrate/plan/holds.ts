// Addresses of servers that are still at the source are held in the own pools, so that no order gets one that answers
// there. A server that comes takes its own; one that stays, or goes back, has it held again.

import type { Tx } from '../../../kernel/db/open.ts'
import { reserve, rowsOfIpv4 } from '../../../network/ip-pools/queries.ts'
import { isHeldForImport, MARK } from '../../import-records/held-addresses.ts'
import { addressesOfServer } from '../../import-records/inventory/queries.ts'
import type { ImportServer } from '../../import-records/model.ts'

const MOST_WORDS = 100
const wordsFor = ({ id, hostname }: Pick<ImportServer, 'id' | 'hostname'>) =>
  `${MARK}${id}: ${hostname} is at its source`.slice(0, MOST_WORDS)

const ipv4Of = (tx: Tx, { id }: Pick<ImportServer, 'id'>) =>
  addressesOfServer(tx, id).filter(({ version }) => version === 4)

/** Holds the IPv4 addresses of a server that is at its source, as far as own pools have them and nothing else has. */
export function holdAtSource(tx: Tx, server: Pick<ImportServer, 'id' | 'hostname'>) {
  for (const { address } of ipv4Of(tx, server))
    for (const row of rowsOfIpv4(tx, address))
      if (row.workloadId === null && row.holderId === null && row.reservedFor === null)
        reserve(tx, row.id, wordsFor(server))
}

/** Frees what is held for it, so that it can be given to it in the same transaction. */
export function freeHeld(tx: Tx, server: Pick<ImportServer, 'id'>) {
  for (const { address } of ipv4Of(tx, server))
    for (const row of rowsOfIpv4(tx, address)) if (isHeldForImport(row.reservedFor)) reserve(tx, row.id, null)
}
