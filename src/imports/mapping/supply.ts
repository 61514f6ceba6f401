// Free IPv4 addresses at a location, for copies that get new ones.
import { capacityRowsIn } from '../../fleet/node-records/queries.ts'
import type { Db } from '../../kernel/db/open.ts'
import { countFreeIpv4 } from '../../network/ip-pools/queries.ts'

/** Of all pools that its nodes route together. */
export const allocatable = (tx: Db, locationId: string): number =>
  countFreeIpv4(
    tx,
    capacityRowsIn(tx, locationId).map(({ id }) => id),
  )
