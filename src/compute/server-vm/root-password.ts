import { encryptFor } from '../../../agent/protocol/for-node.ts'
import { type OsFamily, purposeOf } from '../../../agent/protocol/wire.ts'
import { nodeById } from '../../fleet/node-records/queries.ts'
import type { Db } from '../../kernel/db/open.ts'

/** `tell` is what the person is shown this one time; `hash` is all that is kept. */
export type RootPassword = { tell: string; hash: string } | undefined

/** The form in which a job carries a password to its guest: a hash, or encrypted for the node. */
export const passwordOn = (
  tx: Db,
  os: OsFamily,
  { id, nodeId }: { id: string; nodeId: string },
  { tell, hash }: NonNullable<RootPassword>,
): string => (os === 'windows' ? encryptFor(nodeById(tx, nodeId)!.publicKey, purposeOf(id), tell) : hash)
