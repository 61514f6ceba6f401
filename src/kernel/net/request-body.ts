// Reads the body of a request: JSON in UTF-8 or the fields of a form, and never more of it than the operation may need.
import { ApiError } from '../api/errors.ts'
import type { Operation } from '../api/operation.ts'
import type { IncomingRequest } from '../api/response.ts'
import { log, plainPath } from '../log.ts'
import { excessOf } from '../modest-json.ts'

/** 1 MB. */
const MOST_BODY_BYTES = 1_000_000
/** The limit without credentials: the longest such body, a passkey, is less than a quarter of it. */
const MOST_BODY_BYTES_OF_ANYONE = 16_000

/** Throws `unsupported_media_type` for a compressed body: nothing here decompresses one. */
export function mustBeUnencoded({ headers }: Request) {
  const encoding = headers.get('Content-Encoding')?.trim().toLowerCase()
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity')
    throw new ApiError('unsupported_media_type', 'Send the body as it is, without Content-Encoding.')
}

/**
 * The body of a call of this operation, parsed; `{}` for an empty one, undefined where the operation takes none. Throws
 * `unsupported_media_type`, `too_large`, `invalid_json`, and `invalid_request` for one that broke off.
 */
export async function bodyOf(request: IncomingRequest, op: Operation): Promise<unknown> {
  mustBeUnencoded(request)
  const type = request.headers.get('Content-Type')
  const length = request.headers.get('Content-Length')
  const empty = request.body === null || length === '0'
  if (!(empty && type === null) && !JSON_TYPE.test(type ?? ''))
    throw new ApiError('unsupported_media_type', 'Send the body as application/json.')
  if (empty) return op.body ? {} : undefined
  const most = op.access === 'anyone' ? MOST_BODY_BYTES_OF_ANYONE : (op.mostBytes ?? MOST_BODY_BYTES)
  if (Number(length) > most) throw tooLarge(most)
  const text = await textOf(request, most)
  if (text.startsWith('\ufeff'))
    throw new ApiError(
      'invalid_json',
      'The body begins with a byte order mark. Send one JSON object in UTF-8, without it.',
    )
  if (text.trim() === '') return op.body ? {} : undefined
  mustBeModest(text, op.mostValues ?? MOST_VALUES)
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiError('invalid_json', 'The body is not JSON. Send one JSON object in UTF-8.')
  }
}

/**
 * The fields of a form as browsers send them by themselves. Throws `unsupported_media_type`, `too_large`, and
 * `invalid_request` for a body that broke off or has a field twice.
 */
export async function formOf(request: IncomingRequest): Promise<Record<string, string>> {
  mustBeUnencoded(request)
  if (!FORM_TYPE.test(request.headers.get('Content-Type') ?? ''))
    throw new ApiError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.')
  if (Number(request.headers.get('Content-Length')) > MOST_BODY_BYTES_OF_ANYONE)
    throw tooLarge(MOST_BODY_BYTES_OF_ANYONE)
  const form: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(await textOf(request, MOST_BODY_BYTES_OF_ANYONE))) {
    if (name in form) throw new ApiError('invalid_request', 'The form has a field twice. Go back and send it again.')
    form[name] = value
  }
  return form
}

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;\s*charset="?utf-?8"?\s*)?$/i

/** The parameter may be quoted (RFC 9110, 5.6.6); many programs write utf8. */
const JSON_TYPE = /^application\/json\s*(;\s*(charset=("utf-?8"|utf-?8)\s*)?)?$/i

/** Twice the depth of any body of the API. A megabyte of `[` would block the event loop in JSON.parse for a second. */
const MOST_NESTED = 32
/**
 * Ten times the values of any body of the API. A megabyte of small values would block the event loop for a third of a
 * second.
 */
export const MOST_VALUES = 5000

/** Runs before JSON.parse, which is the expensive part. Throws `invalid_json` and `too_large`. */
function mustBeModest(text: string, mostValues: number) {
  const excess = excessOf(text, MOST_NESTED, mostValues)
  if (excess === 'depth')
    throw new ApiError('invalid_json', 'The body is nested too deeply. Send one JSON object in UTF-8.')
  if (excess === 'values')
    throw new ApiError('too_large', `The body is too large: it may have ${mostValues} values at most.`)
}

const tooLarge = (most: number) =>
  new ApiError(
    'too_large',
    `The body is too large: ${most < MOST_BODY_BYTES ? `${most / 1000} kB` : `${most / 1_000_000} MB`} is the most.`,
  )

/** A byte order mark is not taken away: it stays in the text, and JSON begins with none (RFC 8259, 8.1). */
const utf8 = { fatal: true, ignoreBOM: true } as const
/** Counts while it reads: a chunked body does not say its length. */
export async function textOf(request: IncomingRequest, mostBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.length
      if (bytes > mostBytes) throw tooLarge(mostBytes)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof ApiError) throw error
    // The caller hung up, and nobody gets the answer. That is no error of ours.
    log.info('an upload was aborted', { requestId: request.info.requestId, path: plainPath(request.url), bytes })
    throw new ApiError('invalid_request', 'The body broke off before its end. Send it again.')
  }
  try {
    return new TextDecoder('utf-8', utf8).decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
  } catch {
    throw new ApiError('invalid_json', 'The body is not UTF-8. Send one JSON object in UTF-8.')
  }
}
