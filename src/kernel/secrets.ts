// Secrets at rest. The key lives in a file outside the database; a stolen database opens nothing.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { chmodSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

export type Secrets = {
  /** AES-256-GCM. `about` names the record and is bound to the text: a sealed value cannot be moved to another row. */
  seal(about: string, text: string): string
  /** Throws when the text was changed, moved or sealed with another key. */
  open(about: string, sealed: string): string
  /** A stable keyed digest, base64url, for values that are compared and never shown (cursors, CSRF tokens). */
  mac(purpose: string, text: string): string
}

const VERSION = 'k1'

export function secretsWith(masterKey: Buffer): Secrets {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `berth ${purpose}`, 32))
  const sealing = derive('sealing')
  const macs = new Map<string, Buffer>()
  return {
    seal(about, text) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(about))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`
    },
    open(about, sealed) {
      const [version, data] = sealed.split('.')
      if (version !== VERSION || !data) throw new Error(`sealed with an unknown key (${version})`)
      const raw = Buffer.from(data, 'base64url')
      const cipher = createDecipheriv('aes-256-gcm', sealing, raw.subarray(0, 12))
        .setAAD(Buffer.from(about))
        .setAuthTag(raw.subarray(12, 28))
      return Buffer.concat([cipher.update(raw.subarray(28)), cipher.final()]).toString('utf8')
    },
    mac(purpose, text) {
      let key = macs.get(purpose)
      if (!key) macs.set(purpose, (key = derive(`mac ${purpose}`)))
      return createHmac('sha256', key).update(text).digest('base64url')
    },
  }
}

/** Reads the key file, or makes it (0600) at the first start. Throws when it is not 32 bytes of hex. */
export function secretsFromFile(path: string): Secrets {
  if (!existsSync(path)) {
    const file = openSync(path, 'wx', 0o600)
    writeSync(file, randomBytes(32).toString('hex') + '\n')
    fsyncSync(file)
    closeSync(file)
  }
  const text = readFileSync(path, 'utf8').trim()
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new Error(`${path} is not a key file (64 hexadecimal digits). Restore it from your backup of the keys.`)
  chmodSync(path, 0o600)
  return secretsWith(Buffer.from(text, 'hex'))
}

/** What is stored of a token: SHA-256 of 256 random bits needs no salt. */
export const digest = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')
export const randomToken = () => randomBytes(32).toString('base64url')
