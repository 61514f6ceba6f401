import type { SQL } from 'drizzle-orm'
import { ownedVisibleTo } from '../../identity/account-records/owned.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { privateNetworks } from './tables.ts'

export type { PrivateNetworkRow } from './tables.ts'

export const visibleTo = (actor: Actor): SQL | undefined => ownedVisibleTo(actor, privateNetworks)

/** The MAC address of a card; its first byte says that it was given locally. */
export const macOf = (number: number) =>
  `02:62:${[24, 16, 8, 0].map((shift) => ((number >>> shift) & 255).toString(16).padStart(2, '0')).join(':')}`
