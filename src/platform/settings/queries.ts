import { type Db, prepared } from '../../kernel/db/open.ts'

const own = prepared(({ $client }) =>
  $client.prepare<unknown, [string]>('SELECT 1 FROM branding WHERE account_id = ? LIMIT 1'),
)
/** Has this reseller a brand of its own? */
export const hasBranding = (tx: Db, accountId: string): boolean => own(tx).get(accountId) !== null
