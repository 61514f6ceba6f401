import { Failure } from '../../failure.ts'
import type { SourceCopied, SourceCopies } from './source-servers.ts'
import type { SshSourceServers } from './ssh-source-servers.ts'

export class SshSourceCopies implements SourceCopies {
  constructor(
    protected servers: SshSourceServers,
    protected dir: string,
  ) {}

  async copy(): Promise<SourceCopied> {
    throw new Failure('source_invalid', 'this node cannot copy from a source yet')
  }
  limit() {}
  async discard() {}
}
