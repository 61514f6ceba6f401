// The SSH keys that root login of an instance accepts.
import { Type as t } from 'typebox'
import { accountById } from '../../../identity/account-records/queries.ts'
import { keysOf, type SshKey, sshKeyById } from '../../../identity/ssh-keys/queries.ts'
import { invalid } from '../../../kernel/api/errors.ts'
import type { Db } from '../../../kernel/db/open.ts'
import type { InstanceKey } from '../tables.ts'

export const keyIds = t.Array(t.String({ minLength: 1, maxLength: 40 }), { maxItems: 100 })

const kept = ({ id, name, publicKey, fingerprint }: SshKey): InstanceKey => ({ id, name, publicKey, fingerprint })

/** Every key on the account, as it is now. */
export const everyKeyOf = (tx: Db, ownerId: string): InstanceKey[] => keysOf(tx, ownerId).map(kept)

/** These keys of the owner; none for no ids. Throws `validation_failed` for another's. */
export function chosenKeys(tx: Db, ownerId: string, ids: readonly string[]): InstanceKey[] {
  const found = [...new Set(ids)].map((id) => sshKeyById(tx, id))
  if (!found.every((key) => key?.ownerId === ownerId))
    throw invalid({
      field: 'sshKeyIds',
      message: `must be SSH keys of ${accountById(tx, ownerId)?.name ?? 'the owner'}.`,
    })
  return found.map((key) => kept(key!))
}
