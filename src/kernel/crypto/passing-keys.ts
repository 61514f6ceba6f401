// Keyed digests for who has the keys of some purposes and no other: a reader signs cursors.
import { createHmac } from 'node:crypto'
import type { Secrets } from './secrets.ts'

/** `mac` and `isMac` as those of the secrets that gave these `macKeys`, newest first. */
export const macsWith = (keys: Readonly<Record<string, readonly string[]>>): Pick<Secrets, 'mac' | 'isMac'> => {
  const digest = (key: string, text: string) =>
    createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('base64url')
  const of = (purpose: string) => keys[purpose] ?? []
  return {
    mac(purpose, text) {
      const [newest] = of(purpose)
      if (newest === undefined) throw new Error(`there is no key for ${purpose} here`)
      return digest(newest, text)
    },
    isMac: (purpose, text, start) => of(purpose).some((key) => digest(key, text).startsWith(start)),
  }
}
