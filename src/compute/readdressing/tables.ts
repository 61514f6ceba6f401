import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { switchStates } from './switch-states.ts'

/** Servers whose addresses have changed outside, and whose system is to be told by its guest agent. Times in ms. */
export const guestSwitches = sqliteTable('guest_switches', {
  serverId: text('server_id').primaryKey(),
  /** The addresses that it gives up, as its system has them, without prefix lengths. */
  leave: text({ mode: 'json' }).$type<string[]>().notNull(),
  state: text({ enum: switchStates }).notNull(),
  /** Why the last try did nothing, in words. */
  error: text(),
  tries: integer().notNull().default(0),
  since: integer().notNull(),
  nextAt: integer('next_at').notNull(),
  /** It is given up then; null: never. */
  endsAt: integer('ends_at'),
})
export type GuestSwitch = typeof guestSwitches.$inferSelect
