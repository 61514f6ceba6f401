import { blob, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Nulls are inherited: a reseller's from the installation, the installation's from the product. */
export const branding = sqliteTable('branding', {
  /** A reseller; null for the installation. */
  accountId: text('account_id'),
  name: text(),
  accent: text(),
  senderName: text('sender_name'),
  senderAddress: text('sender_address'),
  supportLink: text('support_link'),
  logo: blob({ mode: 'buffer' }),
  logoType: text('logo_type'),
  logoHash: text('logo_hash'),
})
export type Branding = typeof branding.$inferSelect
