import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Role } from './role.ts'

export const teamMembers = sqliteTable('team_members', {
  id: text().primaryKey(),
  ownerId: text('owner_id').notNull(),
  /** The address of the invitation; the account that accepts it has it at that moment. */
  email: text().notNull(),
  memberId: text('member_id'),
  /** Null: all workloads of the owner, also later ones. */
  workloadId: text('workload_id'),
  role: text().$type<Role>().notNull(),
  /** Hash of the token in the mailed link; null once it was used. */
  tokenHash: text('token_hash'),
  invitedBy: text('invited_by').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  acceptedAt: integer('accepted_at'),
})
export type TeamMember = typeof teamMembers.$inferSelect
