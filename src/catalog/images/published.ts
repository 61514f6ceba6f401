// The build of an image that its distribution publishes at this moment.
import type { GoodSignature } from '../../kernel/crypto/openpgp.ts'
import type { CatalogueEntry } from './distributions/catalogue.ts'
import { checksumBeside, checksumIn, checksumNamed, newestName } from './distributions/checksums.ts'
import type { Distributions } from './distributions/servers.ts'
import { trustedList, unreachable } from './distributions/trusted-list.ts'
import { inspectRemote } from './inspect.ts'

/** The file of an image at one time. `signature`: of the list with its checksum; null: it is not signed. */
export type BuildFile = { url: string; checksum: string; signature: GoodSignature | null }
export type Build = BuildFile & { sizeBytes: number; leastDiskGb: number }

/**
 * Where the current build is, and its checksum. `knownSignedAt`: when the newest known list of this entry was signed.
 * Throws `source_unreachable` and `signature_refused`.
 */
export async function publishedFile(
  distributions: Distributions,
  entry: CatalogueEntry,
  knownSignedAt: number | null,
): Promise<BuildFile> {
  const url = await addressOf(distributions, entry)
  const file = url.split('/').at(-1)!
  const sums = typeof entry.sums === 'function' ? entry.sums(url) : entry.sums
  const { text, signature } = await trustedList(distributions, entry, sums, knownSignedAt)
  const checksum = checksumOf(entry, text, file)
  if (!checksum)
    throw unreachable(`The checksum list of ${entry.name} has no single checksum of ${file}; it was read`, sums)
  return { url, checksum, signature }
}

function checksumOf({ sums, signature, listedAs, algorithm }: CatalogueEntry, list: string, file: string) {
  if (listedAs) return checksumNamed(list, listedAs, algorithm)
  const isSigned = !('unsigned' in signature)
  return (typeof sums === 'function' && !isSigned ? checksumBeside : checksumIn)(list, file, algorithm)
}

async function addressOf(distributions: Distributions, { name, file }: CatalogueEntry): Promise<string> {
  if (typeof file === 'string') return file
  const page = await distributions.read(file.directory)
  const newest = 'bytes' in page && newestName(page.bytes.toString('utf8'), file.name)
  if (!newest) throw unreachable(`The directory of ${name} could not be read, or holds no image,`, file.directory)
  return new URL(newest, file.directory).href
}

/** The build with what its header says. Throws `source_unreachable`, and `validation_failed` for no usable disk. */
export async function inspected(distributions: Distributions, entry: CatalogueEntry, file: BuildFile): Promise<Build> {
  const found = await inspectRemote(distributions, file.url, 'catalogueId')
  if (!found) throw unreachable(`${entry.name} could not be read`, file.url)
  return { ...file, sizeBytes: found.size, leastDiskGb: found.leastDiskGb }
}
