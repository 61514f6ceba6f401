// The refusal of a change that needs space in the pool of a disk.
import { ApiError } from '../../kernel/api/errors.ts'
import type { Db } from '../../kernel/db/open.ts'
import { poolSpaceOf } from './queries.ts'

/** A server or volume whose disk is in the pool; `name` is its name for people. */
type OnPool = { nodeId: string; pool: string; name: string }

/** Throws `no_capacity`, in the words of `lacks` or because the storage does not answer. */
export function mustHaveSpace(tx: Db, { name, ...at }: OnPool, gb: number, lacks: string) {
  const space = poolSpaceOf(tx, at)
  if (space?.isSilent) throw silent(name)
  if ((space?.freeDiskGb ?? 0) < gb) throw new ApiError('no_capacity', lacks)
}

/** Throws `no_capacity` while the pool does not answer: what was begun there would wait for it. */
export const mustAnswer = (tx: Db, disk: OnPool) => mustHaveSpace(tx, disk, 0, '')

/** The refusal where storage does not answer. `name`: whose storage, for people. */
export const silent = (name: string) =>
  new ApiError(
    'no_capacity',
    `The storage of ${name} does not answer now. Nothing was changed; try again in a few minutes, or ask your ` +
      'provider.',
  )
