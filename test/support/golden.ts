import { expect } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/**
 * Holds `text` against the file. GOLDEN=write writes it instead, so that a change shows as a diff to be read.
 */
export function golden(path: string, text: string) {
  const file = new URL(`../../${path}`, import.meta.url).pathname
  if (process.env['GOLDEN'] === 'write') writeFileSync(file, text)
  if (!existsSync(file)) throw new Error(`${path} is missing; write it with GOLDEN=write and read what it says`)
  expect(text).toBe(readFileSync(file, 'utf8'))
}
