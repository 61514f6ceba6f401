import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { FirewallReport } from '../../../agent/protocol/firewall.ts'
import type { StoredRule } from './rule.ts'

export const firewalls = sqliteTable('firewalls', {
  id: text().primaryKey(),
  ownerId: text('owner_id').notNull(),
  name: text().notNull(),
  rules: text({ mode: 'json' }).$type<StoredRule[]>().notNull(),
  createdAt: integer('created_at').notNull(),
})

/** The firewall of a server; one without a row has the defaults. */
export const serverFirewalls = sqliteTable('server_firewalls', {
  id: text().primaryKey(),
  enabled: integer({ mode: 'boolean' }).notNull().default(false),
  defaultIn: text('default_in').$type<'accept' | 'drop'>().notNull().default('drop'),
  defaultOut: text('default_out').$type<'accept' | 'drop'>().notNull().default('accept'),
  rules: text({ mode: 'json' }).$type<StoredRule[]>().notNull().default([]),
  /** Null: as the package says. */
  smtpAllowed: integer('smtp_allowed', { mode: 'boolean' }),
  /** Counts the changes. */
  revision: integer().notNull().default(0),
  /** Its limits have changed, and no job brings them to its node yet. */
  due: integer({ mode: 'boolean' }).notNull().default(false),
  report: text({ mode: 'json' }).$type<FirewallReport>(),
  reportedAt: integer('reported_at'),
})

/** The limits of a package as its servers were last told them, as text that is compared and never read. */
export const firewallLimits = sqliteTable('firewall_limits', {
  packageId: text('package_id').primaryKey(),
  limits: text().notNull(),
})

/** The servers that have a shared firewall, in the order of its rules on the server. */
export const firewallServers = sqliteTable(
  'firewall_servers',
  {
    firewallId: text('firewall_id').notNull(),
    serverId: text('server_id').notNull(),
    position: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.serverId, t.firewallId] })],
)
