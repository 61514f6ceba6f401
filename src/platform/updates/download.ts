// Downloads a release into the folder, part by part, so that it goes on after a restart. Nothing uses the file before
// it was verified as a whole, and what cannot be used is removed.
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { ReleaseRefused } from '../../../agent/protocol/release/manifest.ts'
import { verifiedRelease } from '../../../agent/protocol/release/verify.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { second } from '../../kernel/db/clock.ts'
import { write } from '../../kernel/db/open.ts'
import type { ScheduleContext } from '../../kernel/feature.ts'
import { log } from '../../kernel/log.ts'
import { partOf } from './fetch.ts'
import { type Download, downloadOf, endDownload, keepDownload } from './queries.ts'
import type { Updates } from './service.ts'

const PART_BYTES = 4 << 20
const TRIES = 3
const PAUSE_MS = 2 * second
/** More than a release has. */
export const MOST_RELEASE_BYTES = 1 << 30

type Context = Pick<ScheduleContext, 'db' | 'app'>

const partPath = ({ folder }: Updates, { version }: Download) => `${folder.path}/berth-${version}.release.part`

/** So much of it is there. */
export const downloadedBytes = (updates: Updates, download: Download): number =>
  statSync(partPath(updates, download), { throwIfNoEntry: false })?.size ?? 0

/** Makes the download that somebody asked for, together with one at work. */
export function downloadDue(context: Context): Promise<void> {
  const { updates } = context.app
  const download = downloadOf(context.db)
  if (download?.error !== null) return updates.downloading ?? Promise.resolve()
  updates.downloading ??= run(context, download).finally(() => (updates.downloading = undefined))
  return updates.downloading
}

async function run(context: Context, download: Download) {
  const { db, app } = context
  const path = partPath(app.updates, download)
  try {
    await fetchAll(context, download, path)
    const { version } = await verifiedRelease(path, app.updates.folder.keys)
    if (version !== download.version) throw new ReleaseRefused('release_invalid', `It is ${version} now. Look again.`)
    if (isWanted(context, download)) renameSync(path, path.slice(0, -'.part'.length))
    write(db, (tx) => (isWanted(context, download) ? endDownload(tx) : undefined))
  } catch (error) {
    rmSync(path, { force: true })
    const words = inWords(error, app.updates.folder.path)
    log.warning('the download of a release failed', { version: download.version, error: words })
    if (isWanted(context, download)) write(db, (tx) => keepDownload(tx, { ...download, error: words }))
  }
  rmSync(path, { force: true })
}

/** Another address was set, or it was turned off. */
const isWanted = ({ db }: Context, { url, version }: Download): boolean => {
  const now = downloadOf(db)
  return now?.url === url && now.version === version && now.error === null
}

async function fetchAll(context: Context, download: Download, path: string) {
  const { totalBytes, url } = download
  if (totalBytes > MOST_RELEASE_BYTES) throw new ReleaseRefused('release_invalid', 'It is too large for a release.')
  context.app.updates.folder.make()
  const file = openSync(path, 'a', 0o640)
  try {
    for (let at = downloadedBytes(context.app.updates, download); at < totalBytes && isWanted(context, download); ) {
      const part = await tried(() => partOf(context, new URL(url), { from: at, most: PART_BYTES }))
      if (part.totalBytes !== totalBytes || part.bytes.length === 0)
        throw new ReleaseRefused('release_invalid', 'The file at the address was replaced meanwhile. Look again.')
      for (let done = 0; done < part.bytes.length; ) done += writeSync(file, part.bytes, done)
      at += part.bytes.length
    }
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

async function tried<T>(work: () => Promise<T>): Promise<T> {
  for (let left = TRIES; ; left--)
    try {
      return await work()
    } catch (error) {
      if (left <= 1 || !(error instanceof ApiError) || error.code !== 'source_unreachable') throw error
      await Bun.sleep(PAUSE_MS)
    }
}

function inWords(error: unknown, folder: string): string {
  if (error instanceof ReleaseRefused || error instanceof ApiError) return error.message
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
    return `The disk of ${folder} is full. Make room, then try again.`
  return `The file cannot be written below ${folder}. The journal says why.`
}
