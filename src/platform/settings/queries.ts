import { eq, isNull } from 'drizzle-orm'
import { resellerOfCustomer } from '../../identity/account-records/queries.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { type Branding, branding } from './tables.ts'

/** Null: the installation. */
export type BrandOwner = string | null

export type BrandRow = {
  name: string | null
  accent: string | null
  /** The logo's digest. */
  logo: string | null
  senderName: string | null
  senderAddress: string | null
  supportLink: string | null
}

// Raw and prepared: every page and every mail runs the first.
const statements = prepared(({ $client }) => ({
  visibleTo: $client.prepare<BrandRow, [string]>(
    `SELECT name, accent, logo_hash AS logo, sender_name AS senderName, sender_address AS senderAddress,
       support_link AS supportLink FROM branding
     WHERE account_id IS NULL OR account_id = (${resellerOfCustomer}) ORDER BY account_id IS NULL`,
  ),
  logo: $client.prepare<{ logo: Uint8Array; logoType: string }, [string]>(
    'SELECT logo, logo_type AS logoType FROM branding WHERE logo_hash = ? LIMIT 1',
  ),
  accent: $client.prepare<unknown, [string]>('SELECT 1 FROM branding WHERE accent = ? LIMIT 1'),
  own: $client.prepare<unknown, [string]>('SELECT 1 FROM branding WHERE account_id = ? LIMIT 1'),
  sender: $client.prepare<unknown, [string, string]>(
    'SELECT 1 FROM branding WHERE account_id <> ? AND sender_address = ? LIMIT 1',
  ),
}))
/** The brands that apply to this account, its reseller's before the installation's. */
export const brandRowsFor = (tx: Db, accountId: string): BrandRow[] => statements(tx).visibleTo.all(accountId)
/** The logo with this digest, whoever has it. */
export const logoByHash = (tx: Db, hash: string) => statements(tx).logo.get(hash)
/** Has anybody this colour, as `#rrggbb`? */
export const isAccentInUse = (tx: Db, accent: string): boolean => statements(tx).accent.get(accent) !== null
/** Has this reseller a brand of its own? */
export const hasBranding = (tx: Db, accountId: string): boolean => statements(tx).own.get(accountId) !== null
/** Does another reseller send its mails from this address? */
export const isSenderOfAnother = (tx: Db, accountId: string, address: string): boolean =>
  statements(tx).sender.get(accountId, address) !== null

const of = (owner: BrandOwner) => (owner === null ? isNull(branding.accountId) : eq(branding.accountId, owner))
// A logo is kilobytes: it is read when it is served, not with the rest.
const columns = {
  name: branding.name,
  accent: branding.accent,
  senderName: branding.senderName,
  senderAddress: branding.senderAddress,
  supportLink: branding.supportLink,
  logoHash: branding.logoHash,
}
const nothing = { name: null, accent: null, senderName: null, senderAddress: null, supportLink: null, logoHash: null }
/** The owner's own settings; nulls are inherited. */
export const brandingOf = (tx: Db, owner: BrandOwner) =>
  tx.select(columns).from(branding).where(of(owner)).get() ?? nothing

export function saveBranding(tx: Tx, owner: BrandOwner, changed: Partial<Branding>) {
  const { length } = tx.update(branding).set(changed).where(of(owner)).returning({ name: branding.name }).all()
  if (!length)
    tx.insert(branding)
      .values({ accountId: owner, ...changed })
      .run()
}
