// A registry of one image on the loopback of this host, for the time of its download: Podman fetches from the agent,
// and the agent from the true registry. So Podman needs no login, reaches no address that the agent would refuse, and
// gets no byte more than the manifest names.
import { Failure } from '../../../failure.ts'
import type { Manifest, Registry } from './registry.ts'

/** No other program of this host can guess the name. */
const NAME_BYTES = 16
const SILENCE_SECONDS = 120

export class Relay {
  /** The image's name for Podman. */
  readonly reference: string
  /** The failure behind what Podman reports, which sees a status only. */
  failure: unknown
  private readonly server: Bun.Server<undefined>
  private readonly over = new AbortController()
  private relayed = 0

  constructor(
    private registry: Registry,
    private manifest: Manifest,
    private onProgress: (percent: number) => void,
  ) {
    const name = Buffer.from(crypto.getRandomValues(new Uint8Array(NAME_BYTES))).toString('hex')
    this.server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: SILENCE_SECONDS,
      fetch: (request) => this.answer(request, name),
    })
    this.reference = `127.0.0.1:${this.server.port}/${name}@${manifest.digest}`
  }

  close() {
    this.over.abort()
    void this.server.stop(true)
  }

  private async answer(request: Request, name: string): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/v2/') return new Response('{}', { headers: { 'Content-Type': 'application/json' } })
    const [, kind, digest] = new RegExp(`^/v2/${name}/(manifests|blobs)/(sha256:[0-9a-f]{64})$`).exec(pathname) ?? []
    if (kind === 'manifests' && digest === this.manifest.digest)
      return new Response(this.manifest.text, {
        headers: { 'Content-Type': this.manifest.type, 'Docker-Content-Digest': digest },
      })
    const blob = kind === 'blobs' ? this.manifest.blobs.find((one) => one.digest === digest) : undefined
    if (!blob || request.method !== 'GET') return new Response('{"errors":[]}', { status: 404 })
    try {
      const { body } = await this.registry.blob(blob.digest, this.over.signal)
      return new Response(this.counted(body, blob.size), { headers: { 'Content-Length': String(blob.size) } })
    } catch (error) {
      this.failure ??= error
      return new Response('{"errors":[]}', { status: 502 })
    }
  }

  private counted(body: Response['body'], size: number): ReadableStream<Uint8Array> {
    const { blobs } = this.manifest
    const all = Math.max(
      1,
      blobs.reduce((sum, one) => sum + one.size, 0),
    )
    const relay = this
    async function* chunks() {
      let bytes = 0
      try {
        for await (const chunk of body ?? []) {
          bytes += chunk.length
          if (bytes > size) {
            relay.failure ??= new Failure('image_too_large', 'the registry sends more than the manifest names')
            return
          }
          relay.relayed += chunk.length
          relay.onProgress((relay.relayed / all) * 100)
          yield chunk
        }
      } catch (error) {
        // The engine notices that the layer is too short.
        relay.failure ??= error
      }
    }
    return new Response(chunks() as unknown as ReadableStream<Uint8Array>).body!
  }
}
