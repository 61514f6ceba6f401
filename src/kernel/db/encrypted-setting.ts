// Settings that hold a password are encrypted as a whole.
import type { Static, TSchema } from 'typebox'
import { fits } from '../api/validate.ts'
import type { Secrets } from '../crypto/secrets.ts'
import { log } from '../log.ts'
import type { Db, Tx } from './open.ts'
import { getSetting, putSetting, removeSetting } from './queries.ts'

const unread = new Set<string>()

/** `const setting = encryptedSetting('mail.server', MailServer)`; `setting.get(db, secrets)`. */
export const encryptedSetting = <T extends TSchema>(name: string, schema: T) => ({
  /**
   * Undefined until it is set. Also when its key is away, which the journal says once: then it can be set anew, and a
   * page that only asks whether it is there is shown.
   */
  get(db: Db, secrets: Secrets): Static<T> | undefined {
    const stored = getSetting(db, name) as string | undefined
    if (stored === undefined) return undefined
    try {
      const value = JSON.parse(secrets.open(name, stored))
      return fits(schema, value) ? value : undefined
    } catch (error) {
      if (!unread.has(stored)) log.error(`the setting ${name} cannot be read and counts as not set`, { error })
      unread.add(stored)
      return undefined
    }
  },
  keep(tx: Tx, secrets: Secrets, value: Static<T>) {
    putSetting(tx, name, secrets.encrypt(name, JSON.stringify(value)))
  },
  drop(tx: Tx) {
    removeSetting(tx, name)
  },
})
