import { Failure } from '../../failure.ts'
import type { Migration } from './transfer.ts'

const refuse = async () => {
  throw new Failure('tool_missing', 'this agent moves no running vm to or from other nodes')
}

/** A host that moves no running vm. */
export const noMigration: Migration = {
  migrate: refuse,
  resume: async () => ({ resumedAt: null }),
  find: refuse,
  expect: async () => {},
  forget: async () => {},
}
