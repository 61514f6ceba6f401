// Checksums as distributions publish them: a list of all files of a directory, or a file beside each image.

export type Algorithm = 'sha256' | 'sha512'

/** Longer lists are read so far. */
const MOST_CHARACTERS = 1_000_000

/**
 * Finds a file's checksum in a list as `sha256sum` prints it, or in the BSD form `SHA256 (file) = …`. Undefined when it
 * is not there, or there with different values: nobody can tell then which one is right.
 */
export function checksumIn(list: string, file: string, algorithm: Algorithm): string | undefined {
  const found = new Set<string>()
  for (const { name, digest } of linesOf(list, algorithm)) if (name === file) found.add(digest)
  return found.size === 1 ? `${algorithm}:${[...found][0]}` : undefined
}

/**
 * The checksum of the one file that a signed list names like this: a signature says who wrote the list, not for which
 * image somebody hands it out.
 */
export function checksumNamed(list: string, name: RegExp, algorithm: Algorithm): string | undefined {
  const found = new Set<string>()
  for (const line of linesOf(list, algorithm)) if (name.test(line.name ?? '')) found.add(line.digest)
  return found.size === 1 ? `${algorithm}:${[...found][0]}` : undefined
}

/**
 * The checksum in the file beside an image: the digest alone or one line, whose name may be that of the build for which
 * the address of the image stands. With more lines it is a list like any other.
 */
export function checksumBeside(text: string, file: string, algorithm: Algorithm): string | undefined {
  const lines = [...linesOf(text, algorithm)]
  if (lines.length === 1) return `${algorithm}:${lines[0]!.digest}`
  return checksumIn(text, file, algorithm)
}

type Line = { name: string | undefined; digest: string }

function* linesOf(list: string, algorithm: Algorithm): Generator<Line> {
  const digits = algorithm === 'sha256' ? 64 : 128
  const isDigest = (text: string) => text.length === digits && /^[0-9a-f]+$/i.test(text)
  const label = `${algorithm.toUpperCase()} (`
  for (const raw of list.slice(0, MOST_CHARACTERS).split('\n')) {
    const text = raw.trim()
    if (text.startsWith(label)) {
      const [name, digest = ''] = text.slice(label.length).split(') = ', 2)
      if (isDigest(digest)) yield { name, digest: digest.toLowerCase() }
      continue
    }
    const digest = text.slice(0, digits)
    if (!isDigest(digest)) continue
    const rest = text.slice(digits)
    if (rest === '') yield { name: undefined, digest: digest.toLowerCase() }
    else if (/^\s/.test(rest)) yield { name: rest.trimStart().replace(/^\*/, ''), digest: digest.toLowerCase() }
  }
}

/** The newest of the names in the page of a directory that fit: the one with the highest numbers, from the left. */
export function newestName(page: string, name: RegExp): string | undefined {
  const names = page.slice(0, MOST_CHARACTERS).match(new RegExp(name, 'g')) ?? []
  return names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
}
