// The journal of a removal: what is to be done, and how far each step is, on the disk before it happens.
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { RemovalScope, Removed } from '../../protocol/values/source-removal.ts'
import { privateFolder, textOf } from './files.ts'
import type { Step } from './plan.ts'

export type Failed = { code: 'removal_undone' | 'removal_half_restored'; message: string }
/**
 * `before`: the servers that ran, with their bridges. `begun`: steps that may have happened in part; their undo works
 * on "never happened" too.
 */
export type Journal = {
  removal: string
  scope: RemovalScope
  phase: 'removing' | 'removed' | 'restoring' | 'restored'
  folder: string
  before: { name: string; bridges: string[] }[]
  steps: (Step & { state: 'waiting' | 'begun' | 'done' | 'undone' })[]
  answer: Removed | null
  failure: string | null
}

export class Journals {
  constructor(private dir: string) {}

  private pathOf = (removal: string) => join(this.dir, `${removal}.json`)

  async read(removal: string): Promise<Journal | undefined> {
    const text = await textOf(this.pathOf(removal))
    return text === undefined ? undefined : (JSON.parse(text) as Journal)
  }

  /** Returns when it is on the disk. */
  async write(journal: Journal) {
    await privateFolder(this.dir)
    const path = this.pathOf(journal.removal)
    {
      await using file = await open(`${path}.new`, 'w', 0o600)
      await file.writeFile(JSON.stringify(journal))
      await file.sync()
    }
    await rename(`${path}.new`, path)
    await using dir = await open(this.dir, 'r')
    await dir.sync()
  }
}
