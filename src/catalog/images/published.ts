// The build of an image that its distribution publishes at this moment.
import { ApiError } from '../../kernel/api/errors.ts'
import type { CatalogueEntry } from './catalogue.ts'
import { checksumBeside, checksumIn, newestName } from './checksums.ts'
import type { Distributions } from './distributions.ts'
import { inspectRemote } from './inspect.ts'

/** The file of an image at one time. */
export type BuildFile = { url: string; checksum: string }
export type Build = BuildFile & { sizeBytes: number; leastDiskGb: number }

/** Where the current build is, and its checksum. Throws `source_unreachable`. */
export async function publishedFile(distributions: Distributions, entry: CatalogueEntry): Promise<BuildFile> {
  const url = await addressOf(distributions, entry)
  const file = url.split('/').at(-1)!
  const isBeside = typeof entry.sums === 'function'
  const sums = typeof entry.sums === 'function' ? entry.sums(url) : entry.sums
  const list = await distributions.list(sums)
  if (list === undefined) throw unreachable(`The checksum list of ${entry.name} could not be read`, sums)
  const checksum = (isBeside ? checksumBeside : checksumIn)(list, file, entry.algorithm)
  if (!checksum)
    throw unreachable(`The checksum list of ${entry.name} has no single checksum of ${file}; it was read`, sums)
  return { url, checksum }
}

async function addressOf(distributions: Distributions, { name, file }: CatalogueEntry): Promise<string> {
  if (typeof file === 'string') return file
  const page = await distributions.list(file.directory)
  const newest = page && newestName(page, file.name)
  if (!newest) throw unreachable(`The directory of ${name} could not be read, or holds no image,`, file.directory)
  return new URL(newest, file.directory).href
}

/** The build with what its header says. Throws `source_unreachable`, and `validation_failed` for no usable disk. */
export async function inspected(
  distributions: Distributions,
  entry: CatalogueEntry,
  { url, checksum }: BuildFile,
): Promise<Build> {
  const found = await inspectRemote(distributions, url, 'catalogueId')
  if (!found) throw unreachable(`${entry.name} could not be read`, url)
  return { url, checksum, sizeBytes: found.size, leastDiskGb: found.leastDiskGb }
}

const unreachable = (what: string, url: string) =>
  new ApiError(
    'source_unreachable',
    `${what} from ${new URL(url).host}. Check that the controller reaches it, or import an image from a file.`,
  )
