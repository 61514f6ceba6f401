import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { NotedActor } from '../../identity/team/audit-actor.ts'

/** Snapshots of servers: layers of the disk in use that nothing writes any more. They go with the disk. */
export const snapshots = sqliteTable('snapshots', {
  id: text().primaryKey(),
  serverId: text('server_id').notNull(),
  name: text().notNull(),
  comment: text().notNull().default(''),
  /** Its layer of the disk; null while it is taken. */
  layer: integer(),
  /** The layer on which its layer stands; null: none, it is the first. */
  parent: integer(),
  /** The server's disk when it was taken, in GiB: so much space is held for it. */
  diskGb: integer('disk_gb').notNull(),
  /** The bytes that its layer took on the node when it was made or merged. */
  usedBytes: integer('used_bytes'),
  /** The guest had written everything to its disk: it was frozen meanwhile, or shut down. */
  consistent: integer({ mode: 'boolean' }),
  /** The account that took it; null: it was taken before this was noted. */
  takenBy: text('taken_by', { mode: 'json' }).$type<NotedActor>(),
  createdAt: integer('created_at').notNull(),
})
export type Snapshot = typeof snapshots.$inferSelect
