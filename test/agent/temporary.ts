import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []
afterAll(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true })
})

/** A temporary directory, deleted when the test file ends. */
export function temporary(name: string): string {
  const dir = mkdtempSync(join(tmpdir(), `berth-test-${name}-`))
  made.push(dir)
  return dir
}
