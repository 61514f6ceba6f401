import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** A key that root login accepts, as it was when it was chosen: its owner may delete it from the account. */
export type InstanceKey = { id: string; name: string; publicKey: string; fingerprint: string }
/** Why an instance ended: somebody asked for it, or it ended by itself. */
export const endReasons = ['requested', 'crashed'] as const
export type EndReason = (typeof endReasons)[number]

/** Columns that only GPU instances have, under the id of their workload. */
export const gpuInstances = sqliteTable('gpu_instances', {
  id: text().primaryKey(),
  offerId: text('offer_id').notNull(),
  imageId: text('image_id').notNull(),
  /** JSON of texts `NAME=value`, encrypted; null: none. */
  environment: text(),
  /** Null: the image's own. */
  command: text({ mode: 'json' }).$type<string[]>(),
  /** Encrypted; null: its image has no Jupyter. */
  jupyterToken: text('jupyter_token'),
  sshKeys: text('ssh_keys', { mode: 'json' }).$type<InstanceKey[]>().notNull(),
  /** Ports of the container that have a name, as the owner chose them; null: those of the image. */
  httpPorts: text('http_ports', { mode: 'json' }).$type<number[]>(),
  /** The state that its events said last; null before it was set up. */
  spell: text().$type<'running' | 'stopped'>(),
  /** When that began, in ms. */
  spellAt: integer('spell_at'),
  /** How it ended last, in ms. */
  endedAt: integer('ended_at'),
  endReason: text('end_reason').$type<EndReason>(),
  exitCode: integer('exit_code'),
  oomKilled: integer('oom_killed', { mode: 'boolean' }),
  endDetail: text('end_detail'),
})
