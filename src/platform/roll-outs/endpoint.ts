// The release as a node fetches it: the signed manifest, and the program as a patch or whole. A node gets something
// only while a roll-out updates it.
import { MOST_OFFER_BYTES, type ReleaseOffer } from '../../../agent/protocol/release/offer.ts'
import { agentPaths } from '../../../agent/protocol/wire.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { IncomingRequest } from '../../kernel/api/response.ts'
import type { Db } from '../../kernel/db/open.ts'
import { CONNECTS_WITHIN_SECONDS } from './follow.ts'
import { type RollOut, rollOutAtWorkOn } from './queries.ts'

type Parts = { db: Db; app: Pick<AppContext, 'agents' | 'releases'> }
type NodeRequest = { nodeId: string; rollOut: RollOut; url: URL }

const nothing = () => new Response(null, { status: 204 })
const notHere = () => new ApiError('not_found', 'There is no such file for this node now.')

/** Throws `node_not_known`, `challenge_expired`, `rate_limited`. */
function askedBy({ db, app }: Parts, request: IncomingRequest): NodeRequest | undefined {
  const { id: nodeId } = app.agents.releaseSigner(request)
  app.releases.noteAsked(nodeId)
  const rollOut = rollOutAtWorkOn(db, nodeId)
  return rollOut && { nodeId, rollOut, url: new URL(request.url) }
}

/** The release for the node that asks; 204: none for it now. */
export async function offerRelease(parts: Parts, request: IncomingRequest): Promise<Response> {
  const asked = askedBy(parts, request)
  if (!asked) return nothing()
  const { rollOut, url } = asked
  const { releases } = parts.app
  const release = releases.signed(rollOut.version)
  const program = release?.manifest.programs.find(({ platform }) => platform === url.searchParams.get('platform'))
  if (!release) return nothing()
  const from = url.searchParams.get('from') ?? ''
  const patch = program && isHash(from) ? await releases.patch(rollOut.version, program, from) : undefined
  const text = JSON.stringify({
    manifest: release.text,
    ...(release.signature && { signature: release.signature }),
    trialSeconds: rollOut.trialSeconds + CONNECTS_WITHIN_SECONDS,
    ...(patch && { patch: { sizeBytes: patch.sizeBytes } }),
  } satisfies ReleaseOffer)
  if (text.length > MOST_OFFER_BYTES) return nothing()
  return new Response(text, { headers: { 'Content-Type': 'application/json' } })
}

/** A program of the release, or a patch to it, from any byte on. Throws `not_found`. */
export async function sendRelease(parts: Parts, request: IncomingRequest): Promise<Response> {
  const asked = askedBy(parts, request)
  if (!asked) throw notHere()
  const what = asked.url.pathname.slice(agentPaths.release.length + 1)
  return what === 'patch' ? sendPatch(parts, request, asked) : sendProgram(parts, request, asked, what)
}

async function sendPatch({ app: { releases } }: Parts, request: Request, { nodeId, rollOut, url }: NodeRequest) {
  const to = url.searchParams.get('to')
  const from = url.searchParams.get('from') ?? ''
  const program = releases.signed(rollOut.version)?.manifest.programs.find(({ sha256 }) => sha256 === to)
  const patch = program && isHash(from) ? await releases.patch(rollOut.version, program, from) : undefined
  if (!patch) throw notHere()
  const at = startOf(request, patch.sizeBytes)
  const bytes = Bun.file(patch.path).slice(at).stream()
  return partFrom(
    at,
    patch.sizeBytes,
    releases.sending.paced(nodeId, bytes, () => {}),
  )
}

function sendProgram({ app: { releases } }: Parts, request: Request, { nodeId, rollOut }: NodeRequest, what: string) {
  const release = releases.open(rollOut.version)
  const program = release?.manifest.programs.find(({ file }) => what === `file/${file}`)
  if (!release || !program) {
    release?.close()
    throw notHere()
  }
  const sizeBytes = release.sizeOf(program.file)
  const at = startOf(request, sizeBytes)
  const bytes = releases.sending.paced(nodeId, release.read(program.file, at), release.close)
  return partFrom(at, sizeBytes, bytes)
}

const isHash = (text: string) => /^[0-9a-f]{64}$/.test(text)

/** The first byte that is asked for; 0 for all, and for a range of another kind. */
function startOf(request: Request, sizeBytes: number): number {
  const from = Number(/^bytes=(\d{1,12})-$/.exec(request.headers.get('Range') ?? '')?.[1] ?? 0)
  return from < sizeBytes ? from : 0
}

const partFrom = (at: number, sizeBytes: number, bytes: ReadableStream<Uint8Array>) =>
  new Response(bytes, {
    status: at > 0 ? 206 : 200,
    headers: {
      'Content-Type': 'application/octet-stream',
      ...(at > 0 && { 'Content-Range': `bytes ${at}-${sizeBytes - 1}/${sizeBytes}` }),
    },
  })
