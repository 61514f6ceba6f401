// A release at an address, fetched by root. The signature decides what it is worth; what the server sends is limited in
// bytes and in time, and a download that broke off goes on where it was, also in the next call.
import { closeSync, fsyncSync, openSync, readSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { BEGINNING_BYTES, manifestAtBeginning } from '../../../agent/protocol/release/archive.ts'
import { ReleaseRefused } from '../../../agent/protocol/release/manifest.ts'
import type { ReleaseKey } from '../../../agent/protocol/release/signature.ts'
import { bytes as inWords } from '../../../src/kernel/words.ts'
import { writeDurably } from '../../machine/durable.ts'
import { type Machine, makeDirectory, textOf } from '../../machine/machine.ts'
import { UpgradeRefused } from '../prepare.ts'
import { folderOf } from '../store.ts'

export const downloadLimits = {
  /** Programs for some platforms. */
  mostBytes: 1 << 30,
  answerMs: 30_000,
  /** Within each such time at least so many bytes must come. */
  windowMs: 60_000,
  leastBytes: 64 << 10,
  /** Downloads that break off, and the pause after the first; the later ones are longer. */
  tries: 5,
  pauseMs: 2000,
}
type Limits = typeof downloadLimits

/** The part of a file that is there: its address, and the tag by which the server knows the file again. */
type Partly = { url: string; tag: string; totalBytes: number }
type Files = { part: string; about: string }

const filesOf = ({ paths }: Machine): Files => {
  const folder = folderOf(paths, 'berth')
  return { part: `${folder}/fetched`, about: `${folder}/fetched.json` }
}
/** Nothing of a download stays. */
export const forgetDownload = (machine: Machine) => {
  for (const file of Object.values(filesOf(machine))) rmSync(file, { force: true })
}

/** Answers the path of the file. Throws `UpgradeRefused`, and `ReleaseRefused` where its signature does not count. */
export async function downloaded(
  machine: Machine,
  address: string,
  keys: readonly ReleaseKey[],
  limits: Limits = downloadLimits,
): Promise<string> {
  const url = addressFrom(address)
  const files = filesOf(machine)
  makeDirectory(folderOf(machine.paths, 'berth'))
  for (let tries = 1; ; tries++)
    try {
      await fetchOnce(machine, url, files, keys, limits)
      return files.part
    } catch (error) {
      const isFinal = error instanceof UpgradeRefused || error instanceof ReleaseRefused
      if (isFinal) forgetDownload(machine)
      if (isFinal || (error as NodeJS.ErrnoException).code === 'ENOSPC') throw error
      if (tries >= limits.tries) throw new UpgradeRefused('download_failed', `${url.host}: ${wordsOf(error)}.`)
      await Bun.sleep(limits.pauseMs * tries)
    }
}

/** Bun names an address in the words of an error; the code says more. */
const wordsOf = (error: unknown) => {
  const { code, message } = error as { code?: unknown; message: string }
  return typeof code === 'string' && code !== 'ERR_STREAM' ? `${message.replace(/\.$/, '')} (${code})` : message
}

function addressFrom(address: string): URL {
  const url = URL.parse(address)
  if (url?.protocol !== 'https:')
    throw new UpgradeRefused('download_refused', 'The address of a release begins with https://.')
  if (url.username || url.password)
    throw new UpgradeRefused('download_refused', 'The address of a release has no name or password in it.')
  return url
}

async function fetchOnce(machine: Machine, url: URL, files: Files, keys: readonly ReleaseKey[], limits: Limits) {
  const before = partlyThere(files, url)
  const there = before ? sizeOf(files.part) : 0
  const watch = watching(limits)
  try {
    const response = await fetch(url, {
      headers: { 'Accept-Encoding': 'identity', ...headersFor(before, there) },
      redirect: 'manual',
      signal: watch.signal,
      tls: { ca: textOf(machine.paths.authorities) },
    } as RequestInit)
    if (response.status === 304 && before?.totalBytes === there) return
    const goesOn = response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${there}-`)
    mustBeFile(url, response, goesOn === true)
    const total = totalOf(response, goesOn ? there : 0)
    mustFit(machine, url, total, goesOn ? there : 0, limits)
    const tag = response.headers.get('etag') ?? ''
    if (!goesOn) {
      rmSync(files.part, { force: true })
      const isStrong = tag.startsWith('"') && total !== undefined
      if (isStrong)
        writeDurably(files.about, JSON.stringify({ url: url.href, tag, totalBytes: total } satisfies Partly))
      else rmSync(files.about, { force: true })
    }
    const most = total ?? limits.mostBytes
    const bytes = await store(response, files.part, { most, keys, heard: watch.heard })
    if (total !== undefined && bytes < total) throw new Error(`it broke off after ${inWords(bytes)}`)
  } catch (error) {
    throw watch.isTooSlow() ? new Error('it does not answer, or sends too slowly') : error
  } finally {
    watch.end()
  }
}

/** A part of another file, or one that may have changed meanwhile, is of no use. */
function partlyThere({ part, about }: Files, url: URL): Partly | undefined {
  try {
    const found = JSON.parse(textOf(about) ?? '') as Partly
    const there = sizeOf(part)
    return found.url === url.href && there > 0 && there <= found.totalBytes ? found : undefined
  } catch {
    return undefined
  }
}
const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

function headersFor(before: Partly | undefined, there: number): Record<string, string> {
  if (!before) return {}
  if (there === before.totalBytes) return { 'If-None-Match': before.tag }
  return { Range: `bytes=${there}-`, 'If-Range': before.tag }
}

function mustBeFile(url: URL, { status, headers }: Response, goesOn: boolean) {
  if (status === 200 || goesOn) return
  if (status >= 300 && status < 400 && headers.has('location'))
    throw new UpgradeRefused(
      'download_refused',
      `${url.host} leads to ${headers.get('location')?.slice(0, 300)}. If you trust it, give that address.`,
    )
  const words = `${url.host} answers ${status} at this address.`
  if (status < 500 && status !== 408 && status !== 416 && status !== 429)
    throw new UpgradeRefused('download_failed', words)
  throw new Error(words.slice(0, -1))
}

/** The bytes of the whole file; undefined where the server does not say. */
function totalOf({ headers }: Response, there: number): number | undefined {
  const ranged = /\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1]
  const length = ranged ?? headers.get('content-length')
  if (length === null) return undefined
  return ranged === undefined ? there + Number(length) : Number(length)
}

function mustFit({ paths }: Machine, { host }: URL, total: number | undefined, there: number, { mostBytes }: Limits) {
  if (total === undefined) return
  if (total > mostBytes)
    throw new UpgradeRefused(
      'download_refused',
      `${host} has ${inWords(total)} there, which is too large for a release.`,
    )
  const folder = folderOf(paths, 'berth')
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize < total - there)
    throw new UpgradeRefused(
      'not_enough_space',
      `${folder} has ${inWords(bavail * bsize)} free, and the release needs ${inWords(total - there)} more there.`,
    )
}

type Storing = { most: number; keys: readonly ReleaseKey[]; heard(bytes: number): void }
/** Adds the body to the part. Its signature is looked at as soon as it is there. Answers the bytes of the whole. */
async function store({ body }: Response, part: string, { most, keys, heard }: Storing): Promise<number> {
  const file = openSync(part, 'a+', 0o600)
  try {
    let bytes = sizeOf(part)
    let isKnown = bytes >= BEGINNING_BYTES
    for await (const chunk of body ?? []) {
      if (bytes + chunk.length > most)
        throw new UpgradeRefused('download_refused', 'The server sends more than it said, or than a release has.')
      for (let done = 0; done < chunk.length; ) done += writeSync(file, chunk, done)
      bytes += chunk.length
      heard(chunk.length)
      if (!isKnown && bytes >= BEGINNING_BYTES) {
        const beginning = Buffer.alloc(BEGINNING_BYTES)
        readSync(file, beginning, 0, BEGINNING_BYTES, 0)
        manifestAtBeginning(beginning, keys)
        isKnown = true
      }
    }
    fsyncSync(file)
    return bytes
  } finally {
    closeSync(file)
  }
}

/** Ends a download that does not begin in time, or in which fewer bytes come than the limits say. */
function watching({ answerMs, windowMs, leastBytes }: Limits) {
  const controller = new AbortController()
  let [bytes, hasBegun, tooSlow] = [0, false, false]
  const stop = () => {
    tooSlow = true
    controller.abort()
  }
  const start = setTimeout(() => hasBegun || stop(), answerMs)
  const timer = setInterval(() => {
    if (bytes < leastBytes) stop()
    bytes = 0
  }, windowMs)
  return {
    signal: controller.signal,
    heard(length: number) {
      hasBegun = true
      bytes += length
    },
    isTooSlow: () => tooSlow,
    end() {
      clearTimeout(start)
      clearInterval(timer)
      controller.abort()
    },
  }
}
