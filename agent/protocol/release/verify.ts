// The content of a release, checked against its signed manifest.
import { createHash } from 'node:crypto'
import { type OpenRelease, openRelease } from './archive.ts'
import { filesOf, type Manifest, ReleaseRefused } from './manifest.ts'
import type { ReleaseKey } from './signature.ts'

/** The manifest of a release in which every file is the one that it names. Throws `ReleaseRefused`. */
export async function verifiedRelease(path: string, keys: readonly ReleaseKey[]): Promise<Manifest> {
  const release = openRelease(path, keys)
  try {
    for (const one of filesOf(release.manifest)) await takeOut(release, one)
    return release.manifest
  } finally {
    release.close()
  }
}

/**
 * Hands over the content of a file of the release, unpacked. It is the one of the manifest only when the call returns:
 * until then nobody may use what was handed over. Throws `release_checksum_differs`.
 */
export async function takeOut(
  release: OpenRelease,
  { file, sizeBytes, sha256: expected }: Manifest['billOfMaterials'],
  take: (chunk: Uint8Array) => void = () => {},
) {
  const differs = (words: string) => new ReleaseRefused('release_checksum_differs', `${file} in it ${words}.`)
  const raw = release.read(file)
  const content = file.endsWith('.gz') ? raw.pipeThrough(new DecompressionStream('gzip') as never) : raw
  const hash = createHash('sha256')
  let read = 0
  const chunks = (content as ReadableStream<Uint8Array>)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value: chunk } = await chunks.next().catch(() => {
        throw differs('cannot be unpacked')
      })
      if (done) break
      read += chunk.length
      // More would fill a disk before the checksum is known.
      if (read > sizeBytes) throw differs('is larger than its manifest says')
      hash.update(chunk)
      take(chunk)
    }
  } finally {
    await chunks.return?.().catch(() => {})
  }
  if (read !== sizeBytes || hash.digest('hex') !== expected) throw differs('is not the one that its manifest names')
}
