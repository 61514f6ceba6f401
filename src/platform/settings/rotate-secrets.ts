// A new key for what is sealed. The key file has both keys until nothing is sealed with the old one, so that whoever dies in between
// leaves a file that opens everything; called again, it goes on with the key that was made.
import { getTableName } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { Refusal } from '../../kernel/api/errors.ts'
import { operation } from '../../kernel/api/operation.ts'
import type { Clock } from '../../kernel/db/clock.ts'
import { type Db, write } from '../../kernel/db/open.ts'
import { eachSealedOtherwise, keysInUse, sealAnew } from '../../kernel/db/encrypted.ts'
import { KeyFileError, keyOf, named, type Secrets } from '../../kernel/crypto/secrets.ts'
import { sealedColumns } from '../../app/encrypted-columns.ts'

export const rotateSecrets = operation({
  id: 'secrets.rotate',
  method: 'POST',
  path: '/admin/settings/secrets/actions/rotate',
  summary: 'Make a new key in the key file, seal every secret in the database anew with it, and drop the old key',
  access: {},
  onHost: true,
  answer: t.Object({
    key: t.String({ description: 'The id of the key that everything is sealed with now.' }),
    sealed: t.Integer({ description: 'How many values were sealed anew.' }),
    dropped: t.Array(t.String(), { description: 'The ids of the keys that are gone from the file.' }),
  }),
  refuses: ['key_file_not_usable'],
  prepare: async ({ db, secrets, clock }) => {
    try {
      return await sealEverythingAnew(db, secrets, clock)
    } catch (error) {
      throw error instanceof KeyFileError ? new Refusal('key_file_not_usable', error.message) : error
    }
  },
  run({ tx, secrets, prepared: sealed }) {
    const [key, ...old] = secrets.keyIds() as [string, ...string[]]
    // Every transaction that began after the key was made has sealed with it, so this finds nothing. It is what must not be wrong.
    if ([...keysInUse(tx, sealedColumns).keys()].some((id) => id !== key)) return { key, sealed, dropped: [] }
    if (old.length) secrets.dropOldKeys()
    return { key, sealed, dropped: old }
  },
})

/** Answers how many values were sealed anew. Until all of them have been opened once, nothing is changed. */
async function sealEverythingAnew(db: Db, secrets: Secrets, clock: Clock): Promise<number> {
  const there = secrets.keyIds()
  const missing = [...keysInUse(db, sealedColumns).keys()].filter((id) => !there.includes(id))
  if (missing.length)
    throw new KeyFileError(
      `Something is sealed with ${named(missing)}, and the key file has ${named(there)} only. Nothing was changed. Add the missing line ` +
        'from your copy of the keys, then run this again.',
    )
  await eachSealedOtherwise(db, sealedColumns, '', (_, { of, about, sealed }) => {
    try {
      secrets.open(about, sealed)
    } catch {
      throw new KeyFileError(
        `A value in ${getTableName(of.table)} does not open with ${named([keyOf(sealed)])}: the key file is not the one it was sealed ` +
          'with, or the value was damaged. Nothing was changed. Put the right key file in place, then run this again.',
      )
    }
  })
  // The writer's lock is also the lock of the key file: two that rotate at once agree on one new key.
  write(db, () => void (secrets.keyIds().length === 1 && secrets.addKey(clock())))
  const [key] = secrets.keyIds()
  let sealed = 0
  await eachSealedOtherwise(db, sealedColumns, key!, (tx, value) => {
    sealAnew(tx, secrets, value)
    sealed++
  })
  return sealed
}
