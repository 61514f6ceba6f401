// Reads parts of a file at the address that staff set, through the guard of outgoing requests.
import { BEGINNING_BYTES, manifestAtBeginning } from '../../../agent/protocol/release/archive.ts'
import type { Manifest } from '../../../agent/protocol/release/manifest.ts'
import type { ReleaseKey } from '../../../agent/protocol/release/signature.ts'
import { downloadPolicy } from '../../fleet/nodes/addresses/platform.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { second } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { egressAcross, NoAnswer, type Policy, type RawResponse } from '../../kernel/net/egress.ts'

const TIMEOUT_MS = 30 * second
const MOST_REDIRECTS = 3

/** One request for the bytes from `from` on, at most `most`. Throws `NoAnswer`. */
export type Fetch = (url: URL, range: { from: number; most: number }, policy: Policy) => Promise<RawResponse>
export const throughGuard: Fetch = (url, { from, most }, policy) =>
  egressAcross(MOST_REDIRECTS, url, policy, {
    headers: { Accept: '*/*', Range: `bytes=${from}-${from + most - 1}` },
    mostBytes: most,
    timeoutMs: TIMEOUT_MS,
  })

type Context = { db: Db; app: Pick<AppContext, 'config' | 'panelLookUp' | 'updates'> }

/** The rules for the address of releases. Throws `validation_failed` and `source_unreachable`. */
export const policyFor = ({ db, app: { config, panelLookUp } }: Context, url: URL): Promise<Policy> =>
  downloadPolicy(db, config, url, { lookUp: panelLookUp, allowed: config.localSources })

/** Bytes of the file, and how many it has. Throws `source_unreachable`. */
export async function partOf(context: Context, url: URL, range: { from: number; most: number }) {
  const policy = await policyFor(context, url)
  const response = await context.app.updates.fetch(url, range, policy).catch((error) => {
    if (error instanceof NoAnswer) throw unreachable(error.message)
    throw error
  })
  const total = Number(/\/(\d+)$/.exec(response.headers['content-range'] ?? '')?.[1])
  if (response.status === 200) throw unreachable(`${url.host} does not send parts of files (Range).`)
  if (response.status !== 206 || !Number.isSafeInteger(total))
    throw unreachable(`${url.host} answers ${response.status} at this address.`)
  return { bytes: response.body, totalBytes: total }
}

/** The release that is at the address now, by its signed manifest. Throws `ReleaseRefused` and `source_unreachable`. */
export async function releaseAt(
  context: Context,
  url: URL,
  keys: readonly ReleaseKey[],
): Promise<{ manifest: Manifest; totalBytes: number }> {
  const { bytes, totalBytes } = await partOf(context, url, { from: 0, most: BEGINNING_BYTES })
  return { manifest: manifestAtBeginning(bytes, keys), totalBytes }
}

const unreachable = (words: string) => new ApiError('source_unreachable', words)
