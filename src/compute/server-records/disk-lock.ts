// A backup reads the disk of a server for hours. Meanwhile the server is started, stopped and suspended as usual; only
// jobs that change the disk as a whole, or the layers it consists of, cannot begin.
import { ApiError } from '../../kernel/api/errors.ts'
import type { Db } from '../../kernel/db/open.ts'
import { isHeldByJob } from '../../kernel/jobs/queries.ts'
import { type Server, serverJob } from './model.ts'

/** The lock of a job that reads the disk of the server of this id. */
export const readingLockOf = (id: string) => `${id} disk`

/** As `serverJob`, for a job that cannot begin while the disk is read. */
export const diskJob: typeof serverJob = (target, about) => ({
  ...serverJob(target, about),
  alone: [readingLockOf(target.id)],
})

/** As `serverJob`, for a job that reads the disk: it begins while nothing else works on the server. */
export const readingJob: typeof serverJob = (target, about) => ({
  ...serverJob(target, about),
  holds: readingLockOf(target.id),
  alone: [target.id],
})

/** Throws `server_busy` while the disk is read. */
export function mustHaveUnreadDisk(tx: Db, { id, hostname }: Pick<Server, 'id' | 'hostname'>) {
  if (isHeldByJob(tx, readingLockOf(id)))
    throw new ApiError('server_busy', `A backup of ${hostname} is being made. Wait until it is done, or cancel it.`)
}
