// The keys of all encrypted values: a new one for all of them, and what becomes of the former ones. The key file has
// both keys until no value needs the old one: after a crash it opens everything, and a second call continues with the
// new key.
import { getTableName } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, nullable, operation, time } from '../../kernel/api/operation.ts'
import { named } from '../../kernel/crypto/key-file.ts'
import { KeyFileError } from '../../kernel/crypto/key-ring.ts'
import { keyOf, type Secrets } from '../../kernel/crypto/secrets.ts'
import type { Clock } from '../../kernel/db/clock.ts'
import { type EncryptedColumn, eachEncryptedOtherwise, keysInUse, reencrypt } from '../../kernel/db/encrypted.ts'
import { type Db, write } from '../../kernel/db/open.ts'

export const rotateSecrets = operation({
  id: 'secrets.rotate',
  method: 'POST',
  path: '/admin/settings/secrets/actions/rotate',
  summary:
    'Create a new key in the key file, encrypt every secret in the database anew with it, and set the old key aside',
  past: 'Rotated the encryption key',
  access: {},
  localOnly: true,
  response: t.Object({
    key: t.String({ description: 'The id of the key that everything is encrypted with now.' }),
    encrypted: t.Integer({ description: 'How many values were re-encrypted.' }),
    setAside: t.Array(t.String(), {
      description: 'The ids of the keys that are former ones now: they only open backups from before.',
    }),
  }),
  refuses: ['key_file_not_usable'],
  prepare: async ({ db, secrets, clock, registry }) => {
    try {
      return await reencryptEverything(db, registry.encrypted, secrets, clock)
    } catch (error) {
      throw error instanceof KeyFileError ? new ApiError('key_file_not_usable', error.message) : error
    }
  },
  run({ tx, secrets, registry, auditAnchor, clock, prepared: encrypted }) {
    const [key, ...old] = secrets.keyIds() as [string, ...string[]]
    // Transactions that began after the key was made use it, so this finds nothing; a mistake here would lose secrets.
    if ([...keysInUse(tx, registry.encrypted).keys()].some((id) => id !== key)) return { key, encrypted, setAside: [] }
    if (old.length) {
      auditAnchor.signAnew(secrets)
      secrets.setOldKeysAside(clock())
    }
    return { key, encrypted, setAside: old }
  },
})

export const listSecretKeys = operation({
  id: 'secrets.list',
  method: 'GET',
  path: '/admin/settings/secrets',
  summary: 'List the keys of the key file and the former ones, with what still needs each',
  access: {},
  localOnly: true,
  response: t.Object({
    keys: t.Array(
      t.Object({
        id: t.String(),
        values: t.Integer({ description: 'How many values in the database are encrypted with it.' }),
        setAsideAt: described(
          nullable(time),
          'A former key: backups and replicas of the database from before this time need it. Null: it is in the file.',
        ),
      }),
    ),
    missing: t.Array(t.String(), { description: 'The ids of keys that values need and that are nowhere.' }),
  }),
  refuses: ['key_file_not_usable'],
  prepare: async ({ db, secrets, registry }) =>
    orNotUsable(() => {
      const used = keysInUse(db, registry.encrypted)
      const listed = [...secrets.keyIds().map((id) => ({ id, setAsideAt: null })), ...secrets.formerKeys()]
      return {
        keys: listed.map(({ id, setAsideAt }) => ({ id, values: used.get(id) ?? 0, setAsideAt })),
        missing: [...used.keys()].filter((id) => !secrets.hasKey(id)),
      }
    }),
  run: ({ prepared }) => prepared,
})

export const dropSecretKey = operation({
  id: 'secrets.drop',
  method: 'POST',
  path: '/admin/settings/secrets/actions/drop',
  summary: 'Drop a former key for good: backups of the database from before it was set aside open no secret any more',
  past: 'Dropped a former encryption key',
  access: {},
  localOnly: true,
  body: t.Object({ key: t.String({ description: 'The id of a former key.', minLength: 1, maxLength: 40 }) }),
  response: t.Object({ key: t.String() }),
  refuses: ['former_key_not_found', 'former_key_in_use', 'key_file_not_usable'],
  run({ tx, secrets, registry, body: { key } }) {
    return orNotUsable(() => {
      if (!secrets.formerKeys().some(({ id }) => id === key))
        throw new ApiError('former_key_not_found', `There is no former key ${key}.`)
      if (keysInUse(tx, registry.encrypted).has(key))
        throw new ApiError('former_key_in_use', `Something in the database is encrypted with the key ${key}.`)
      secrets.dropFormerKey(key)
      return { key }
    })
  },
})

function orNotUsable<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof KeyFileError ? new ApiError('key_file_not_usable', error.message) : error
  }
}

/** Returns the number of re-encrypted values. Opens all of them once before it changes any. */
async function reencryptEverything(
  db: Db,
  columns: readonly EncryptedColumn[],
  secrets: Secrets,
  clock: Clock,
): Promise<number> {
  const there = secrets.keyIds()
  const missing = [...keysInUse(db, columns).keys()].filter((id) => !secrets.hasKey(id))
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
