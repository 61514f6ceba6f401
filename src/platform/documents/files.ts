// Macro (see public/assets.ts): reads the documents when the program is compiled.
import { readdirSync, readFileSync } from 'node:fs'
import { brotliCompressSync } from 'node:zlib'

/** The documents of docs/, compressed and in base64, by their names without the extension. */
export function documentFiles(): Record<string, string> {
  const folder = new URL('../../../docs/', import.meta.url).pathname
  const names = readdirSync(folder).filter((file) => file.endsWith('.md'))
  return Object.fromEntries(
    names.sort().map((file) => [file.slice(0, -3), brotliCompressSync(readFileSync(folder + file)).toString('base64')]),
  )
}
