import { Failure } from '../../failure.ts'
import type { Migration, Transfers } from './transfer.ts'

const refuse = async () => {
  throw new Failure('tool_missing', 'this agent moves nothing to or from other nodes')
}

/** A host that moves nothing. */
export const noTransfers: Transfers = {
  key: refuse,
  receive: refuse,
  copy: refuse,
  mirror: refuse,
  checksum: refuse,
  end: async () => {},
}
export const noMigration: Migration = { migrate: refuse, resume: refuse, find: refuse }
