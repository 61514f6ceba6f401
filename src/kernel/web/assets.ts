// Files for the browser: named by their content, compressed once, kept for a year by whoever fetched them.
import { brotliCompressSync, constants } from 'node:zlib'

export type Asset = { path: string; type: string; etag: string; plain: Uint8Array; brotli: Uint8Array | undefined }
/** A file on disk or inside the executable, by its path; or the text itself, e.g. of modules that were bundled. */
export type AssetSource = string | { text: string }

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
}
/** Compressed already. */
const packed = new Set(['woff2', 'png'])
export const ASSET_ROOT = '/assets'

export class Assets {
  private byPath = new Map<string, Asset>()
  private byName = new Map<string, string>()

  /**
   * `files`: the name in views → the file. A style sheet may name another file of the list as `url(NAME)`, which
   * becomes that file's address.
   */
  static async load(files: Readonly<Record<string, AssetSource>>): Promise<Assets> {
    const assets = new Assets()
    const read = ([name, source]: [string, AssetSource]) =>
      (typeof source === 'string'
        ? Bun.file(source).bytes()
        : Promise.resolve(new TextEncoder().encode(source.text))
      ).then((bytes) => [name, bytes] as const)
    const all = await Promise.all(Object.entries(files).map(read))
    for (const [name, bytes] of all) if (!name.endsWith('.css')) assets.add(name, bytes)
    for (const [name, bytes] of all) if (name.endsWith('.css')) assets.add(name, assets.withAddresses(bytes))
    return assets
  }

  private add(name: string, plain: Uint8Array) {
    const hash = new Bun.CryptoHasher('sha256').update(plain).digest('hex').slice(0, 12)
    const [stem, extension = ''] = [name.replace(/\.[a-z0-9]+$/, ''), name.split('.').at(-1)]
    const path = `${ASSET_ROOT}/${stem}.${hash}.${extension}`
    const type = types[extension] ?? 'application/octet-stream'
    this.byName.set(name, path)
    this.byPath.set(path, { path, type, etag: `"${hash}"`, plain, brotli: undefined })
  }

  private withAddresses(css: Uint8Array): Uint8Array {
    let text = new TextDecoder().decode(css)
    for (const [name, path] of this.byName) text = text.replaceAll(`url(${name})`, `url(${path})`)
    return new TextEncoder().encode(text)
  }

  /** The address of a file, for a view. Throws for a name that is not in the list: a typo must not reach a browser. */
  url(name: string): string {
    const path = this.byName.get(name)
    if (!path) throw new Error(`no asset ${name}`)
    return path
  }

  answer(request: Request): Response {
    const asset = this.byPath.get(new URL(request.url).pathname)
    if (!asset) return new Response('Not found\n', { status: 404, headers: { 'Content-Type': 'text/plain' } })
    const headers = {
      'Content-Type': asset.type,
      ETag: asset.etag,
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
    }
    if (request.headers.get('If-None-Match') === asset.etag) return new Response(null, { status: 304, headers })
    const asIs =
      packed.has(asset.path.split('.').at(-1)!) || !/\bbr\b/.test(request.headers.get('Accept-Encoding') ?? '')
    if (asIs) return new Response(asset.plain as BodyInit, { headers })
    // On the first request, not at start: compression takes tens of milliseconds that would delay the first page.
    asset.brotli ??= brotliCompressSync(asset.plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
    return new Response(asset.brotli as BodyInit, { headers: { ...headers, 'Content-Encoding': 'br' } })
  }
}
