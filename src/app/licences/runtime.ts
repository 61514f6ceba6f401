// The runtime that every compiled program begins with, and what is linked into it. The facts are those of Bun's own
// licence page.

/** Where the source of JavaScriptCore as Bun links it is found; the LGPL asks that people can replace it. */
export const WEBKIT_SOURCE = 'https://github.com/oven-sh/WebKit'

/** Name and licence, by name within each kind. */
export const runtime: readonly (readonly [name: string, licence: string])[] = [
  ['Bun', 'MIT'],
  ['JavaScriptCore and WebCore files of WebKit', 'LGPL-2.0'],
  ['boringssl', 'Apache-2.0, ISC and others'],
  ['brotli', 'MIT'],
  ['c-ares', 'MIT'],
  ['ICU', 'Unicode-3.0'],
  ['libarchive', 'BSD-2-Clause and others'],
  ['libbase64', 'BSD-2-Clause'],
  ['libdeflate', 'MIT'],
  ['lol-html', 'BSD-3-Clause'],
  ['ls-hpack', 'MIT'],
  ['mimalloc', 'MIT'],
  ['picohttpparser', 'MIT'],
  ['simdutf', 'Apache-2.0'],
  ['SQLite', 'public domain'],
  ['Tigerbeetle (parts of its IO code)', 'Apache-2.0'],
  ['tinycc', 'LGPL-2.1'],
  ['uSockets and uWebSockets', 'Apache-2.0'],
  ['zlib-cloudflare', 'Zlib'],
  ['zstd', 'BSD-3-Clause'],
]
