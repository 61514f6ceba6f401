// Which drives of a server are its disks, as the other panel tells. Asked only for a server with more than one: it is a
// request each.
import { disksOf, type SourceServer } from '../../../agent/protocol/values/source-hosts.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { readerFor } from '../discovery/discoveries.ts'
import type { ImportRecord } from '../import-records/queries.ts'
import { isSourceFailure } from '../sources/failure.ts'
import type { SourceReader } from '../sources/source.ts'

export class PanelDisks {
  private reader: SourceReader | undefined

  constructor(
    private app: AppContext,
    private target: ImportRecord,
    private signal: AbortSignal,
  ) {}

  /** Undefined: there is nothing to ask, or the panel does not tell. */
  async pathsOf(sourceId: string, answer: SourceServer | undefined): Promise<string[] | undefined> {
    if (!answer?.definition || disksOf(answer.definition).length < 2) return undefined
    if (this.target.encryptedCredentials === null) return undefined
    try {
      this.reader ??= readerFor(this.app, this.target, { signal: this.signal })
      const disks = await this.reader.disks(sourceId)
      const paths = disks?.flatMap(({ path }) => (path === null ? [] : [path])) ?? []
      return paths.length ? paths.slice(0, 16) : undefined
    } catch (error) {
      // Without the panel's word the drives count as the node has found them.
      if (isSourceFailure(error)) return undefined
      throw error
    }
  }
}
