// The tables as the kernel lists them, cut into chains, sets and the elements of the verdict maps, so that a change by
// another program is told from one of our own.
import type { PortRules } from '../../protocol/wire.ts'
import { elementsOf, objectsOf } from './ruleset.ts'

/** Digests of the blocks by their names, such as `chain bth1_out`. */
export type Listing = ReadonlyMap<string, string>

/** Cuts a listing of nft: a block begins at one tab and ends with a brace at one tab. */
export function listingOf(text: string): Map<string, string> {
  const blocks = new Map<string, string>()
  let name: string | undefined
  let table = ''
  let lines: string[] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('table ')) table = line
    else if (line === '\t}' && name !== undefined) {
      blocks.set(name, Bun.hash(lines.join('\n')).toString(36))
      name = undefined
    } else if (name === undefined && /^\t\S.*\{$/.test(line)) {
      name = `${line.trim().slice(0, -2)} of ${table}`
      lines = []
    } else lines.push(line)
  }
  return blocks
}

/** The elements of verdict maps in a listing, in the form of `elementsOf`. */
export const elementsIn = (text: string): Set<string> =>
  new Set([...text.matchAll(/"(\w+)" : jump (\w+)/g)].map(([, tap, chain]) => `"${tap}" : jump ${chain}`))

/** Are the elements those of these rules, no more and no fewer? */
export function hasElements(found: ReadonlySet<string>, rules: readonly PortRules[]): boolean {
  const wanted = new Set(elementsOf(rules))
  return wanted.size === found.size && [...wanted].every((element) => found.has(element))
}

/** Has every port its chains and sets, and no other port any? */
export function hasObjects(listing: Listing, rules: readonly PortRules[]): boolean {
  const wanted = new Set(
    rules.flatMap((port) => {
      const { chains, sets } = objectsOf(port)
      return [...chains.map((name) => `chain ${name}`), ...sets.map((name) => `set ${name}`)]
    }),
  )
  const found = [...listing.keys()].map((name) => name.replace(/ of .*$/, '')).filter((name) => /^\w+ bth\d/.test(name))
  return found.length === wanted.size && found.every((name) => wanted.has(name))
}

/** Is a block that of one of these taps? */
export const isOf = (name: string, taps: ReadonlySet<string>): boolean =>
  taps.has(/^\w+ (bth\d+)/.exec(name)?.[1] ?? '')

/** One text for all of a listing. */
export const digestOf = (listing: Listing): string =>
  Bun.hash(
    [...listing]
      .map(([name, digest]) => `${name} ${digest}`)
      .toSorted()
      .join('\n'),
  ).toString(36)
