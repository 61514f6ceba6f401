// Objects in a bucket of S3, signed by AWS Signature Version 4: nothing has to be installed on this host.
import { createHash, createHmac } from 'node:crypto'
import { second } from '../db/clock.ts'
import { NoAnswer, type Policy, rawEgress } from '../net/egress.ts'
import { mustBeName, type ObjectStore, StoreError } from './store.ts'

export type S3Address = {
  /** `https://s3.example.com/bucket/folder` */
  url: string
  accessKey: string
  secretKey: string
  /** The certificate of an authority that not everybody trusts; empty otherwise. */
  authority: string
}

const CALL_MS = 60 * second
const MOST_BYTES = 64 << 20
/** Servers of S3 other than Amazon's take any region. */
const USUAL_REGION = 'us-east-1'

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')
const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest()

type Call = { method: 'GET' | 'PUT' | 'DELETE'; path: string; query?: Record<string, string>; body?: Uint8Array }

type Signed = {
  method: string
  path: string
  search: string
  host: string
  /** `20261122T140500Z` */
  at: string
  /** Of the body. */
  digest: string
  region: string
}

/** The Authorization header of a request whose only signed headers are these. */
export function signed({ method, path, search, host, at, digest, region }: Signed, accessKey: string, secret: string) {
  const scope = `${at.slice(0, 8)}/${region}/s3/aws4_request`
  const names = 'host;x-amz-content-sha256;x-amz-date'
  const headers = [`host:${host}`, `x-amz-content-sha256:${digest}`, `x-amz-date:${at}`, '']
  const canonical = [method, path, search, ...headers, names, digest].join('\n')
  const key = scope.split('/').reduce<Buffer | string>(hmac, `AWS4${secret}`)
  const signature = hmac(key, ['AWS4-HMAC-SHA256', at, scope, sha256(canonical)].join('\n')).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope},SignedHeaders=${names},Signature=${signature}`
}

export function s3Store(address: S3Address, policy: Policy, now: () => number): ObjectStore {
  const base = new URL(address.url)
  const [, bucket = '', ...folders] = base.pathname.replace(/\/$/, '').split('/')
  const prefix = folders.map((part) => `${part}/`).join('')
  const region = /^s3[.-]([a-z0-9-]+)\.amazonaws\.com$/.exec(base.hostname)?.[1] ?? USUAL_REGION
  const title = `${base.host}/${bucket}${prefix && `/${prefix.slice(0, -1)}`}`

  async function send({ method, path, query = {}, body = new Uint8Array() }: Call) {
    const url = new URL(base.origin + path)
    const search = Object.entries(query)
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .toSorted()
      .join('&')
    url.search = search
    const at = new Date(now()).toISOString().replace(/[-:]|\.\d{3}/g, '')
    const digest = sha256(body)
    const { accessKey, secretKey } = address
    const authorization = signed({ method, path, search, host: url.host, at, digest, region }, accessKey, secretKey)
    try {
      return await rawEgress(url, policy, {
        method,
        headers: {
          'x-amz-date': at,
          'x-amz-content-sha256': digest,
          Authorization: authorization,
        },
        ...(method === 'PUT' && { body: Buffer.from(body) }),
        ...(address.authority && { ca: address.authority }),
        mostBytes: MOST_BYTES,
        timeoutMs: CALL_MS,
      })
    } catch (error) {
      throw error instanceof NoAnswer ? new StoreError(error.message, { cause: error }) : error
    }
  }
  const pathOf = (name: string) => `/${bucket}/${prefix}${mustBeName(name)}`
  function mustBe(statuses: readonly number[], { status, body }: { status: number; body: Buffer }) {
    if (statuses.includes(status)) return
    const code = /<Code>([A-Za-z0-9]{1,60})<\/Code>/.exec(body.toString('utf8'))?.[1] ?? ''
    throw new StoreError(`${title} answers ${status}${code && ` ${code}`}. ${remedies[status] ?? ''}`.trim())
  }

  async function list(folder: string): Promise<string[]> {
    const names: string[] = []
    let token: string | undefined
    do {
      const answer = await send({
        method: 'GET',
        path: `/${bucket}`,
        query: {
          'list-type': '2',
          prefix: `${prefix}${mustBeName(folder)}/`,
          ...(token !== undefined && { 'continuation-token': token }),
        },
      })
      mustBe([200], answer)
      const xml = answer.body.toString('utf8')
      for (const [, key] of xml.matchAll(/<Key>([^<]*)<\/Key>/g)) names.push(decoded(key!).slice(prefix.length))
      token = /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(xml)?.[1]
      if (token !== undefined) token = decoded(token)
    } while (token !== undefined)
    return names.toSorted()
  }

  return {
    title,
    async put(name, bytes) {
      mustBe([200], await send({ method: 'PUT', path: pathOf(name), body: bytes }))
    },
    async get(name) {
      const answer = await send({ method: 'GET', path: pathOf(name) })
      if (answer.status === 404 && !/NoSuchBucket/.test(answer.body.toString('utf8'))) return undefined
      mustBe([200], answer)
      return answer.body
    },
    list,
    async remove(name) {
      mustBe([200, 204, 404], await send({ method: 'DELETE', path: pathOf(name) }))
    },
    close() {},
  }
}

const remedies: Readonly<Record<number, string>> = {
  403: 'Look at the access key, the secret key, and the rights of both in the bucket.',
  404: 'Look at the name of the bucket.',
}

const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const decoded = (text: string) => text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => entities[name]!)
