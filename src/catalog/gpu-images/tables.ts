import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { GpuImageIcon } from './icons.ts'

/** Images of containers that instances can be made from, pinned by their digest. */
export const gpuImages = sqliteTable('gpu_images', {
  id: text().primaryKey(),
  name: text().notNull(),
  /** `registry/name@sha256:…`; never changes: what an instance runs is what its image was. */
  reference: text().notNull(),
  /** The compressed layers together may have so many MiB. */
  mostMb: integer('most_mb').notNull(),
  /** It has Jupyter, which instances are to start. */
  jupyter: integer({ mode: 'boolean' }).notNull(),
  /** In place of the image's own command; null: that. */
  command: text({ mode: 'json' }).$type<string[]>(),
  /** `NAME=value` each. */
  environment: text({ mode: 'json' }).$type<string[]>().notNull(),
  /** Ports of the container beside those of SSH and Jupyter that people reach. */
  ports: text({ mode: 'json' }).$type<number[]>().notNull(),
  /** For those who order. */
  description: text(),
  icon: text().$type<GpuImageIcon>(),
  /** The instructions for what it runs. */
  docsUrl: text('docs_url'),
  /** The port of the container that is the way in; null: that of Jupyter where it has it. */
  opensPort: integer('opens_port'),
  /** Null: the registry gives it to everybody. */
  registryUsername: text('registry_username'),
  encryptedRegistryPassword: text('encrypted_registry_password'),
  archived: integer({ mode: 'boolean' }).notNull().default(false),
  createdAt: integer('created_at').notNull(),
})
export type GpuImage = typeof gpuImages.$inferSelect
