import { type Db, prepared } from '../../kernel/db/open.ts'

const any = prepared(({ $client }) =>
  $client.prepare<unknown, [string]>('SELECT 1 FROM ssh_keys WHERE owner_id = ? LIMIT 1'),
)
export const hasSshKeys = (tx: Db, ownerId: string): boolean => any(tx).get(ownerId) !== null
