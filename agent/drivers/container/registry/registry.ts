// A registry of images, as far as the agent reads one: manifests and blobs by digest (OCI distribution specification).
// The author of an image's name is a stranger to this host, so every address that a registry leads to must be public.
import { createHash } from 'node:crypto'
import { Failure } from '../../../failure.ts'
import { getPublic, type Platform } from '../../images/public-only.ts'
import type { Login } from '../container.ts'

const MOST_REDIRECTS = 5
const MOST_MANIFEST_BYTES = 4 << 20
const MOST_TOKEN_BYTES = 64 << 10
const DOCKER_HUB = 'docker.io'
const DOCKER_HUB_REGISTRY = 'registry-1.docker.io'
const LIMIT_MS = 30_000

const INDEXES = ['application/vnd.oci.image.index.v1+json', 'application/vnd.docker.distribution.manifest.list.v2+json']
const MANIFESTS = ['application/vnd.oci.image.manifest.v1+json', 'application/vnd.docker.distribution.manifest.v2+json']
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

export type Blob = { digest: string; size: number }
/** An image of one platform: its manifest as the registry sent it, and what belongs to it. */
export type Manifest = { digest: string; type: string; text: string; blobs: Blob[]; layersBytes: number }
type Parsed = {
  mediaType?: string
  config?: Blob
  layers?: Blob[]
  manifests?: (Blob & { platform?: { os?: string; architecture?: string } })[]
}

/** The parts of `registry/name@digest`. */
export function partsOf(reference: string): { registry: string; name: string; digest: string } {
  const slash = reference.indexOf('/')
  const at = reference.lastIndexOf('@')
  return { registry: reference.slice(0, slash), name: reference.slice(slash + 1, at), digest: reference.slice(at + 1) }
}

export class Registry {
  private readonly base: string
  private authorization: string | undefined

  /** `local`: registries, as `host:port`, that need not be public and speak plain HTTP. */
  constructor(
    private registry: string,
    private name: string,
    private login: Login | undefined,
    private local: readonly string[],
    private platform: Platform = {},
  ) {
    const host = registry === DOCKER_HUB ? DOCKER_HUB_REGISTRY : registry
    this.base = `${local.includes(registry) ? 'http' : 'https'}://${host}/v2/${name}`
  }

  /** The image for this host's processor. Throws `no_image`, and as `get`. */
  async manifest(digest: string): Promise<Manifest> {
    const { text, parsed, type } = await this.document(digest)
    if (!parsed.manifests) return manifestOf(digest, text, type, parsed)
    const architecture = architectures[process.arch] ?? process.arch
    const mine = parsed.manifests.find(
      ({ platform }) => platform?.os === 'linux' && platform.architecture === architecture,
    )
    if (!mine) throw new Failure('no_image', `the image is not made for linux/${architecture}`)
    const chosen = await this.document(mine.digest)
    return manifestOf(mine.digest, chosen.text, chosen.type, chosen.parsed)
  }

  /** The bytes of a layer or a configuration, not yet checked. Throws as `get`. */
  blob = (digest: string, signal: AbortSignal) => this.get(`/blobs/${digest}`, '*/*', signal)

  private async document(digest: string) {
    const signal = AbortSignal.timeout(LIMIT_MS)
    const response = await this.get(`/manifests/${digest}`, [...INDEXES, ...MANIFESTS].join(', '), signal)
    const text = await textOf(response, MOST_MANIFEST_BYTES)
    const found = `sha256:${createHash('sha256').update(text).digest('hex')}`
    if (found !== digest)
      throw new Failure('checksum_mismatch', `the registry answered ${found} when it was asked for ${digest}`)
    const parsed = JSON.parse(text) as Parsed
    return { text, parsed, type: parsed.mediaType ?? response.headers.get('content-type')?.split(';')[0] ?? '' }
  }

