// Files of a release from the controller, which is not trusted: it may send too much, too little, too slowly or
// something else. A download that breaks off goes on where it was.
import { open, rm, stat } from 'node:fs/promises'
import { Refused } from '../controller-link/controller.ts'
import { Failure, wordsOf } from '../failure.ts'
import { ReleaseRefused } from '../protocol/release/manifest.ts'
import { sleep } from '../sleep.ts'

/** A signed request to the controller, at a path behind `agentPaths.release`. */
export type Ask = (path: string, init: { signal: AbortSignal; headers?: Record<string, string> }) => Promise<Response>

export type FetchLimits = {
  /** Within each such time at least so many bytes must come; the controller limits the rate of many nodes. */
  windowMs: number
  leastBytes: number
  /** Downloads of one file that break off, and the pause after the first; the later ones are longer. */
  tries: number
  pauseMs: number
  /** For all of them together. */
  wholeMs: number
}
export const fetchLimits: FetchLimits = {
  windowMs: 60_000,
  leastBytes: 256 << 10,
  tries: 6,
  pauseMs: 2000,
  wholeMs: 4 * 3_600_000,
}

/**
 * Fetches a file of at most `mostBytes` to `to`, and goes on with what is there. Throws `release_not_fetched`, and
 * `ReleaseRefused` for a longer one; then nothing is left at `to`.
 */
export async function fetchFile(ask: Ask, path: string, to: string, mostBytes: number, limits = fetchLimits) {
  const until = performance.now() + limits.wholeMs
  try {
    for (let tries = 1; ; tries++)
      try {
        return await fetchOnce(ask, path, to, mostBytes, limits)
      } catch (error) {
        if (error instanceof ReleaseRefused || isFinal(error) || tries >= limits.tries || performance.now() > until)
          throw error
        await sleep(limits.pauseMs * tries, AbortSignal.timeout(limits.wholeMs))
      }
  } catch (error) {
    await rm(to, { force: true })
    if (error instanceof ReleaseRefused) throw error
    throw new Failure('release_not_fetched', `the release could not be fetched from the controller: ${wordsOf(error)}`)
  }
}

/** A refusal that another try does not change. */
const isFinal = (error: unknown) => error instanceof Refused && error.status < 500 && ![416, 429].includes(error.status)

async function fetchOnce(ask: Ask, path: string, to: string, mostBytes: number, limits: FetchLimits) {
  const there = await stat(to).then(
    ({ size }) => size,
    () => 0,
  )
  const watch = watching(limits)
  try {
    const headers: Record<string, string> = there ? { Range: `bytes=${there}-` } : {}
    const response = await ask(path, { signal: watch.signal, headers })
    const goesOn = response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${there}-`)
    if (!goesOn && response.status !== 200) throw new Error(`the controller answered ${response.status}`)
    const file = await open(to, goesOn ? 'a' : 'w', 0o600)
    try {
      let bytes = goesOn ? there : 0
      for await (const chunk of response.body ?? []) {
        bytes += chunk.length
        if (bytes > mostBytes) throw tooLong()
        watch.heard(chunk.length)
        await file.writeFile(chunk)
      }
      await file.sync()
    } finally {
      await file.close()
    }
  } catch (error) {
    // Its whole length was there: it has changed meanwhile, or the controller says so.
    if (error instanceof Refused && error.status === 416) await rm(to, { force: true })
    throw watch.isTooSlow() ? new Error('it comes too slowly') : error
  } finally {
    watch.end()
  }
}

const tooLong = () => new ReleaseRefused('release_checksum_differs', 'The controller sends more than the program has.')

/** Aborts a download in which fewer bytes come than the limits say. */
function watching({ windowMs, leastBytes }: FetchLimits) {
  const controller = new AbortController()
  let [bytes, tooSlow] = [0, false]
  const timer = setInterval(() => {
    tooSlow ||= bytes < leastBytes
    bytes = 0
    if (tooSlow) controller.abort()
  }, windowMs)
  return {
    signal: controller.signal,
    heard: (length: number) => {
      bytes += length
    },
    isTooSlow: () => tooSlow,
    /** A body that was not read to its end would keep its connection. */
    end: () => {
      clearInterval(timer)
      controller.abort()
    },
  }
}
