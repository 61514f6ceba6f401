import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Removed } from '../../../agent/protocol/values/source-removal.ts'
import type { NotedActor } from '../../identity/team/audit-actor.ts'

/** `agent`: the node's agent removes it. `manual`: a person runs the listed commands. */
export const removalChoices = ['keep', 'agent', 'manual'] as const
export type RemovalChoice = (typeof removalChoices)[number]
export const removalStates = ['idle', 'removing', 'removed', 'restoring', 'restored', 'failed'] as const
export type RemovalState = (typeof removalStates)[number]

export const sourceRemovals = sqliteTable(
  'source_removals',
  {
    importId: text('import_id').notNull(),
    nodeId: text('node_id').notNull(),
    choice: text({ enum: removalChoices }),
    chosenBy: text('chosen_by', { mode: 'json' }).$type<NotedActor>(),
    chosenAt: integer('chosen_at'),
    /** The fingerprint of the control server's key, where a person has named it. */
    controlKey: text('control_key'),
    state: text({ enum: removalStates }).notNull(),
    jobId: text('job_id'),
    /** The removal whose journal is on the node. */
    removal: text(),
    result: text({ mode: 'json' }).$type<Removed>(),
    removedAt: integer('removed_at'),
    restoredAt: integer('restored_at'),
    failure: text(),
    failureWords: text('failure_words'),
  },
  (t) => [primaryKey({ columns: [t.importId, t.nodeId] })],
)
export type SourceRemoval = typeof sourceRemovals.$inferSelect
