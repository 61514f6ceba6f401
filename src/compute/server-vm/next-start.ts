// The data for the next start of an installed guest, as its rows say it now.
import type { CommandSource } from '../../kernel/jobs/saga.ts'
import { addressesOf, type HeldAddress } from '../../network/ip-pools/allocate.ts'
import type { Server } from '../server-records/model.ts'
import { withPrivateCards } from './private-cards.ts'
import { networkSeed } from './seed.ts'

/**
 * It may hold the hash of a password, and what a step answers is stored. So it takes what commands alone have: it is
 * made when it is sent, and is in no plan. `instance` is new to the guest.
 */
export const seedForNextStart = (
  { db }: CommandSource,
  server: Server,
  instance: string,
  held: readonly HeldAddress[] = addressesOf(db, server.id),
) => withPrivateCards(db, networkSeed(server, held, instance))
