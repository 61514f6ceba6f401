import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closedAtEnd } from '../support/opened.ts'

/** A temporary directory, deleted when the test file ends. */
export function temporary(name: string): string {
  const dir = mkdtempSync(join(tmpdir(), `berth-test-${name}-`))
  closedAtEnd(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}
