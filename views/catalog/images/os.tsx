// How the name of an image is shown: as a family of systems with a tile, and its version.

/** `Debian 13` → family and version; a name without a version is a family of its own. */
export function partsOf(name: string): { family: string; version: string } {
  const words = name.split(/[\s_-]/).filter(Boolean)
  const at = words.findIndex((word, i) => i > 0 && /^v?\d/.test(word))
  if (at < 0) return { family: name, version: '' }
  return { family: words.slice(0, at).join(' '), version: words.slice(at).join(' ').replace(/^v/, '') }
}

/** By family, the newest version first. */
export function byFamily(a: { name: string }, b: { name: string }): number {
  const [one, other] = [partsOf(a.name), partsOf(b.name)]
  return (
    one.family.localeCompare(other.family, 'en') || other.version.localeCompare(one.version, 'en', { numeric: true })
  )
}

/** The letters and the colour (panel.css) of a tile, by how a name begins. Marks of systems are not ours to show. */
const tiles: readonly (readonly [start: string, letters: string, look: string])[] = [
  ['alma', 'Al', 'al'],
  ['alpine', 'Ap', 'ap'],
  ['debian', 'Db', 'de'],
  ['fedora', 'Fe', 'ap'],
  ['freebsd', 'Bs', 'de'],
  ['opensuse', 'Su', 'ro'],
  ['rocky', 'Ro', 'ro'],
  ['ubuntu', 'Ub', 'ub'],
  ['windows', 'Wi', 'ap'],
]

/** Decoration: the name stands beside it. `large`: beside the title of a page. */
export function OsTile({ name, large }: { name: string; large?: boolean }) {
  const known = tiles.find(([start]) => name.toLowerCase().startsWith(start))
  const letters = known?.[1] ?? [...name].slice(0, 2).join('')
  return (
    <span class={`os${known ? ` os-${known[2]}` : ''}${large ? ' l' : ''}`} aria-hidden="true">
      {letters}
    </span>
  )
}
