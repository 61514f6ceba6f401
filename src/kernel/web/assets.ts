// Files for the browser: named by their content, compressed once, kept for a year by whoever fetched them.
import { brotliCompressSync, constants } from 'node:zlib'

export type Asset = { path: string; type: string; etag: string; plain: Uint8Array; brotli: Uint8Array | undefined }

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}
export const ASSET_ROOT = '/assets'

/** Comments are for who reads the source; on a slow line each costs. */
const withoutComments = (script: Uint8Array) =>
  new TextEncoder().encode(
    new Bun.Transpiler({ loader: 'js', minifyWhitespace: true }).transformSync(new TextDecoder().decode(script)),
  )

export class Assets {
  private byPath = new Map<string, Asset>()
  private byName = new Map<string, string>()

  /** `files`: name as views know it → where the file lies, on disk or inside the executable; of several, one after the other. */
  static async load(files: Readonly<Record<string, string | readonly string[]>>): Promise<Assets> {
    const assets = new Assets()
    await Promise.all(
      Object.entries(files).map(async ([name, path]) => {
        const whole = await new Blob(await Promise.all([path].flat().map((one) => Bun.file(one).bytes()))).bytes()
        const plain = name.endsWith('.js') ? withoutComments(whole) : whole
        const hash = new Bun.CryptoHasher('sha256').update(plain).digest('hex').slice(0, 12)
        const [stem, extension = ''] = [name.replace(/\.[a-z]+$/, ''), name.split('.').at(-1)]
        const served = `${ASSET_ROOT}/${stem}.${hash}.${extension}`
        assets.byName.set(name, served)
        assets.byPath.set(served, {
          path: served,
          type: types[extension] ?? 'application/octet-stream',
          etag: `"${hash}"`,
          plain,
          brotli: undefined,
        })
      }),
    )
    return assets
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
    if (!/\bbr\b/.test(request.headers.get('Accept-Encoding') ?? ''))
      return new Response(asset.plain as BodyInit, { headers })
    // On the first request, not at start: it takes tens of milliseconds that nobody should wait for before the first answer.
    asset.brotli ??= brotliCompressSync(asset.plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
    return new Response(asset.brotli as BodyInit, { headers: { ...headers, 'Content-Encoding': 'br' } })
  }
}
