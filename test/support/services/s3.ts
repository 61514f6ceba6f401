// A server of S3 with one bucket in memory, for Berth's own store and for restic, which is minio-go. It checks each
// signature (Amazon, "Signature Version 4", header based and in chunks) and lists few names at once.
import { createHash, createHmac } from 'node:crypto'

export const S3_ACCESS = 'access'
export const S3_SECRET = 'secret'
const STREAMING = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'

type Options = {
  /** Names in one answer of a list. */
  atOnce?: number
  /** The bucket is there from the beginning. */
  bucket?: boolean
}

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)

export function s3Server({ atOnce = 2, bucket = true }: Options = {}) {
  const objects = new Map<string, { body: Buffer; at: Date }>()
  let isThere = bucket
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const url = new URL(request.url)
      const raw = Buffer.from(await request.arrayBuffer())
      const body = checked(request, url, raw)
      if (!body) return failure(403, 'SignatureDoesNotMatch')
      const [, name, ...rest] = url.pathname.split('/')
      const key = rest.map(decodeURIComponent).join('/')
      if (name !== 'bucket' || !isThere) return failure(404, 'NoSuchBucket')
      if (key) return objectAnswer(request, key, body)
      if (url.searchParams.has('location')) return xml('<LocationConstraint/>')
      return request.method === 'GET' ? list(url.searchParams) : new Response('')
    },
  })

  function objectAnswer(request: Request, key: string, body: Buffer): Response {
    if (request.method === 'PUT') {
      objects.set(key, { body, at: new Date() })
      return new Response('', { headers: { ETag: tagOf(body) } })
    }
    if (request.method === 'DELETE') {
      objects.delete(key)
      return new Response(null, { status: 204 })
    }
    const found = objects.get(key)
    if (!found) return failure(404, 'NoSuchKey')
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.get('range') ?? '') ?? []
    const end = to ? Number(to) + 1 : found.body.length
    const part = from === undefined ? found.body : found.body.subarray(Number(from), end)
    return new Response(new Uint8Array(part), {
      status: from === undefined ? 200 : 206,
      headers: { ETag: tagOf(found.body), 'Last-Modified': found.at.toUTCString(), 'Accept-Ranges': 'bytes' },
    })
  }

  function list(asked: URLSearchParams): Response {
    const [prefix, delimiter] = [asked.get('prefix') ?? '', asked.get('delimiter') ?? '']
    const after = asked.get('continuation-token') ?? ''
    const folderOf = (name: string) => {
      const at = delimiter ? name.indexOf(delimiter, prefix.length) : -1
      return at < 0 ? undefined : name.slice(0, at + 1)
    }
    const names = [...objects.keys()].filter((name) => name.startsWith(prefix)).toSorted()
    const all = [...new Set(names.map((name) => folderOf(name) ?? name))].filter((name) => name > after)
    const shown = all.slice(0, atOnce).map((name) => {
      const found = objects.get(name)
      return found
        ? `<Contents><Key>${name}</Key><LastModified>${found.at.toISOString()}</LastModified>` +
            `<ETag>${tagOf(found.body)}</ETag><Size>${found.body.length}</Size></Contents>`
        : `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`
    })
    const isCut = all.length > atOnce
    const more = isCut ? `<NextContinuationToken>${all[atOnce - 1]}</NextContinuationToken>` : ''
    return xml(`<ListBucketResult>${shown.join('')}<IsTruncated>${isCut}</IsTruncated>${more}</ListBucketResult>`)
  }

  return {
    url: `http://127.0.0.1:${server.port}`,
    objects,
    removeBucket() {
      isThere = false
      objects.clear()
    },
    stop: () => server.stop(true),
  }
}

const tagOf = (body: Buffer) => `"${createHash('md5').update(body).digest('hex')}"`
const xml = (text: string, status = 200) =>
  new Response(`<?xml version="1.0" encoding="UTF-8"?>${text}`, {
    status,
    headers: { 'Content-Type': 'application/xml' },
  })
/** Amazon's words. */
const messages = {
  SignatureDoesNotMatch: 'The request signature we calculated does not match the signature you provided.',
  NoSuchBucket: 'The specified bucket does not exist',
  NoSuchKey: 'The specified key does not exist.',
}
const failure = (status: number, code: keyof typeof messages) =>
  xml(`<Error><Code>${code}</Code><Message>${messages[code]}</Message></Error>`, status)

/** The body of a request whose signature is right. */
function checked({ method, headers }: Request, url: URL, raw: Buffer): Buffer | undefined {
  const given =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.get('authorization') ?? '',
    )
  const digest = headers.get('x-amz-content-sha256') ?? ''
  if (given?.[1] !== S3_ACCESS) return undefined
  const [, , scope, names, signature] = given as unknown as [string, string, string, string, string]
  const query = [...url.searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join('&')
  const lines = names.split(';').map((name) => `${name}:${(headers.get(name) ?? '').trim()}\n`)
  const canonical = [method, url.pathname, query, lines.join(''), names, digest].join('\n')
  const at = headers.get('x-amz-date') ?? ''
  const [day, region, service] = scope.split('/')
  const key = hmac(hmac(hmac(hmac(`AWS4${S3_SECRET}`, day!), region!), service!), 'aws4_request')
  const wanted = hmac(key, ['AWS4-HMAC-SHA256', at, scope, sha256(canonical)].join('\n')).toString('hex')
  if (signature !== wanted) return undefined
  if (digest === STREAMING) return fromChunks(raw, { key, at, scope, before: signature })
  return digest === 'UNSIGNED-PAYLOAD' || digest === sha256(raw) ? raw : undefined
}

/** Each chunk is signed together with the signature before it. */
function fromChunks(
  raw: Buffer,
  { key, at, scope, before }: { key: Buffer; at: string; scope: string; before: string },
) {
  const parts: Buffer[] = []
  for (let from = 0, last = before; ; ) {
    const end = raw.indexOf('\r\n', from)
    const [, length, signature] =
      /^([0-9a-f]+);chunk-signature=([0-9a-f]{64})$/.exec(raw.toString('latin1', from, Math.max(from, end))) ?? []
    if (length === undefined) return undefined
    const part = raw.subarray(end + 2, end + 2 + Number.parseInt(length, 16))
    const text = ['AWS4-HMAC-SHA256-PAYLOAD', at, scope, last, sha256(''), sha256(part)].join('\n')
    if (hmac(key, text).toString('hex') !== signature) return undefined
    if (!part.length) return Buffer.concat(parts)
    parts.push(part)
    last = signature
    from = end + 2 + part.length + 2
  }
}
