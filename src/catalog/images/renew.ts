// The current build of an image: the controller asks its distribution again, by the clock, when somebody asks for it,
// and when a node meets another file than the one that was checked. The image keeps its id.
import type { ImageSource } from '../../../agent/protocol/wire.ts'
import { withRefused } from '../../fleet/nodes/addresses/platform.ts'
import { system } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { auditLine } from '../../kernel/audit/audit.ts'
import { changesOf } from '../../kernel/audit/changes.ts'
import type { GoodSignature } from '../../kernel/crypto/openpgp.ts'
import { hour } from '../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import type { ScheduleContext } from '../../kernel/feature.ts'
import { CommandFailed } from '../../kernel/jobs/failures.ts'
import type { Refused } from '../../kernel/jobs/saga.ts'
import { entryOf } from './distributions/catalogue.ts'
import type { Distributions } from './distributions/servers.ts'
import { type Image, sourceOf } from './model.ts'
import { type Build, inspected, publishedFile } from './published.ts'
import { imageById, imagesToCheck, newestSignature, noteCheck, takeBuild, takeSignature } from './queries.ts'

/** Distributions publish at most one build a day. */
export const CHECKED_EVERY_MS = 6 * hour

/** `build`: undefined when the image has the current one. `signature`: of the list that says so. */
type Current = { build: Build | undefined; signature: GoodSignature | null }

/** The current build of an image. Throws `source_unreachable` and `signature_refused`. */
export async function currentBuild(
  { db, distributions }: { db: Db; distributions: Distributions },
  { catalogueId, checksum, url }: Image,
): Promise<Current> {
  const entry = entryOf(catalogueId)
  if (!entry) throw new ApiError('source_unreachable', 'The catalogue no longer has this image, so nothing renews it.')
  const file = await publishedFile(distributions, entry, newestSignature(db, entry.id))
  const { signature } = file
  if (file.checksum === checksum && file.url === url) return { build: undefined, signature }
  try {
    return { build: await inspected(distributions, entry, file), signature }
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'validation_failed') throw error
    const why = (error.details as { fields: { message: string }[] }).fields.map(({ message }) => message).join(' ')
    throw new ApiError('source_unreachable', `The newest build of ${entry.name} ${why} The one before stays in use.`)
  }
}

/** The image with this build, unless a newer list was read meanwhile. */
export function take(tx: Tx, id: string, { build, signature }: Current, now: number): Image {
  noteCheck(tx, id, now, null)
  const row = imageById(tx, id)!
  if (signature && row.signedAt !== null && signature.signedAt < row.signedAt) return row
  if (build) return takeBuild(tx, row, build, now)
  return (signature?.signedAt ?? null) === row.signedAt ? row : takeSignature(tx, row, signature)
}

type Context = Pick<ScheduleContext, 'db'> & { app: Pick<AppContext, 'clock' | 'distributions'> }

/** Takes a new build without anybody's call. Throws what `currentBuild` does, after it has noted why. */
async function renew({ db, app }: Context, before: Image): Promise<Image> {
  try {
    const current = await currentBuild({ db, distributions: app.distributions }, before)
    return write(db, (tx) => {
      const after = take(tx, before.id, current, app.clock())
      if (after.checksum !== before.checksum) auditRenewal(tx, app, before, after)
      return after
    })
  } catch (error) {
    if (error instanceof ApiError) write(db, (tx) => noteCheck(tx, before.id, app.clock(), error))
    throw error
  }
}

const auditRenewal = (tx: Tx, app: Pick<AppContext, 'clock'>, before: Image, after: Image) =>
  auditLine(tx, app, {
    actor: system,
    operation: 'images.refresh',
    target: after.id,
    from: '',
    requestId: '',
    result: 'done',
    details: null,
    changes: changesOf(before, after),
  })

/** One after the other: nobody waits for them. */
export async function renewImages({ db, app }: Context) {
  for (const due of imagesToCheck(db, app.clock() - CHECKED_EVERY_MS))
    await renew({ db, app }, due).catch((error) => {
      if (!(error instanceof ApiError)) throw error
    })
}

/** The source that a node fetches now: the current build, also where the job began with an earlier one. */
export function sourceNow(db: Db, began: ImageSource): ImageSource {
  const found = imageById(db, began.id)
  return withRefused(db, found ? sourceOf(found) : began)
}

/**
 * A node met another file than the one that was checked. Resolves when a newer build is known, which the next try
 * takes. Throws `checksum_mismatch` in words when the file is wrong by the publisher's own list.
 */
export async function lookForBuild(
  { log }: { log(text: string): void },
  { sent, db, clock, services: { distributions } }: Refused,
) {
  const { id, checksum, url } = sent.input as ImageSource
  const before = imageById(db, id)
  if (!before || before.checksum !== checksum) return
  if (before.ownerId !== null)
    throw mismatch(`The file at ${hostOf(url)} is no longer the one that was added. Add it again.`)
  if (before.catalogueId === null)
    throw mismatch(`The controller's file of ${before.name} is damaged. Import it again.`)
  log(`The file of ${before.name} has changed. Looking for its current build.`)
  const after = await renew({ db, app: { clock, distributions } }, before).catch((error) => {
    if (!(error instanceof ApiError)) throw error
    throw mismatch(`${before.name} has changed, and its current build is not known: ${error.message}`)
  })
  if (after.checksum === checksum)
    throw mismatch(
      `${hostOf(url)} sent a file of ${before.name} that does not have the checksum in the list of its distribution. ` +
        'It may be publishing a new build at this moment: try again in an hour.',
    )
  log(`${before.name} has a new build, which is used from now on.`)
}

const mismatch = (words: string) => new CommandFailed('checksum_mismatch', words)
const hostOf = (url: string) => URL.parse(url)?.host ?? 'the controller'