  /**
   * Throws `registry_refused`, `no_image`, `registry_unreachable`, and `download_refused` for an address that is not
   * public.
   */
  private async get(path: string, accept: string, signal: AbortSignal): Promise<Response> {
    const url = new URL(this.base + path)
    let response = await this.follow(url, accept, signal)
    const challenge = response.headers.get('www-authenticate')
    if (response.status === 401 && challenge) {
      await response.body?.cancel()
      this.authorization = await this.authorize(challenge, signal)
      response = await this.follow(url, accept, signal)
    }
    if (response.status === 200) return response
    await response.body?.cancel()
    const { status } = response
    const words = `${this.registry} answered ${status} to ${this.name}`
    if (status === 401 || status === 403) throw new Failure('registry_refused', words)
    if (status === 404) throw new Failure('no_image', words)
    throw new Failure('registry_unreachable', words)
  }

  /** The registry's login goes to no other host, to which it may lead for the bytes. */
  private async follow(first: URL, accept: string, signal: AbortSignal): Promise<Response> {
    let url = first
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const isOwn = url.origin === first.origin
      const response = await this.fetch(url, signal, {
        Accept: accept,
        ...(isOwn && this.authorization !== undefined && { Authorization: this.authorization }),
      })
      const location = response.headers.get('location')
      if (response.status < 300 || response.status >= 400 || !location) return response
      await response.body?.cancel()
      url = new URL(location, url)
    }
    throw new Failure('registry_unreachable', `${this.registry} redirects more than ${MOST_REDIRECTS} times`)
  }

  /** The value of the header that the registry wants. */
  private async authorize(challenge: string, signal: AbortSignal): Promise<string> {
    const basic =
      this.login && `Basic ${Buffer.from(`${this.login.username}:${this.login.password}`).toString('base64')}`
    const [, scheme = '', rest = ''] = /^(\w+)\s*(.*)$/s.exec(challenge) ?? []
    if (scheme.toLowerCase() === 'basic') {
      if (!basic) throw new Failure('registry_refused', `${this.registry} wants a login`)
      return basic
    }
    const words = Object.fromEntries([...rest.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]))
    const realm = URL.parse(words['realm'] ?? '')
    if (scheme.toLowerCase() !== 'bearer' || !realm)
      throw new Failure('registry_refused', `${this.registry} wants a login of the kind ${scheme}`)
    if (words['service']) realm.searchParams.set('service', words['service'])
    realm.searchParams.set('scope', words['scope'] ?? `repository:${this.name}:pull`)
    const response = await this.fetch(realm, signal, {
      Accept: 'application/json',
      ...(basic && { Authorization: basic }),
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new Failure('registry_refused', `${realm.host} answered ${response.status} to the login`)
    }
    const answer = JSON.parse(await textOf(response, MOST_TOKEN_BYTES)) as { token?: string; access_token?: string }
    return `Bearer ${answer.token ?? answer.access_token ?? ''}`
  }

  private async fetch(url: URL, signal: AbortSignal, headers: Record<string, string>): Promise<Response> {
    try {
      if (this.local.includes(url.host))
        return await fetch(url, { headers, redirect: 'manual', decompress: false, signal } as RequestInit)
      if (url.protocol !== 'https:') throw new Failure('download_refused', `${url.host} is not reached by https`)
      return await getPublic(url, signal, this.platform, headers)
    } catch (cause) {
      if (cause instanceof Failure && cause.code !== 'download_failed') throw cause
      throw new Failure('registry_unreachable', `${url.host} cannot be reached`, { cause })
    }
  }
}

function manifestOf(digest: string, text: string, type: string, { config, layers }: Parsed): Manifest {
  const isBlob = (blob?: Blob) => /^sha256:[0-9a-f]{64}$/.test(blob?.digest ?? '') && Number.isSafeInteger(blob?.size)
  if (!config || !layers || ![config, ...layers].every(isBlob) || !MANIFESTS.includes(type))
    throw new Failure('no_image', 'the registry has something else there than an image')
  const layersBytes = layers.reduce((sum, { size }) => sum + size, 0)
  return { digest, type, text, blobs: [config, ...layers], layersBytes }
}

/** Throws `registry_refused` for too long an answer, and `registry_unreachable` where it breaks off. */
async function textOf(response: Response, mostBytes: number): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const part of response.body ?? []) {
      bytes += part.length
      if (bytes > mostBytes) throw new Failure('registry_refused', 'the registry answers too much')
      parts.push(part)
    }
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    throw new Failure('registry_unreachable', 'the registry broke off its answer', { cause })
  }
  return Buffer.concat(parts).toString('utf8')
}
