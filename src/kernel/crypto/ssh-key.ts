import type { ParsedKey } from 'ssh2'

/**
 * Reads an SSH key, private as PEM or public as in a .pub file. Undefined where it is none, and for one behind a
 * passphrase.
 */
export function parseSshKey(text: string): ParsedKey | undefined {
  // Loaded with the first key: it brings a whole SSH client, and each start would wait for it.
  const ssh2: typeof import('ssh2') = require('ssh2')
  const parsed = ssh2.utils.parseKey(text)
  const key = Array.isArray(parsed) ? parsed[0] : parsed
  return key instanceof Error ? undefined : key
}
