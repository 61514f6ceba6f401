// A new key for all encrypted values. The key file has both keys until no value needs the old one: after a crash it
// opens everything, and a second call continues with the new key.
import { getTableName } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { ApiError } from '../../kernel/api/errors.ts'
import { operation } from '../../kernel/api/operation.ts'
import { KeyFileError, keyOf, named, type Secrets } from '../../kernel/crypto/secrets.ts'
import type { Clock } from '../../kernel/db/clock.ts'
import { type EncryptedColumn, eachEncryptedOtherwise, keysInUse, reencrypt } from '../../kernel/db/encrypted.ts'
import { type Db, write } from '../../kernel/db/open.ts'

export const rotateSecrets = operation({
  id: 'secrets.rotate',
  method: 'POST',
  path: '/admin/settings/secrets/actions/rotate',
  summary: 'Create a new key in the key file, encrypt every secret in the database anew with it, and drop the old key',
  access: {},
  localOnly: true,
  response: t.Object({
    key: t.String({ description: 'The id of the key that everything is encrypted with now.' }),
    encrypted: t.Integer({ description: 'How many values were re-encrypted.' }),
    dropped: t.Array(t.String(), { description: 'The ids of the keys that are gone from the file.' }),
  }),
  refuses: ['key_file_not_usable'],
  prepare: async ({ db, secrets, clock, registry }) => {
    try {
      return await reencryptEverything(db, registry.encrypted, secrets, clock)
    } catch (error) {
      throw error instanceof KeyFileError ? new ApiError('key_file_not_usable', error.message) : error
    }
  },
  run({ tx, secrets, registry, auditAnchor, prepared: encrypted }) {
    const [key, ...old] = secrets.keyIds() as [string, ...string[]]
    // Transactions that began after the key was made use it, so this finds nothing; a mistake here would lose secrets.
    if ([...keysInUse(tx, registry.encrypted).keys()].some((id) => id !== key)) return { key, encrypted, dropped: [] }
    if (old.length) {
      auditAnchor.signAnew(secrets)
      secrets.dropOldKeys()
    }
    return { key, encrypted, dropped: old }
  },
})

/** Returns the number of re-encrypted values. Opens all of them once before it changes any. */
async function reencryptEverything(
  db: Db,
  columns: readonly EncryptedColumn[],
  secrets: Secrets,
  clock: Clock,
): Promise<number> {
  const there = secrets.keyIds()
  const missing = [...keysInUse(db, columns).keys()].filter((id) => !there.includes(id))
  if (missing.length)
    throw new KeyFileError(
      `Something is encrypted with ${named(missing)}, and the key file has ${named(there)} only. Nothing was ` +
        'changed. Add the missing line ' +
        'from your copy of the keys, then run this again.',
    )
  await eachEncryptedOtherwise(db, columns, '', (_, { of, about, encrypted }) => {
    try {
      secrets.open(about, encrypted)
    } catch {
      throw new KeyFileError(
        `A value in ${getTableName(of.table)} does not open with ${named([keyOf(encrypted)])}: the key file is ` +
          'not the one it was encrypted ' +
          'with, or the value was damaged. Nothing was changed. Put the right key file in place, then run this again.',
      )
    }
  })
  // The writer's lock is also the lock of the key file: two rotations at once agree on one new key.
  write(db, () => void (secrets.keyIds().length === 1 && secrets.addKey(clock())))
  const [key] = secrets.keyIds()
  let encrypted = 0
  await eachEncryptedOtherwise(db, columns, key!, (tx, value) => {
    reencrypt(tx, secrets, value)
    encrypted++
  })
  return encrypted
}
