import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'

/** The text of `authorized_keys`. */
export const keysText = (keys: readonly string[]) => keys.map((key) => `${key}\n`).join('')

/**
 * Writes the text in place: a container has the file itself mounted, and would not see another one of the same name.
 * The rest of a longer text goes last, so that at no moment a key is missing that was there and stays.
 */
export function writeInPlace(path: string, text: string) {
  const file = openSync(path, 'r+')
  try {
    const bytes = Buffer.from(text)
    writeSync(file, bytes, 0, bytes.length, 0)
    ftruncateSync(file, bytes.length)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** The fingerprint by which the SSH server notes a key; undefined for a line without one. */
export function fingerprintOf(key: string): string | undefined {
  const blob = /(?:^|\s)(?:ssh-|ecdsa-|sk-)[a-z0-9@.-]+\s+([A-Za-z0-9+/]+=*)/.exec(key)?.[1]
  if (blob === undefined) return undefined
  return `SHA256:${createHash('sha256').update(Buffer.from(blob, 'base64')).digest('base64').replace(/=+$/, '')}`
}
