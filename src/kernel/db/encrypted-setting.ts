// Settings that hold a password are encrypted as a whole.
import type { Static, TSchema } from 'typebox'
import { fits } from '../api/validate.ts'
import type { Secrets } from '../crypto/secrets.ts'
import { log } from '../log.ts'
import { type Db, prepared, type Tx } from './open.ts'

const statements = prepared(({ $client }) => ({
  get: $client.prepare<{ value: string }, [string]>('SELECT value FROM settings WHERE name = ?'),
  keep: $client.prepare('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)'),
  drop: $client.prepare('DELETE FROM settings WHERE name = ?'),
}))
const unread = new Set<string>()

/** `const kept = sealedSetting('mail.server', MailServer)`; `kept.get(db, secrets)` */
export const encryptedSetting = <T extends TSchema>(name: string, schema: T) => ({
  /**
   * Undefined until it is set. Also when its key is away, which the journal says once: then it can be set anew, and a page that
   * only asks whether it is there is shown.
   */
  get(db: Db, secrets: Secrets): Static<T> | undefined {
    const row = statements(db).get.get(name)
    if (!row) return undefined
    try {
      const value = JSON.parse(secrets.open(name, JSON.parse(row.value)))
      return fits(schema, value) ? value : undefined
    } catch (error) {
      if (!unread.has(row.value)) log.error(`the setting ${name} cannot be read and counts as not set`, { error })
      unread.add(row.value)
      return undefined
    }
  },
  keep(tx: Tx, secrets: Secrets, value: Static<T>) {
    statements(tx).keep.run(name, JSON.stringify(secrets.encrypt(name, JSON.stringify(value))))
  },
  drop(tx: Tx) {
    statements(tx).drop.run(name)
  },
})
