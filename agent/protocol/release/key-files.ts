// Macro (see public/assets.ts): reads the public keys when the program is compiled.
import { readdirSync, readFileSync } from 'node:fs'

/** Two, so that one can be replaced by a release that is signed with the other. */
const MOST_KEYS = 2

/** The keys of packaging/release-keys as PEM texts, by the names of their files. */
export function releaseKeyFiles(): string[] {
  const folder = new URL('../../../packaging/release-keys/', import.meta.url).pathname
  const files = readdirSync(folder).filter((file) => file.endsWith('.pem'))
  if (files.length > MOST_KEYS) throw new Error(`${folder} has more than ${MOST_KEYS} keys`)
  return files.sort().map((file) => readFileSync(folder + file, 'utf8'))
}
