import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { GuestFileSystem } from '../../../agent/protocol/wire.ts'

/** The state of a server right after its installation. */
export type InstallationCheck = {
  jobId: string
  at: number
  addresses: { address: string; answers: boolean }[]
  hostname: string | null
  ssh: boolean
  signIn: { password: boolean; keys: boolean } | null
  /** Sentences, one for each thing that was ordered and is missing. */
  warnings: string[]
}

/** The guest of a server, as it describes itself through its agent: every text is its claim. */
export const serverGuests = sqliteTable('server_guests', {
  serverId: text('server_id').primaryKey(),
  agentAnswers: integer('agent_answers', { mode: 'boolean' }).notNull().default(false),
  /** When it is asked next. */
  nextLookAt: integer('next_look_at').notNull(),
  /** How often it has not answered since it started. */
  tries: integer().notNull().default(0),
  osId: text('os_id'),
  osName: text('os_name'),
  osVersion: text('os_version'),
  kernel: text(),
  detectedAt: integer('detected_at'),
  /** Told with the system; null: its agent does not tell. */
  fileSystems: text('file_systems', { mode: 'json' }).$type<GuestFileSystem[]>(),
  /** When the removal of a seed was tried last. */
  seedTriedAt: integer('seed_tried_at').notNull().default(0),
  /** The result of its last installation, as its node saw it. */
  seen: text({ mode: 'json' }).$type<InstallationCheck>(),
  /** When it was first seen running with a seed that Windows reads. */
  seedSeenAt: integer('seed_seen_at'),
})
export type ServerGuest = typeof serverGuests.$inferSelect

/** The startup script of a server's last installation as it was at that moment, and what it left. */
export const startupScripts = sqliteTable('startup_scripts', {
  serverId: text('server_id').primaryKey(),
  /** The job of the installation. */
  jobId: text('job_id').notNull(),
  name: text().notNull(),
  content: text().notNull(),
  /** `unknown`: it did not end within a day, or no guest agent could be asked. */
  state: text().$type<'waiting' | 'ended' | 'unknown'>().notNull(),
  exitCode: integer('exit_code'),
  output: text(),
  truncated: integer({ mode: 'boolean' }).notNull().default(false),
  startedAt: integer('started_at').notNull(),
  endedAt: integer('ended_at'),
})
export type StartupScript = typeof startupScripts.$inferSelect
