import { integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Card, HttpScheme } from '../../../agent/protocol/gpu.ts'

/** Nodes with cards. A node becomes one with the first card that it reports. */
export const gpuHosts = sqliteTable('gpu_hosts', {
  nodeId: text('node_id').primaryKey(),
  /** Its container engine; null: it reports none. */
  engine: text(),
  engineVersion: text('engine_version'),
  /** The reasons why it cannot run instances, in the node's words. */
  engineProblems: text('engine_problems', { mode: 'json' }).$type<string[]>().notNull().default([]),
  /** It takes new instances. */
  open: integer({ mode: 'boolean' }).notNull().default(true),
  /** The address by which people reach mapped ports; null: the one that the node names. */
  publicAddress: text('public_address'),
  /** New instances get mapped ports of this range. */
  firstPort: integer('first_port').notNull().default(20_000),
  lastPort: integer('last_port').notNull().default(29_999),
  /** HTTP ports of its instances have names under this domain; null: they have none. */
  httpDomain: text('http_domain'),
  /** The scheme of their links; null: the host does not serve them yet. */
  httpScheme: text('http_scheme').$type<HttpScheme>(),
  /** A fingerprint of the names that the host serves; null: none. */
  httpApplied: text('http_applied'),
  /** The reason why the host took no names last. */
  httpProblem: text('http_problem'),
  /** When that is tried again, in ms. */
  httpAfter: integer('http_after'),
})
export type GpuHost = typeof gpuHosts.$inferSelect

/** Results of the last check. `unchecked`: none since the card came, came back, was broken or was used. */
export const cardHealths = ['unchecked', 'passed', 'failed'] as const
export type CardHealth = (typeof cardHealths)[number]

/** The cards of nodes, as their nodes reported them last. */
export const gpuCards = sqliteTable('gpu_cards', {
  id: text().primaryKey(),
  nodeId: text('node_id').notNull(),
  /** The name that its driver gives it, wherever it is plugged in. */
  uuid: text().notNull(),
  model: text().notNull(),
  memoryMb: integer('memory_mb').notNull(),
  bus: text().notNull(),
  driver: text().notNull(),
  serial: text().notNull(),
  nvlinks: integer().notNull(),
  mig: text().$type<Card['mig']>().notNull(),
  /** Why it cannot be used, in the node's words; empty: it can. */
  problems: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
  /** Staff let it be sold. */
  open: integer({ mode: 'boolean' }).notNull().default(true),
  health: text().$type<CardHealth>().notNull().default('unchecked'),
  /** The finds of the last check, or why it could not be made. */
  checkProblems: text('check_problems', { mode: 'json' }).$type<string[]>().notNull().default([]),
  checkedAt: integer('checked_at'),
  /** A check that could not be made is not tried again before, in ms. */
  checkAfter: integer('check_after'),
  /** So much of its memory the last check cleared, and proved clear. */
  clearedMb: integer('cleared_mb'),
  /** Its memory throughput at the last check, where the node measures it. */
  memoryGbPerSecond: real('memory_gb_per_second'),
  /** The instance that holds it, whether that runs or not. */
  workloadId: text('workload_id'),
  problemsSince: integer('problems_since'),
  /** Since when its node does not report it any more. */
  missingSince: integer('missing_since'),
  createdAt: integer('created_at').notNull(),
})
export type GpuCard = typeof gpuCards.$inferSelect

/** Ports of hosts that lead to instances. */
export const gpuPorts = sqliteTable(
  'gpu_ports',
  {
    nodeId: text('node_id').notNull(),
    port: integer().notNull(),
    workloadId: text('workload_id').notNull(),
  },
  (t) => [primaryKey({ columns: [t.nodeId, t.port] })],
)
